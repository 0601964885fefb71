"""Which levels stand for the values of each feature."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.checks import MAX_LEVELS
from kmaps.codes.codebook import Codebook, pad_levels
from kmaps.codes.columns import Columns, RunningColumns
from kmaps.errors import ConfigError, InputError

STRATEGIES = ("auto", "shared", "exact", "uniform", "quantile")


def choose_levels(
    columns: Columns | RunningColumns, n_levels: int, strategy: str = "auto"
) -> NDArray:
    """Return at most ``n_levels`` levels for each feature, zero among them wherever it occurs.

    The strategies are those of `Quantizer`; `RunningColumns` serve ``shared`` and ``uniform``
    alone. The levels (1 or d, L) ascend; rows with fewer repeat their last, and one row serves all
    features where it can.

    Raises
    ------
    InputError
        When ``exact`` would take more levels.
    """
    exact = strategy in ("auto", "exact", "shared")
    together = columns.few(n_levels) if exact else None
    if together is not None:
        return together[None, :]
    if strategy == "shared":
        return _with_zero(_roots(columns, n_levels), columns.has_zero().any())[None, :]
    rows, has_zero = [], columns.has_zero()
    for j in range(columns.n_columns):
        own = _of_values(columns, j, n_levels, strategy) if isinstance(columns, Columns) else None
        if own is None:
            own = np.linspace(columns.low[j], columns.high[j], n_levels)
        rows.append(_with_zero(own, has_zero[j]))
    return _one_row(pad_levels(rows))


def _of_values(columns: Columns, j: int, n_levels: int, strategy: str) -> NDArray | None:
    """Return the levels of a feature that its values tell, or None: equally spaced ones."""
    if strategy == "quantile":
        values, counts = columns.distinct(j)
        return _quantiles(values, counts, n_levels)
    few = columns.few(n_levels, j) if strategy in ("auto", "exact") else None
    if few is None and strategy == "exact":
        found = len(columns.distinct(j)[0])
        raise InputError(
            f"feature {j} has {found} distinct values, more than n_levels={n_levels}: "
            "choose strategy='auto'"
        )
    return few


def value_ranges(columns: Columns | RunningColumns, shared: bool) -> tuple[NDArray, NDArray]:
    """Return the ends of each feature's range (d,), or those of all values together (1,)."""
    if shared:
        return columns.low.min(keepdims=True), columns.high.max(keepdims=True)
    return columns.low, columns.high


def choose_codebook(
    columns: Columns | RunningColumns, n_levels: int, strategy: str = "auto"
) -> Codebook:
    """Return the codebook of the levels that `choose_levels` takes, with the range they serve."""
    levels = choose_levels(columns, n_levels, strategy)
    return Codebook(levels, *value_ranges(columns, len(levels) == 1))


def check_levels(levels: ArrayLike, n_features: int) -> NDArray[np.float64]:
    """Return given levels as (1 or d, L); refuse other shapes, orders and numbers of them."""
    try:
        rows = np.atleast_2d(np.asarray(levels, np.float64))
    except (TypeError, ValueError):
        raise ConfigError("levels: expected numbers, (L,) or one row per feature") from None
    if rows.ndim != 2 or rows.size == 0 or len(rows) not in (1, n_features):
        raise ConfigError(
            f"levels of shape {np.shape(levels)}: expected (L,) or ({n_features}, L), one row for "
            "each of the features"
        )
    if rows.shape[1] > MAX_LEVELS:
        raise ConfigError(
            f"levels: {rows.shape[1]} of them, a code of one byte can tell {MAX_LEVELS} apart"
        )
    if not np.isfinite(rows).all() or (np.diff(rows) < 0).any():
        raise ConfigError("levels: expected finite numbers in ascending order")
    return rows


def _roots(columns: Columns | RunningColumns, n_levels: int) -> NDArray:
    ends = np.concatenate(value_ranges(columns, shared=True))
    low, high = np.sign(ends) * np.sqrt(np.abs(ends))
    roots = np.linspace(low, high, n_levels)
    levels = np.sign(roots) * roots**2
    levels[[0, -1]] = ends
    return levels


def _quantiles(values: NDArray, counts: NDArray, n_levels: int) -> NDArray:
    if len(values) <= n_levels:
        return values
    frequent = counts * n_levels >= counts.sum()
    rest, up_to = values[~frequent], np.cumsum(counts[~frequent])
    share = np.linspace(0, 1, n_levels - frequent.sum())
    return np.r_[values[frequent], rest[np.searchsorted(up_to, share * up_to[-1])]]


def _with_zero(levels: NDArray, wanted: bool | np.bool_) -> NDArray:
    """Return the levels with zero in place of the nearest one, if it is wanted."""
    if wanted and 0 not in levels:
        levels[np.abs(levels).argmin()] = 0
    return levels


def _one_row(levels: NDArray) -> NDArray:
    """Return the widest row alone if all features have it, or are constant at a level of it."""
    widest = levels[np.argmax(levels[:, -1] - levels[:, 0])]
    constant = levels[:, 0] == levels[:, -1]
    served = (levels == widest).all(axis=1) | (constant & np.isin(levels[:, 0], widest))
    return widest[None, :] if served.all() else levels
