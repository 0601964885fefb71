"""Which levels stand for the values of each feature."""

import numpy as np
from numpy.typing import NDArray

from kmaps._codebook import pad_levels
from kmaps._values import Columns
from kmaps.errors import InputError

STRATEGIES = ("auto", "exact", "uniform", "quantile")


def choose_levels(columns: Columns, n_levels: int, strategy: str = "auto") -> NDArray:
    """Return at most ``n_levels`` levels for each feature, zero among them wherever it occurs.

    Parameters
    ----------
    columns : Columns
    n_levels : int
    strategy : {"auto", "exact", "uniform", "quantile"}
        ``exact``: the distinct values, those of all features together if they are few enough.
        ``uniform``: equally spaced over the range of the feature. ``quantile``: the quantiles of
        its values, once each value frequent enough for a level of its own has one. ``auto``:
        exact for the features with few enough distinct values, uniform for the others.

    Returns
    -------
    ndarray (1 or d, L)
        Ascending; rows with fewer levels repeat their last. One row when it serves all features.

    Raises
    ------
    InputError
        When ``exact`` would take more levels.
    """
    exact = strategy in ("auto", "exact")
    together = columns.few(n_levels) if exact else None
    if together is not None:
        return together[None, :]
    rows = []
    for j in range(columns.n_columns):
        values, counts = columns.distinct(j)
        if exact and len(values) <= n_levels:
            rows.append(values)
        elif strategy == "exact":
            raise InputError(
                f"feature {j} has {len(values)} distinct values, more than n_levels={n_levels}: "
                "choose strategy='auto'"
            )
        elif strategy == "quantile":
            rows.append(_with_zero(_quantiles(values, counts, n_levels), values))
        else:
            rows.append(_with_zero(np.linspace(values[0], values[-1], n_levels), values))
    return _one_row(pad_levels(rows))


def _quantiles(values: NDArray, counts: NDArray, n_levels: int) -> NDArray:
    if len(values) <= n_levels:
        return values
    frequent = counts * n_levels >= counts.sum()
    rest, up_to = values[~frequent], np.cumsum(counts[~frequent])
    share = np.linspace(0, 1, n_levels - frequent.sum())
    return np.r_[values[frequent], rest[np.searchsorted(up_to, share * up_to[-1])]]


def _with_zero(levels: NDArray, values: NDArray) -> NDArray:
    """Return the levels with zero in place of the nearest one, if zero is one of the values."""
    if 0 in values and 0 not in levels:
        levels[np.abs(levels).argmin()] = 0
    return levels


def _one_row(levels: NDArray) -> NDArray:
    """Return the widest row alone if all features have it, or are constant at a level of it."""
    widest = levels[np.argmax(levels[:, -1] - levels[:, 0])]
    constant = levels[:, 0] == levels[:, -1]
    served = (levels == widest).all(axis=1) | (constant & np.isin(levels[:, 0], widest))
    return widest[None, :] if served.all() else levels
