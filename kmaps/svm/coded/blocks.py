"""Training sets that are never in memory but as codes: read block by block, as often as needed."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from kmaps._loops.forms import Rows
from kmaps.checks import MAX_LEVELS
from kmaps.codes.columns import RunningColumns
from kmaps.codes.levels import choose_codebook
from kmaps.errors import InputError
from kmaps.maps.capabilities import Tabulated
from kmaps.mercer import ScalarKernel
from kmaps.samples import AnyMatrix
from kmaps.svm.coded.forms import choose
from kmaps.svm.coded.rows import SPARSE, Coder, joined, rows_of
from kmaps.svm.coded.smooth import smoothed
from kmaps.svm.coded.tables import tabulate
from kmaps.svm.coded.training import CodedRows, codes_in_memory, fitted, learns, level_strategy

Block: TypeAlias = AnyMatrix


def code_rows(
    map: Tabulated | ScalarKernel | str,
    blocks: Callable[[], Iterable[Block]],
    *,
    n_levels: int = MAX_LEVELS,
    form: str = "auto",
    smooth: float = 0.0,
    sample: Block | None = None,
) -> CodedRows:
    """Turn samples that come in blocks into codes; no more than a block is ever floats.

    Parameters
    ----------
    map : map or str
        As the ``map`` of :class:`CodedSVC`.
    blocks : callable
        ``blocks()`` gives all samples from the first on, as blocks of rows, dense or CSR; it is
        called twice, for the levels and for the codes. A block may be overwritten by the next.
    n_levels, form, smooth
        As in :class:`CodedSVC`.
    sample : ndarray or CSR, shape (m, d), optional
        What a map that learns from data is fitted to, with the ends of the range of all samples as
        two more; by default the first block.

    Returns
    -------
    CodedRows
        For ``CodedSVC.fit``, ``predict`` and ``decision_function``.

    Raises
    ------
    InputError
        For NaN, infinity, blocks of different widths or no sample.

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
    coding = learned(map, columns, sample, n_levels, form, smooth)
    with codes_in_memory(columns.n_rows, columns.n_columns):
        return replace(coding, rows=_collected(blocks(), coding, columns))


def learned(
    map: Tabulated | ScalarKernel | str,
    columns: RunningColumns,
    sample: Block,
    n_levels: int,
    form: str,
    smooth: float = 0.0,
) -> CodedRows:
    """Return the fitted map, levels and machinery for samples of which ``columns`` tell; no rows.

    A map that learns from data is fitted to ``sample`` and the ends of the range as two rows more.
    """
    if learns(map):
        ends = np.stack([columns.low, columns.high])
        sample = vstack([sample, ends], "csr") if issparse(sample) else np.vstack([sample, ends])
    map = fitted(map, sample)
    book = choose_codebook(columns, n_levels, level_strategy(map))
    tables = smoothed(tabulate(map, book.levels), book.levels, smooth)
    coder = Coder(book, book.levels.shape[1], tables.cells)
    rows = Rows(np.empty(0, np.uint8), np.zeros(1, np.int64), None)
    machinery = choose(tables, form)
    return CodedRows(map, book.levels, coder, tables.zero, machinery, rows, columns.n_columns)


def _floats(X: Block) -> Block:
    """Return a block as what levels and codes are made of."""
    return X if X.dtype in (np.float32, np.float64, np.uint8) else X.astype(np.float64)


def listed_below(coding: CodedRows, columns: RunningColumns) -> float:
    """Return the part of codes that are not ``zero`` below which blocks list them: 0 or infinity.

    All blocks do, or none, as the samples of which ``columns`` tell ask for.
    """
    rows_of_zero = _codes_of_zero(coding)
    cells, features = coding.coder.cells, np.arange(coding.n_features)
    if cells is not None:
        rows_of_zero = cells[features if len(cells) > 1 else 0, rows_of_zero]
    mapped_to_zero = len(coding.zero) and (rows_of_zero == coding.zero[0]).all()
    few = columns.n_nonzero < SPARSE * columns.n_rows * columns.n_columns
    return np.inf if mapped_to_zero and few else 0


def block_rows(coding: CodedRows, X: Block, sparse: float) -> Rows:
    """Return a block of samples as codes; ``sparse`` is what `listed_below` says of all blocks."""
    X = _floats(X)
    # What a CSR block leaves out has code 0.
    if issparse(X) and _codes_of_zero(coding).any():
        X = X.toarray()
    return rows_of(coding.coder.encode(X), coding.zero, sparse)


def _codes_of_zero(coding: CodedRows) -> NDArray[np.uint8]:
    assert coding.coder.book is not None  # samples, not codes, come in blocks
    features = np.arange(coding.n_features)
    return coding.coder.book.codes(np.zeros(len(features)), features)


def _collected(blocks: Iterable[Block], coding: CodedRows, columns: RunningColumns) -> Rows:
    """Return the codes of all blocks: one array, or lists of those that are not ``zero``."""
    sparse = listed_below(coding, columns)
    parts = (block_rows(coding, X, sparse) for X in blocks)
    if sparse:
        return joined(parts)
    n, d = columns.n_rows, columns.n_columns
    codes, filled = np.empty(n * d, np.uint8), 0
    for part in parts:
        codes[filled : filled + len(part.codes)] = part.codes
        filled += len(part.codes)
    return Rows(codes, np.arange(n + 1) * d, None)
