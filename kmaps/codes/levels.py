"""Which levels stand for the values of each feature, and the columns that they come from."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_matrix, issparse

from kmaps._loops.codes import collect, empty_table, widen
from kmaps.checks import LARGEST_RATIO, MAX_LEVELS, refuse_not_finite
from kmaps.codes.codebook import Codebook, pad_levels
from kmaps.codes.column_sizes import (
    MOST_COLUMNS,
    MOST_OWN,
    ColumnSizes,
    columns_of_few_levels,
    columns_of_large_values,
    unlike_columns,
    warn_of_few_levels,
    warn_of_large_values,
    warn_of_unlike,
)
from kmaps.errors import ConfigError, InputError
from kmaps.matrices import AnyMatrix, read_only, summed
from kmaps.validation import in_loop_types, refuse_mask

_BLOCK_VALUES = 1 << 13  # searched for distinct ones at a time: most searches end early
_FEW_COLUMNS = 100  # of very many, the largest, in which a fill value is looked for


class Columns:
    """The columns of a dense or CSR matrix, of which ``low`` and ``high`` (d,) are the ranges.

    Zeros that a CSR matrix does not store are values too.
    """

    def __init__(self, X: AnyMatrix) -> None:
        refuse_mask(X)
        X = in_loop_types(X)
        self._X = summed(X.tocsc()) if issparse(X) else X
        self.n_rows, self.n_columns = X.shape
        low, high = _ends(self._X)
        self.low = low.astype(float)
        self.high = high.astype(float)

    def one_range(self) -> bool:
        """Return whether there are columns that vary, each over the range that all values have."""
        same = (self.low == self.low.min()) & (self.high == self.high.max())
        varies = self.high > self.low
        return bool(varies.any() and same[varies].all())

    def take(self, features: NDArray[np.intp]) -> "Columns":
        """Return the columns of some features, which may occur more than once."""
        return Columns(self._X[:, features])

    def distinct(self, j: int) -> tuple[NDArray, NDArray]:
        """Return the distinct values of column j, ascending, and how often each occurs."""
        if not issparse(self._X):
            values, counts = np.unique(self._X[:, j], return_counts=True)
            return values.astype(float), counts
        stored = self._X.data[self._X.indptr[j] : self._X.indptr[j + 1]]
        implicit = np.zeros(min(1, self.n_rows - len(stored)), stored.dtype)
        values, counts = np.unique(np.r_[stored, implicit], return_counts=True)
        if len(implicit):
            counts[np.searchsorted(values, 0)] += self.n_rows - len(stored) - 1
        return values.astype(float), counts

    def pooled(self) -> tuple[NDArray, NDArray]:
        """Return the distinct values of all columns and how often each occurs."""
        if not issparse(self._X):
            one_column = Columns(self._X.reshape(-1, 1))
        else:
            stored = self._X.data
            rows = np.arange(len(stored))
            shape = (self.n_rows * self.n_columns, 1)
            one_column = Columns(csc_matrix((stored, rows, [0, len(stored)]), shape))
        return one_column.distinct(0)

    def few(self, most: int, j: int | None = None) -> NDArray | None:
        """Return the distinct values of column j, or of all, ascending; None if above ``most``.

        Gives up at the first value too many, so that it costs little where there are many.
        """
        X = self._X if j is None else self._X[:, j : j + 1]
        values = np.empty(most + 1)
        table = empty_table(most)
        n_values = 0
        for block in _blocks_in_double(X):
            n_values = collect(block, values, n_values, table)
            if n_values > most:
                return None
        return np.sort(values[:n_values])

    def has_zero(self) -> NDArray:
        """Return, for each column, whether one of its values is zero."""
        if issparse(self._X):
            return np.diff((self._X != 0).indptr) < self.n_rows
        return (self._X == 0).any(axis=0)

    def sizes(self) -> ColumnSizes | None:
        """Return the sizes of the values of each column; None of too many columns."""
        if self.n_columns > MOST_COLUMNS:
            return None
        sizes = ColumnSizes(self.n_columns)
        sizes.add(self._X)
        return sizes


def _blocks_in_double(X: AnyMatrix) -> Iterator[NDArray[np.float64]]:
    """Yield the values of a matrix in blocks of one type; of what is not stored one zero."""
    if issparse(X) and X.nnz < X.shape[0] * X.shape[1]:
        yield np.zeros(1)
    stored = X.data[:, None] if issparse(X) else X
    block_rows = max(1, _BLOCK_VALUES // stored.shape[1])
    for start in range(0, len(stored), block_rows):
        yield np.ravel(stored[start : start + block_rows]).astype(np.float64)


def _ends(X: AnyMatrix) -> tuple[NDArray, NDArray]:
    if issparse(X):
        return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    if X.flags.f_contiguous or not X.flags.c_contiguous:  # the loop reads rows
        return X.min(axis=0), X.max(axis=0)
    low = X[0].copy()
    high = X[0].copy()
    widen(read_only(X), low, high)
    return low, high


class RunningColumns:
    """The statistics that `choose_levels` needs of columns, for samples that come in blocks.

    The distinct values of all columns but those of `unweighted_features` are kept as long as they
    are at most ``most``.
    """

    low: NDArray
    high: NDArray
    _zero: NDArray

    def __init__(self, most: int):
        self.most = most
        self._values: NDArray | None = np.empty(0)
        self.n_rows = 0
        self.n_columns = 0
        self.n_nonzero = 0
        self._sizes: ColumnSizes | None = None

    def add(self, X: AnyMatrix) -> None:
        """Take the next samples into account."""
        columns = Columns(X)
        if not np.isfinite([columns.low, columns.high]).all():
            refuse_not_finite(X.toarray() if issparse(X) else X)
        block = RunningColumns(self.most)
        block.low = columns.low
        block.high = columns.high
        block._zero = columns.has_zero()
        block.n_rows = columns.n_rows
        block.n_columns = columns.n_columns
        block.n_nonzero = X.count_nonzero() if issparse(X) else int(np.count_nonzero(X))
        if self._values is not None:
            block._values = _few_weighted(columns, self.most)
        else:
            block._values = None
        block._sizes = columns.sizes()
        self.merge(block)

    def merge(self, other: "RunningColumns") -> None:
        """Add the statistics of another one of the same ``most``, on other samples."""
        if not other.n_rows:
            return
        if not self.n_rows:
            self.__dict__.update(other.__dict__)
            return
        if other.n_columns != self.n_columns:
            raise InputError(f"blocks have {self.n_columns} and {other.n_columns} features")
        constants = [_constant(columns.low, columns.high) for columns in (self, other)]
        lows = self.low, other.low
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)
        self._zero = self._zero | other._zero
        self.n_rows += other.n_rows
        self.n_nonzero += other.n_nonzero
        if self._sizes is not None and other._sizes is not None:
            self._sizes.merge(other._sizes)
        if self._values is None or other._values is None:
            self._values = None
            return
        varies = self.high > self.low
        values = np.union1d(self._values, other._values)
        for low, constant in zip(lows, constants, strict=True):
            values = np.union1d(values, low[constant & varies])
        self._values = values if len(values) <= self.most else None

    def take(self, features: NDArray[np.intp]) -> "RunningColumns":
        """Return the statistics of some features, among them all that are weighted."""
        columns = RunningColumns(self.most)
        columns.low = self.low[features]
        columns.high = self.high[features]
        columns._zero = self._zero[features]
        columns._values = self._values
        columns.n_rows = self.n_rows
        columns.n_columns = len(features)
        columns.n_nonzero = self.n_nonzero
        columns._sizes = None if self._sizes is None else self._sizes.take(features)
        return columns

    def few(self, most: int) -> NDArray | None:
        """Return the distinct values of all columns, ascending; None if there are more."""
        if self._values is None:
            return None
        values = np.union1d(self._values, self.low[_constant(self.low, self.high)])
        return values if len(values) <= most else None

    def has_zero(self) -> NDArray:
        """Return, for each column, whether one of its values is zero."""
        return self._zero

    def sizes(self) -> ColumnSizes | None:
        """Return the sizes of the values of each column; None of too many columns."""
        return self._sizes


def _constant(low: NDArray, high: NDArray) -> NDArray[np.bool_]:
    """Return which columns of some ranges have one value that is not zero."""
    return (low == high) & (low != 0)


def _few_weighted(columns: Columns, most: int) -> NDArray | None:
    """Return the distinct values of the columns that are not constant, None if above ``most``."""
    constant = _constant(columns.low, columns.high)
    if constant.all():
        return np.empty(0)
    if constant.any():
        columns = columns.take(np.flatnonzero(~constant))
    return columns.few(most)


def unweighted_features(columns: Columns | RunningColumns) -> NDArray[np.intp]:
    """Return the features that a model on codes leaves out: one value, not zero, in all rows.

    Such a column adds the same number to all values of an additive kernel, and its levels would be
    taken from the other columns. Where no column varies, none is left out.
    """
    if not (columns.high > columns.low).any():
        return np.empty(0, np.intp)
    return np.flatnonzero(_constant(columns.low, columns.high))


STRATEGIES = ("auto", "shared", "exact", "uniform", "quantile")


def choose_levels(
    columns: Columns | RunningColumns, n_levels: int, strategy: str = "auto"
) -> NDArray:
    """Return at most ``n_levels`` levels for each feature, zero among them wherever it occurs.

    The strategies are described in `Quantizer`; `RunningColumns` serve ``shared`` and ``uniform``
    alone. The levels (1 or d, L) ascend; rows with fewer repeat their last, and one row serves all
    features where it can.
    """
    exact = strategy in ("auto", "exact", "shared")
    all_values = columns.few(n_levels) if exact else None
    if all_values is not None:
        return all_values[None, :]
    if strategy == "shared":
        return _with_zero(_roots(columns, n_levels)[None], np.array([columns.has_zero().any()]))
    rows = columns.low[:, None] + np.zeros(n_levels)
    varies = columns.high > columns.low  # next to an empty range, linspace rounds differently
    rows[varies] = np.linspace(columns.low[varies], columns.high[varies], n_levels, axis=1)
    rows = _with_zero(rows, columns.has_zero())
    if strategy == "uniform" or not isinstance(columns, Columns):
        return _one_row(pad_levels(rows))
    return _one_row(
        pad_levels(
            [_levels_of_values(columns, j, strategy, spaced) for j, spaced in enumerate(rows)]
        )
    )


def _levels_of_values(columns: Columns, j: int, strategy: str, spaced: NDArray) -> NDArray:
    """Return the levels that a feature's values suggest, or the equally ``spaced`` ones."""
    if strategy == "quantile":
        values, counts = columns.distinct(j)
        levels = _quantiles(values, counts, len(spaced))
        return _with_zero(levels[None], np.array([0 in values]))[0]
    distinct = columns.few(len(spaced), j)
    if distinct is None and strategy == "exact":
        n_distinct = len(columns.distinct(j)[0])
        raise InputError(
            f"feature {j} has {n_distinct} distinct values, more than n_levels={len(spaced)}: "
            "choose strategy='auto'"
        )
    return spaced if distinct is None else distinct


def value_ranges(columns: Columns | RunningColumns, shared: bool) -> tuple[NDArray, NDArray]:
    """Return the ends of each feature's range (d,), or of all values together (1,)."""
    if shared:
        return columns.low.min(keepdims=True), columns.high.max(keepdims=True)
    return columns.low, columns.high


def choose_codebook(
    columns: Columns | RunningColumns, n_levels: int, strategy: str = "auto"
) -> Codebook:
    """Return the codebook of the levels that `choose_levels` takes, with the range they serve."""
    levels = choose_levels(columns, n_levels, strategy)
    return Codebook(levels, *value_ranges(columns, len(levels) == 1))


def choose_training_codebook(
    columns: Columns | RunningColumns,
    n_levels: int,
    ranges: str,
    unweighted: Sequence[int] | NDArray[np.intp] = (),
) -> Codebook:
    """Return the codebook for features that have one curve.

    ``ranges`` are ``shared``: the levels of the strategy of this name; ``own``: levels of each
    feature over its own range, with equally spaced square roots; ``auto``: ``own`` where columns
    are of unlike units (`unlike_columns`) or hold a value far larger than their others
    (`columns_of_large_values`), which a `ColumnNote` says, else ``shared``. Values that are few
    enough for a level each share them in any other case. Another note names columns whose values
    have hardly any levels. No note names an ``unweighted`` feature, in whose place here is another
    one.
    """
    if ranges == "own":
        return Codebook(_own_roots(columns, n_levels), *value_ranges(columns, shared=False))
    all_values = columns.few(n_levels)
    large = np.empty(0, np.intp)
    if all_values is None or _spread(all_values) > LARGEST_RATIO:
        large = np.setdiff1d(_large(columns), list(unweighted))
    if len(large):
        are_own = ranges == "auto" and columns.n_columns <= MOST_OWN
        largest = np.maximum(columns.high, -columns.low)[large].max()
        warn_of_large_values(large, float(largest), are_own=are_own)
        if are_own:
            return Codebook(_own_roots(columns, n_levels), *value_ranges(columns, shared=False))
    if all_values is not None:
        return Codebook(all_values[None, :], *value_ranges(columns, shared=True))
    book = choose_codebook(columns, n_levels, "shared")
    if len(large):
        return book
    sizes = columns.sizes()
    if sizes is None:
        return book
    if ranges == "auto":
        varies = columns.high > columns.low
        varies[list(unweighted)] = False
        unlike = unlike_columns(sizes, varies, columns.n_rows)
        if unlike is not None:
            are_own = columns.n_columns <= MOST_OWN
            warn_of_unlike(*unlike, are_own=are_own)
            if are_own:
                rows = _own_roots(columns, n_levels)
                book = Codebook(rows, *value_ranges(columns, shared=False))
    few = columns_of_few_levels(sizes, book, columns.low, columns.high)
    few = np.setdiff1d(few, list(unweighted))
    if len(few):
        warn_of_few_levels(few, n_levels)
    return book


def _spread(values: NDArray) -> float:
    """Return how many times the smallest of some sizes, without zero, the largest is."""
    sizes = np.abs(values[values != 0])
    return float(sizes.max() / sizes.min()) if len(sizes) else 1.0


def _large(columns: Columns | RunningColumns) -> NDArray[np.intp]:
    """Return the columns with a value far larger than their others, among the largest columns."""
    places = np.arange(columns.n_columns)
    if columns.n_columns > MOST_COLUMNS:
        places = np.argsort(np.maximum(columns.high, -columns.low))[-_FEW_COLUMNS:]
        columns = columns.take(places)
    sizes = columns.sizes()
    if sizes is None:
        return np.empty(0, np.intp)
    return places[columns_of_large_values(sizes, columns.low, columns.high)]


def check_levels(levels: ArrayLike, n_features: int) -> NDArray[np.float64]:
    """Return given levels as (1 or d, L); refuse other shapes, orders and numbers of them."""
    try:
        rows = np.atleast_2d(np.asarray(levels, np.float64))
    except (TypeError, ValueError):
        raise ConfigError("levels: expected numbers, (L,) or one row per feature") from None
    if rows.ndim != 2 or rows.size == 0 or len(rows) not in (1, n_features):
        raise ConfigError(
            f"levels have the shape {np.shape(levels)}: expected (L,) or ({n_features}, L), one "
            "row per feature"
        )
    if rows.shape[1] > MAX_LEVELS:
        raise ConfigError(
            f"levels: got {rows.shape[1]}, but codes of one byte have at most {MAX_LEVELS} levels"
        )
    if not np.isfinite(rows).all() or (np.diff(rows) < 0).any():
        raise ConfigError("levels: expected finite numbers in ascending order")
    return rows


def _roots(columns: Columns | RunningColumns, n_levels: int) -> NDArray:
    """Return levels over the range of all values whose signed square roots are equally spaced."""
    low, high = np.concatenate(value_ranges(columns, shared=True))
    return _spaced_roots(low, high, n_levels)


def _spaced_roots(low: float, high: float, n_levels: int) -> NDArray:
    """Return levels from low to high whose signed square roots are equally spaced."""
    ends = np.array([low, high])
    first, last = np.sign(ends) * np.sqrt(np.abs(ends))
    roots = np.linspace(first, last, n_levels)
    levels = np.sign(roots) * roots**2
    levels[[0, -1]] = ends
    return levels


def _own_roots(columns: Columns | RunningColumns, n_levels: int) -> NDArray:
    """Return such levels (d, L) of each column, over its own range."""
    rows = [
        _spaced_roots(low, high, n_levels)
        for low, high in zip(columns.low, columns.high, strict=True)
    ]
    return _with_zero(np.array(rows), columns.has_zero())


def _quantiles(values: NDArray, counts: NDArray, n_levels: int) -> NDArray:
    """Return the frequent ones among distinct values, and quantiles of the others."""
    if len(values) <= n_levels:
        return values
    frequent = counts * n_levels >= counts.sum()
    others = values[~frequent]
    cumulative = np.cumsum(counts[~frequent])
    shares = np.linspace(0, 1, n_levels - frequent.sum())
    quantiles = others[np.searchsorted(cumulative, shares * cumulative[-1])]
    return np.r_[values[frequent], quantiles]


def _with_zero(levels: NDArray, wanted: NDArray) -> NDArray:
    """Return the levels (f, L) with zero in place of the nearest one, where it is wanted (f,)."""
    lacking = wanted & (levels != 0).all(axis=1)
    levels[lacking, np.abs(levels[lacking]).argmin(axis=1)] = 0
    return levels


def _one_row(levels: NDArray) -> NDArray:
    """Return the widest row alone if all features have it, or are constant at a level of it."""
    widest = levels[np.argmax(levels[:, -1] - levels[:, 0])]
    constant = levels[:, 0] == levels[:, -1]
    served = (levels == widest).all(axis=1) | (constant & np.isin(levels[:, 0], widest))
    return widest[None, :] if served.all() else levels
