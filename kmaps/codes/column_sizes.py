"""How large the values of each column are: columns of unlike units, and columns of few levels.

One column may hold lengths in metres and the next one areas in square micrometres. Levels that
both share then stand for the larger ones, and the values of the smaller column have one level or
two. The sizes are counted in bins, eight for each power of two, so that samples that come in
blocks, in whatever order, give the same decision as all samples at once.
"""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kmaps._loops.codes import N_DISTINCT, N_SIZES, count_sizes
from kmaps.checks import LARGEST_RATIO, ratios_to_medians
from kmaps.codes.codebook import Codebook
from kmaps.errors import ColumnNote
from kmaps.matrices import AnyMatrix, read_only, row_blocks

MOST_COLUMNS = 1000
"""Columns of a table whose sizes are counted: the counts take 16 kB for each."""

MOST_OWN = 200
"""Columns that get levels of their own unasked: a kernel's tables take half a MB for each."""

UNLIKE = 100
"""Columns whose sizes differ by more than this factor are of unlike units."""

_FILLED = 0.9  # of the rows in which a column is not zero, or more, for its size to count
_SHARE = 0.99  # of a column's values that its size, a quantile, is not exceeded by
_BLOCK_VALUES = 1 << 18  # values that are counted at a time
_LAST_BIN = 2038  # the last but one of finite float32; beyond it all sizes count as the same
_FEWEST_LEVELS = 4
_FEWEST_VALUES = 100


class ColumnSizes:
    """Counts of the non-zero values of each column by their size, in bins.

    Parameters
    ----------
    n_columns : int
        The number of columns d.
    """

    def __init__(self, n_columns: int) -> None:
        self._counts = np.zeros((n_columns, N_SIZES), np.int64)
        self._distinct = np.zeros((n_columns, N_DISTINCT), np.uint32)  # bits of float32; 0: none

    def add(self, X: AnyMatrix) -> None:
        """Count the values of the next samples (n, d), dense or CSC, float32 or float64."""
        if issparse(X):
            for j in range(X.shape[1]):
                self._count(X.data[X.indptr[j] : X.indptr[j + 1], None], slice(j, j + 1))
            return
        size = max(1, _BLOCK_VALUES // X.shape[1])
        for rows in row_blocks(X, size):
            self._count(rows, slice(None))

    def _count(self, values: NDArray, columns: slice) -> None:
        """Count dense values of some columns."""
        with np.errstate(over="ignore"):  # values beyond float32 count as the largest ones
            single = np.ascontiguousarray(values, np.float32)
        count_sizes(
            read_only(single.view(np.uint32)), self._counts[columns], self._distinct[columns]
        )

    def merge(self, other: "ColumnSizes") -> None:
        """Add the counts of other samples of the same columns."""
        self._counts = self._counts + other._counts
        self._distinct = self._distinct.copy()
        for j in np.flatnonzero((self._distinct == 0).any(axis=1)):
            both = np.union1d(self._distinct[j], other._distinct[j])
            both = both[both > 0][:N_DISTINCT]
            self._distinct[j, : len(both)] = both

    def take(self, features: NDArray[np.intp]) -> "ColumnSizes":
        """Return the sizes of some columns, which may occur more than once."""
        sizes = ColumnSizes(0)
        sizes._counts = self._counts[features]
        sizes._distinct = self._distinct[features]
        return sizes

    @property
    def n_nonzero(self) -> NDArray[np.int64]:
        """The number of non-zero values of each column, (d,)."""
        return self._counts.sum(axis=1)

    @property
    def many_values(self) -> NDArray[np.bool_]:
        """Whether each column has at least four different non-zero values, (d,)."""
        return np.all(self._distinct > 0, axis=1)

    def quantile(self, share: float) -> NDArray[np.float64]:
        """Return the size that the share of each column's non-zero values does not exceed, (d,).

        It is exact to a sixteenth: interpolated in its bin. A column without values has 0.
        """
        cumulative = self._counts.cumsum(axis=1)
        n_values = cumulative[:, -1]
        rank = np.ceil(share * n_values)
        bins = (cumulative < rank[:, None]).sum(axis=1)
        columns = np.arange(len(bins))
        of_bin = self._counts[columns, bins]
        before = cumulative[columns, bins] - of_bin
        low, high = _bounds(bins)
        sizes = low + (high - low) * (rank - before) / np.maximum(of_bin, 1)
        return np.where(n_values > 0, sizes, 0.0)

    @property
    def smallest(self) -> NDArray[np.float64]:
        """The lower end of the bin of each column's smallest non-zero size, (d,)."""
        return _bounds((self._counts > 0).argmax(axis=1))[0]


def _bounds(bins: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of bins of sizes; a bin is the exponent and three more bits of a float32."""
    bits = np.minimum(bins, _LAST_BIN).astype(np.uint32) << np.uint32(20)
    low = bits.view(np.float32).astype(np.float64)
    next_bits = bits + np.uint32(1 << 20)
    high = next_bits.view(np.float32).astype(np.float64)
    return low, high


def unlike_columns(
    sizes: ColumnSizes, varies: NDArray[np.bool_], n_rows: int
) -> tuple[int, int, float] | None:
    """Return the columns of the smallest and the largest size if they are of unlike units.

    The size of a column is the 99 % quantile of its non-zero values without their signs. Only
    columns count that vary and are not zero in at least 90 % of the rows.

    Parameters
    ----------
    sizes : ColumnSizes
        The sizes of all values.
    varies : ndarray of bool, shape (d,)
        Whether each column has two values or more.
    n_rows : int
        The number of rows.

    Returns
    -------
    tuple of (int, int, float) or None
        The numbers of the two columns, from 0 on, and the ratio of their sizes, if it is above
        100; else None.
    """
    columns = np.flatnonzero(varies & (sizes.n_nonzero >= _FILLED * n_rows))
    if len(columns) < 2:
        return None
    size = sizes.quantile(_SHARE)[columns]
    smallest = int(size.argmin())
    largest = int(size.argmax())
    ratio = float(size[largest] / size[smallest])
    return (int(columns[smallest]), int(columns[largest]), ratio) if ratio > UNLIKE else None


def columns_of_large_values(sizes: ColumnSizes, low: NDArray, high: NDArray) -> NDArray[np.intp]:
    """Return the columns with a value that is far larger than their others.

    Parameters
    ----------
    sizes : ColumnSizes
        The sizes of all values.
    low, high : ndarray, shape (d,)
        The ends of each column's range.

    Returns
    -------
    ndarray of int
        The numbers, from 0 on, of the columns with a value of more than `LARGEST_RATIO` times the
        median size of their non-zero values.
    """
    ratios = ratios_to_medians(np.maximum(high, -low), sizes.quantile(0.5))
    return np.flatnonzero(ratios > LARGEST_RATIO)


def columns_of_few_levels(
    sizes: ColumnSizes, book: Codebook, low: NDArray, high: NDArray
) -> NDArray[np.intp]:
    """Return the columns whose small values have fewer than four levels.

    Parameters
    ----------
    sizes : ColumnSizes
        The sizes of all values.
    book : Codebook
        The levels.
    low, high : ndarray, shape (d,)
        The ends of each column's range.

    Returns
    -------
    ndarray of int
        The numbers, from 0 on, of the columns with at least 100 non-zero values, four of them
        different, of which the smallest 99 % lie at fewer than four levels.
    """
    columns = np.flatnonzero(sizes.many_values & (sizes.n_nonzero >= _FEWEST_VALUES))
    if not len(columns):
        return columns
    largest = sizes.quantile(_SHARE)[columns]
    smallest = sizes.smallest[columns]
    first = np.where(low[columns] < 0, np.maximum(low[columns], -largest), smallest)
    last = np.where(high[columns] > 0, np.minimum(high[columns], largest), -smallest)
    first_codes = book.codes(first, columns).astype(int)
    last_codes = book.codes(last, columns).astype(int)
    return columns[last_codes - first_codes + 1 < _FEWEST_LEVELS]


def warn_of_unlike(smallest: int, largest: int, ratio: float, *, are_own: bool) -> None:
    """Say whether each column gets levels of its own, and why."""
    if are_own:
        levels = "so each column has levels of its own (level_ranges='shared' shares them)"
    else:
        levels = (
            f"but share their levels, since they are more than {MOST_OWN} (level_ranges='own' "
            "gives each its own)"
        )
    warnings.warn(
        ColumnNote(
            f"the sizes of the columns differ by {ratio:,.0f} times ({{}}), {levels}; the kernel "
            "weighs columns by their size: compare with columns scaled to 0 … 1 "
            "(normalize='min-max')",
            [smallest, largest],
        ),
        stacklevel=2,
    )


def warn_of_large_values(columns: NDArray[np.intp], largest: float, *, are_own: bool) -> None:
    """Name columns with values far larger than their others, and say what levels follow them."""
    if are_own:
        levels = "so each column has levels of its own (level_ranges='shared' shares them)"
    else:
        levels = "and the levels of all columns follow it (level_ranges='own' gives each its own)"
    warnings.warn(
        ColumnNote(
            f"a value in {{}}, of size {largest:g}, is more than 10⁶ times as large as the median "
            f"of the column's non-zero values, {levels}; is it a fill value? Replace it, or leave "
            "the row out",
            columns.tolist(),
        ),
        stacklevel=2,
    )


def warn_of_few_levels(columns: NDArray[np.intp], n_levels: int) -> None:
    """Name columns whose values the levels hardly tell apart, and say what to do."""
    warnings.warn(
        ColumnNote(
            f"fewer than {_FEWEST_LEVELS} of {n_levels} levels hold 99 % of the non-zero values of "
            "{}: give each column levels of its own (level_ranges='own'), or scale the columns "
            "(normalize='min-max')",
            columns.tolist(),
        ),
        stacklevel=2,
    )
