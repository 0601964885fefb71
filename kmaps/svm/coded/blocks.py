"""Training sets that are never in memory but as codes: read block by block, as often as needed."""

from collections.abc import Callable, Iterable, Iterator
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
from kmaps.svm.coded.tables import tabulate
from kmaps.svm.coded.training import CodedRows, codes_in_memory, fitted, learns, level_strategy

Block: TypeAlias = AnyMatrix


def code_rows(
    map: Tabulated | ScalarKernel | str,
    blocks: Callable[[], Iterable[Block]],
    *,
    n_levels: int = MAX_LEVELS,
    form: str = "auto",
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
    n_levels, form
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
    if learns(map):
        ends = np.stack([columns.low, columns.high])
        sample = vstack([sample, ends], "csr") if issparse(sample) else np.vstack([sample, ends])
    map = fitted(map, sample)
    book = choose_codebook(columns, n_levels, level_strategy(map))
    tables = tabulate(map, book.levels)
    coder = Coder(book, book.levels.shape[1], tables.cells)
    with codes_in_memory(columns.n_rows, columns.n_columns):
        rows = _collected((_floats(X) for X in blocks()), coder, tables.zero, columns)
    machinery = choose(tables, form)
    return CodedRows(map, book.levels, coder, tables.zero, machinery, rows, columns.n_columns)


def _floats(X: Block) -> Block:
    """Return a block as what levels and codes are made of."""
    return X if X.dtype in (np.float32, np.float64, np.uint8) else X.astype(np.float64)


def _collected(
    blocks: Iterator[Block], coder: Coder, zero: NDArray[np.intp], columns: RunningColumns
) -> Rows:
    """Return the codes of all blocks: one array, or lists of those that are not ``zero``."""
    n, d = columns.n_rows, columns.n_columns
    features = np.arange(d)
    assert coder.book is not None  # samples, not codes, come in blocks
    codes_of_zero = coder.book.codes(np.zeros(d), features)
    rows_of_zero = codes_of_zero
    if coder.cells is not None:
        rows_of_zero = coder.cells[features if len(coder.cells) > 1 else 0, codes_of_zero]
    mapped_to_zero = len(zero) and (rows_of_zero == zero[0]).all()
    sparse = np.inf if mapped_to_zero and columns.n_nonzero < SPARSE * n * d else 0
    # What a CSR block leaves out has code 0.
    dense = codes_of_zero.any()
    parts = (
        rows_of(coder.encode(X.toarray() if dense and issparse(X) else X), zero, sparse)
        for X in blocks
    )
    if not sparse:
        codes, filled = np.empty(n * d, np.uint8), 0
        for part in parts:
            codes[filled : filled + len(part.codes)] = part.codes
            filled += len(part.codes)
        return Rows(codes, np.arange(n + 1) * d, None)
    return joined(parts)
