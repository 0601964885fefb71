"""From samples and a map to the codes that are trained on and scored, whole or block by block."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse, vstack
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from kmaps._loops import codes as loops
from kmaps._loops.forms import CodeRows
from kmaps.checks import MAX_LEVELS, present
from kmaps.codes.codebook import SPARSE, Codebook
from kmaps.codes.levels import (
    Columns,
    RunningColumns,
    check_levels,
    choose_codebook,
    choose_training_codebook,
    unweighted_features,
)
from kmaps.errors import ConfigError, InputError
from kmaps.kernels import ScalarKernel
from kmaps.maps.capabilities import FeatureMap, Tabulated
from kmaps.matrices import AnyMatrix
from kmaps.svm.coded.forms import Layout, choose
from kmaps.svm.coded.tables import smoothed, tabulate, without_features
from kmaps.thread_pool import for_blocks
from kmaps.validation import check_codes, refuse_mask

_BLOCK_VALUES = 1 << 20
_FEW_NAMES = 3  # of columns in a message
_TOGETHER = 1 << 22  # dense codes at a time, before they are listed


@dataclass(frozen=True)
class Coder:
    """From samples to the rows of the tables."""

    book: Codebook | None  # gives each value its code; None: samples are codes already
    n_levels: int
    # (1 or d, L): the row of the table that each code stands for, when some share one; None: row c.
    # Code 0 has row 0
    cells: NDArray[np.uint8] | None

    def encode(self, X: Any, owner: str = "CodedSVC") -> NDArray[np.uint8] | csr_array:
        """Return the table row of every value (n, d); values that a CSR leaves out have row 0.

        A warning of values beyond the levels names the class ``owner``.
        """
        refuse_mask(X)
        if self.book is not None:
            codes = self.book.to_codes(X, owner)
        else:
            check_codes(X, None, self.n_levels)
            codes = X if self.cells is None else X.copy()
        if self.cells is None:
            return codes
        if issparse(codes):
            loops.recode_stored(codes.data, codes.indices, self.cells)
        else:
            _in_blocks(loops.recode, codes, self.cells)
        return codes


def coded(coder: Coder, X: Any, zero: NDArray[np.intp]) -> CodeRows:
    """Return samples as the rows to train on; codes that are listed are never all there dense."""
    n, d = X.shape
    size = max(1, _TOGETHER // max(1, d))
    if issparse(X) or not len(zero) or n <= size:
        return rows_of(coder.encode(X), zero)
    spread = coder.encode(X[:: 8 * (n // size)])
    if rows_of(spread, zero).features is None:
        return rows_of(coder.encode(X), zero, sparse=0)
    blocks = (coder.encode(X[start : start + size]) for start in range(0, n, size))
    return joined(rows_of(codes, zero, np.inf) for codes in blocks)


def rows_of(codes: AnyMatrix, zero: NDArray[np.intp], sparse: float = SPARSE) -> CodeRows:
    """Return codes, dense or CSR, in the form for the compiled loops: listed, if most are ``zero``.

    ``zero`` (1,) is a code that maps to zero for every feature; (0,): there is none. Other codes
    are listed if they are less than the part ``sparse`` of all.
    """
    if issparse(codes):
        if list(zero) != [0] or sparse == 0:
            return rows_of(codes.toarray(), zero, sparse)
        features = codes.indices.astype(_feature_type(codes.shape[1]))
        return CodeRows(codes.data, codes.indptr.astype(np.int64), features)
    n, d = codes.shape
    if len(zero) and sparse:
        counts = np.empty(n, np.int64)
        _in_blocks(lambda rows, out: loops.count_others(rows, zero[0], out), codes, by_row=counts)
        if counts.sum() < sparse * codes.size:
            return _listed(codes, zero[0], counts)
    return CodeRows(np.ascontiguousarray(codes).reshape(-1), np.arange(n + 1) * d, None)


def _listed(codes: NDArray[np.uint8], zero: np.intp, counts: NDArray[np.int64]) -> CodeRows:
    bounds = np.concatenate([[0], np.cumsum(counts)])
    listed = np.empty(bounds[-1], np.uint8)
    features = np.empty(bounds[-1], _feature_type(codes.shape[1]))

    def block(start: int, stop: int) -> None:
        loops.list_others(codes[start:stop], zero, bounds[start : stop + 1], listed, features)

    for_blocks(block, len(codes), max(1, _BLOCK_VALUES // max(1, codes.shape[1])))
    return CodeRows(listed, bounds, features)


def joined(blocks: Iterable[CodeRows]) -> CodeRows:
    """Return listed rows one after another; each block may go before the next one comes."""
    codes, bounds = np.empty(0, np.uint8), [np.zeros(1, np.int64)]
    features: NDArray | None = None
    for block in blocks:
        block_features = present(block.features, "the list of features")
        if features is None:
            features = np.empty(0, block_features.dtype)
        filled = len(codes)
        for array, addition in ((codes, block.codes), (features, block_features)):
            # Large arrays grow by moving pages, without a second copy.
            array.resize(filled + len(addition), refcheck=False)
            array[filled:] = addition
        bounds.append(filled + block.bounds[1:])
    return CodeRows(codes, np.concatenate(bounds), features)


def _feature_type(n_features: int) -> type:
    return np.uint16 if n_features <= 1 << 16 else np.uint32


def _in_blocks(
    function: Callable[..., None], codes: NDArray, *rest: NDArray, by_row: NDArray | None = None
) -> None:
    def block(start: int, stop: int) -> None:
        results = () if by_row is None else (by_row[start:stop],)
        function(codes[start:stop], *rest, *results)

    for_blocks(block, len(codes), max(1, _BLOCK_VALUES // max(1, codes.shape[1])))


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Samples as codes, with the fitted map and the levels: :class:`CodedSVC` trains on them.

    Parameters
    ----------
    map : map, callable or str
        The fitted map, a scalar kernel, or the name of a kernel.
    levels : ndarray of float64, shape (1 or d, L)
        The levels, shared by all features or of each.
    coder : Coder
        What made the codes from samples.
    zero : ndarray of intp, shape (1,) or (0,)
        The code that maps to zero for all features; empty where there is none.
    layout : Layout
        How the solver uses the codes: the form and its tables.
    rows : CodeRows
        The codes, uint8.
    n_features : int
        Number of features d.
    members : ndarray of intp, shape (m,), or None, default=None
        The rows that count, in order; None: all.
    """

    map: Tabulated | ScalarKernel | str  # fitted; or the name of a kernel
    levels: NDArray[np.float64]  # (1 or d, L)
    coder: Coder  # made the codes
    zero: NDArray[np.intp]  # (1,): the code that maps to zero for all features; (0,): there is none
    layout: Layout  # how the solver uses the codes
    rows: CodeRows  # the codes
    n_features: int
    members: NDArray[np.intp] | None = None  # the rows that count, in order; None: all

    def __len__(self) -> int:
        return len(self.rows.bounds) - 1 if self.members is None else len(self.members)

    @property
    def codes_bytes(self) -> int:
        """Size of the training set."""
        return sum(array.nbytes for array in self.rows if array is not None)

    def take(self, members: NDArray[np.intp]) -> "CodedRows":
        """Return some of the samples; the codes are not copied.

        Parameters
        ----------
        members : ndarray of intp, shape (m,)
            Numbers of the samples, from 0 on, among those that these rows have.

        Returns
        -------
        CodedRows
            The m samples, in the order of ``members``.
        """
        rows = np.arange(len(self)) if self.members is None else self.members
        return replace(self, members=rows[members])

    def encode(self, X: AnyMatrix) -> "CodedRows":
        """Return other samples in the same codes; values beyond the levels take the last one.

        Parameters
        ----------
        X : ndarray or CSR, shape (m, d)
            Values of the features; where the levels were passed in, codes of them (uint8).

        Returns
        -------
        CodedRows
            The m samples, with the same map, levels and layout.
        """
        return replace(self, rows=coded(self.coder, X, self.zero), members=None)


def code_samples(
    map: Tabulated | ScalarKernel | str,
    X: Any,
    *,
    n_levels: int = MAX_LEVELS,
    levels: ArrayLike | None = None,
    level_ranges: str = "auto",
    form: str = "auto",
    smooth: float = 0.0,
) -> CodedRows:
    """Turn an array of samples into codes; :class:`CodedSVC` describes the parameters.

    Parameters
    ----------
    map : map, callable or str
        A map, a scalar kernel ``k(x, y)`` or the name of a kernel. A copy of a map is fitted to X,
        unless there are ``levels``, which need a fitted map.
    X : ndarray or CSR of float32, float64 or uint8, shape (n, d)
        The samples; with ``levels``, codes of them (uint8).
    n_levels : int, default=256
        Most levels of a feature, from 2 to 256.
    levels : array-like, shape (L,), (1, L) or (d, L), optional
        The levels of the codes in X. By default they are chosen from X.
    level_ranges : {"auto", "shared", "own"}, default="auto"
        Whether features share their levels or have levels of their own, as in :class:`CodedSVC`.
    form : {"auto", "low-rank", "full", "local", "two-level"}, default="auto"
        The form in which the solver has its variables.
    smooth : float, default=0.0
        Price of the curvature of the functions, ≥ 0.

    Returns
    -------
    CodedRows
        The n samples as codes, one byte per value, or three per value that is not zero where
        these are few.
    """
    if levels is None:
        columns = Columns(X)
        stand_ins = _stand_ins(columns)
        map = fitted(map, X if stand_ins is None or not learns(map) else X[:, stand_ins])
        book = _book_of(columns, stand_ins, n_levels, map, level_ranges)
        levels = book.levels
    else:
        _check_ready(map)
        book, levels = None, check_levels(levels, X.shape[1])
    coding = _without_rows(map, book, levels, form, smooth, X.shape[1])
    with codes_in_memory(*X.shape):
        return replace(coding, rows=coded(coding.coder, X, coding.zero))


def _without_rows(
    map: Tabulated | ScalarKernel | str,
    book: Codebook | None,
    levels: NDArray[np.float64],
    form: str,
    smooth: float,
    n_features: int,
) -> CodedRows:
    tables = tabulate(map, levels)
    if book is not None and len(book.unweighted):
        tables = without_features(tables, book.unweighted, n_features)
    tables = smoothed(tables, levels, smooth)
    layout = choose(tables, form)
    coder = Coder(book, levels.shape[1], tables.cells)
    rows = CodeRows(np.empty(0, np.uint8), np.zeros(1, np.int64), None)
    return CodedRows(map, levels, coder, tables.zero, layout, rows, n_features)


def _stand_ins(columns: Columns | RunningColumns) -> NDArray[np.intp] | None:
    """Return for each feature the one whose values maps and levels are learnt from.

    It is the feature itself, but for one that gets no weight another, since its value may be of
    any size and would spoil what all features share. None: every feature stands for itself.
    """
    unweighted = unweighted_features(columns)
    if not len(unweighted):
        return None
    stand_ins = np.arange(columns.n_columns)
    stand_ins[unweighted] = int((columns.high > columns.low).argmax())
    return stand_ins


def _book_of(
    columns: Columns | RunningColumns,
    stand_ins: NDArray[np.intp] | None,
    n_levels: int,
    map: Tabulated | ScalarKernel | str,
    level_ranges: str,
) -> Codebook:
    """Return the codebook of columns, some of which stand in for others."""
    if stand_ins is None:
        return _codebook(map, columns, n_levels, level_ranges)
    unweighted = unweighted_features(columns)
    book = _codebook(map, columns.take(stand_ins), n_levels, level_ranges, unweighted)
    levels, low, high = book.levels, book.low, book.high
    if not book.shared:
        for array in (levels, low, high):
            array[unweighted] = columns.low[unweighted].reshape(-1, *(1,) * (array.ndim - 1))
    return Codebook(levels, low, high, unweighted=unweighted)


def warn_of_unweighted(rows: CodedRows, names: Sequence[str] | None, stacklevel: int) -> None:
    """Say in one line which columns get no weight, if any do; ``stacklevel`` counts from here."""
    book = rows.coder.book
    if book is None or not len(book.unweighted):
        return
    features = book.unweighted.tolist()
    shown = [f"column {j}" if names is None else repr(names[j]) for j in features[:_FEW_NAMES]]
    more = ", …" if len(features) > _FEW_NAMES else ""
    count = "1 column has" if len(features) == 1 else f"{len(features):,} columns have"
    gets = "gets" if len(features) == 1 else "get"
    warnings.warn(
        f"{count} a single value, which is not zero, in all rows and {gets} no weight "
        f"({', '.join(shown)}{more})",
        stacklevel=stacklevel,
    )


def codes_in_memory(n: int, d: int) -> AbstractContextManager[None]:
    """Say how much memory n × d codes need when there is not enough."""
    what = f"the codes of {n} × {d} values, one byte each,"
    return _in_memory(what, n * d, "train on fewer rows or columns")


def weights_in_memory(n_weights: int, n_models: int) -> AbstractContextManager[None]:
    """Say how much memory models that are trained at once need when there is not enough."""
    what = f"{n_weights} weights for each of {n_models} models at a time, 4 bytes each,"
    return _in_memory(what, 4 * n_weights * n_models, "use fewer threads, levels or columns")


@contextmanager
def _in_memory(what: str, n_bytes: int, remedy: str) -> Iterator[None]:
    try:
        yield
    except MemoryError:
        needed = f"{n_bytes / 2**30:.1f} GiB, more than is free"
        raise MemoryError(f"{what} need {needed}: {remedy}") from None


def _codebook(
    map: Tabulated | ScalarKernel | str,
    columns: Columns | RunningColumns,
    n_levels: int,
    level_ranges: str,
    unweighted: Sequence[int] | NDArray[np.intp] = (),
) -> Codebook:
    """Return the levels to train on: features with one curve may share them.

    Notes name none of the features that get no weight.
    """
    is_kernel = not isinstance(map, Tabulated)
    if is_kernel or (isinstance(map, FeatureMap) and map.shared_curve_):
        return choose_training_codebook(columns, n_levels, level_ranges, unweighted)
    return choose_codebook(columns, n_levels, "uniform")


def fitted(map: Tabulated | ScalarKernel | str, X: Any) -> Tabulated | ScalarKernel | str:
    """Return a copy of a map, fitted to samples; or a kernel as it is."""
    if not isinstance(map, Tabulated):
        return map
    # Some maps need only the width of X.
    return clone(map).fit(X if learns(map) else X[:1])


def learns(map: Tabulated | ScalarKernel | str) -> bool:
    """Return whether fitting needs samples and not only their width."""
    return isinstance(map, Tabulated) and (not isinstance(map, FeatureMap) or map.learns_from_data)


def _check_ready(map: Tabulated | ScalarKernel | str) -> None:
    if not isinstance(map, Tabulated):
        return
    try:
        check_is_fitted(map)
    except NotFittedError:
        raise ConfigError(
            "levels=…: a map cannot be fitted to codes; pass a fitted map or a kernel's name"
        ) from None


def code_rows(
    map: Tabulated | ScalarKernel | str,
    blocks: Callable[[], Iterable[AnyMatrix]],
    *,
    n_levels: int = MAX_LEVELS,
    level_ranges: str = "auto",
    form: str = "auto",
    smooth: float = 0.0,
    sample: AnyMatrix | None = None,
) -> CodedRows:
    """Turn samples that come in blocks into codes; no more than a block is ever floats.

    NaN, infinity, blocks of different widths, or no sample raise InputError. A column with a single
    value that is not zero gets no weight, as in :class:`CodedSVC`.

    Parameters
    ----------
    map : map, callable or str
        A map, a scalar kernel ``k(x, y)`` or the name of a kernel, as in :class:`CodedSVC`.
    blocks : callable
        ``blocks()`` gives all samples from the first on, as blocks of rows, dense or CSR. It is
        called twice, for the levels and for the codes. A block may be overwritten by the next.
    n_levels : int, default=256
        Most levels of a feature, from 2 to 256.
    level_ranges : {"auto", "shared", "own"}, default="auto"
        Whether features share their levels or have levels of their own, as in :class:`CodedSVC`.
    form : {"auto", "low-rank", "full", "local", "two-level"}, default="auto"
        The form in which the solver has its variables, as in :class:`CodedSVC`.
    smooth : float, default=0.0
        Price of the curvature of the functions, ≥ 0, as in :class:`CodedSVC`.
    sample : ndarray or CSR, shape (m, d), optional
        Samples to which a map that learns from data is fitted, with the ends of the range of all
        samples as two more rows. By default it is the first block.

    Returns
    -------
    CodedRows
        All samples as codes, for ``CodedSVC.fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import CodedSVC
    >>> X, y = np.random.default_rng(0).random((100, 5)), np.arange(100) % 2
    >>> rows = code_rows("chi2", lambda: (X[i : i + 30] for i in range(0, 100, 30)))
    >>> blockwise, whole = CodedSVC().fit(rows, y), CodedSVC().fit(X, y)
    >>> bool((blockwise.predict(X) == whole.predict(X)).all())
    True
    """
    columns = RunningColumns(n_levels)
    for X in blocks():
        X = _floats(X)
        if sample is None:
            sample = X.copy()
        columns.add(X)
    if sample is None:
        raise InputError("no samples: expected at least one row")
    coding = learned(map, columns, sample, n_levels, form, smooth, level_ranges)
    with codes_in_memory(columns.n_rows, columns.n_columns):
        return replace(coding, rows=_collected(blocks(), coding, columns))


def learned(
    map: Tabulated | ScalarKernel | str,
    columns: RunningColumns,
    sample: AnyMatrix,
    n_levels: int,
    form: str,
    smooth: float = 0.0,
    level_ranges: str = "auto",
) -> CodedRows:
    """Return the fitted map, levels and layout for samples that ``columns`` describe, without rows.

    A map that learns from data is fitted to ``sample`` and the ends of the range as two rows more.
    """
    if learns(map):
        ends = np.stack([columns.low, columns.high])
        sample = vstack([sample, ends], "csr") if issparse(sample) else np.vstack([sample, ends])
    stand_ins = _stand_ins(columns)
    if stand_ins is not None and learns(map):
        sample = sample[:, stand_ins]
    map = fitted(map, sample)
    book = _book_of(columns, stand_ins, n_levels, map, level_ranges)
    return _without_rows(map, book, book.levels, form, smooth, columns.n_columns)


def _floats(X: AnyMatrix) -> AnyMatrix:
    """Return a block in the type that levels and codes are made from."""
    refuse_mask(X)
    return X if X.dtype in (np.float32, np.float64, np.uint8) else X.astype(np.float64)


def listed_below(coding: CodedRows, columns: RunningColumns) -> float:
    """Return the part of codes that are not ``zero`` below which blocks list them: 0 or infinity.

    All blocks do, or none, as suits the samples that ``columns`` describe.
    """
    rows_of_zero = _codes_of_zero(coding)
    cells, features = coding.coder.cells, np.arange(coding.n_features)
    if cells is not None:
        rows_of_zero = cells[features if len(cells) > 1 else 0, rows_of_zero]
    mapped_to_zero = len(coding.zero) and (rows_of_zero == coding.zero[0]).all()
    few = columns.n_nonzero < SPARSE * columns.n_rows * columns.n_columns
    return np.inf if mapped_to_zero and few else 0


def block_rows(coding: CodedRows, X: AnyMatrix, sparse: float) -> CodeRows:
    """Return a block of samples as codes; ``sparse`` is the result of `listed_below`."""
    X = _floats(X)
    # What a CSR block leaves out has code 0.
    if issparse(X) and _codes_of_zero(coding).any():
        X = X.toarray()
    return rows_of(coding.coder.encode(X), coding.zero, sparse)


def _codes_of_zero(coding: CodedRows) -> NDArray[np.uint8]:
    book = present(coding.coder.book, "the codebook")  # samples, not codes, come in blocks
    features = np.arange(coding.n_features)
    return book.codes(np.zeros(len(features)), features)


def _collected(blocks: Iterable[AnyMatrix], coding: CodedRows, columns: RunningColumns) -> CodeRows:
    """Return the codes of all blocks: one array, or lists of those that are not ``zero``."""
    sparse = listed_below(coding, columns)
    coded_blocks = (block_rows(coding, X, sparse) for X in blocks)
    if sparse:
        return joined(coded_blocks)
    n, d = columns.n_rows, columns.n_columns
    codes, filled = np.empty(n * d, np.uint8), 0
    for block in coded_blocks:
        codes[filled : filled + len(block.codes)] = block.codes
        filled += len(block.codes)
    return CodeRows(codes, np.arange(n + 1) * d, None)
