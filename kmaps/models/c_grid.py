r"""Which values of C cross-validation compares, and which of them it chooses.

A list of values is compared as it is, and the best one chosen. ``"auto"`` begins with the powers of
√10 from a decade below 1 to a decade above it, and extends them, a decade at a time, on the side on
which the best value is the outermost one, until

- the best value has worse ones on both sides: it is chosen; or
- the edge is flat: what the last decade gained is at most one standard error. The value a decade
  inside the edge is chosen, since cross-validation sees nothing beyond it; or
- the bounds, a million either way, are reached: the outermost value is chosen, and stands out as
  one at the edge of its grid.

The gain is a difference of scores on the same units, samples or folds, so its standard error is
that of paired differences, under no difference: :math:`\sqrt{\sum d_i^2} / n`, for right and wrong
labels McNemar's :math:`\sqrt{b + c} / n`. The standard errors of the two means, which the one
standard error rule of Breiman et al. (Classification and Regression Trees, 1984) compares with, are
several times that, and would call edges flat that still rise. For the same reason the best value is
chosen where it is inside, and not the smallest one within a standard error of it, which would leave
every row undertuned, and by unequal amounts. Of equally good values the smallest is the best.

``"path"``, for machines that start each value of C where they stopped at the one before, is the
same, but that it stops at once when held-out accuracy has fallen: all values of the last decade are
worse than the best one before by more than one standard error, of the same kind.
"""

from collections.abc import Mapping, Sequence
from math import log10

import numpy as np
from numpy.typing import NDArray

AUTO, PATH = "auto", "path"

_PER_DECADE = 2
_BOUND = 6 * _PER_DECADE  # the exponents of √10 stay within ± this

Scores = Mapping[float, NDArray]
"""The score of each unit, a sample or a fold, by the values of C."""


def _value(exponent: int) -> float:
    # Rounded, so that the digits of the records are the same on every machine.
    return float(f"{10 ** (exponent / _PER_DECADE):.6g}")


def _exponent(C: float) -> int:
    return round(_PER_DECADE * log10(C))


START = tuple(map(_value, range(-_PER_DECADE, _PER_DECADE + 1)))
"""The values that ``"auto"`` and ``"path"`` begin with."""


def extension(scores: Scores) -> tuple[float, ...]:
    """Return the values of C to compare next, ascending; none when the choice is settled.

    Parameters
    ----------
    scores : mapping of float to ndarray, shape (n,)
        Of the values compared so far.

    Examples
    --------
    >>> rising = {C: np.arange(8) < 2 + i for i, C in enumerate(START)}
    >>> extension(rising)
    (31.6228, 100.0)
    >>> extension({C: np.arange(8) < 5 for C in START})
    ()
    """
    grid = sorted(scores)
    best = _best(scores, grid)
    if best == len(grid) - 1 and not _is_flat(scores, grid, best):
        top = _exponent(grid[-1])
        exponents = range(top + 1, min(top + _PER_DECADE, _BOUND) + 1)
    elif best == 0 and not _is_flat(scores, grid, best):
        bottom = _exponent(grid[0])
        exponents = range(max(bottom - _PER_DECADE, -_BOUND), bottom)
    else:
        exponents = range(0)
    return tuple(map(_value, exponents))


def has_fallen(scores: Scores) -> bool:
    """Return whether the best value is better than all those a decade above it, surely.

    Parameters
    ----------
    scores : mapping of float to ndarray, shape (n,)
        Of the values compared so far.

    Examples
    --------
    >>> peaked = {0.1: np.arange(8) < 2, 1.0: np.arange(8) < 7, 3.0: np.arange(8) < 5}
    >>> has_fallen(peaked), has_fallen({**peaked, 10.0: np.arange(8) < 4})
    (False, True)
    """
    grid = sorted(scores)
    best = _best(scores, grid)
    after = grid[best + 1 :][-_PER_DECADE:]
    return len(after) == _PER_DECADE and not any(
        _gains_little(scores[C], scores[grid[best]]) for C in after
    )


def choose(scores: Scores, *, extended: bool) -> float:
    """Return the value of C that is chosen.

    Parameters
    ----------
    scores : mapping of float to ndarray, shape (n,)
    extended : bool
        Whether the values are those of ``"auto"``, of which one inside a flat edge is chosen; of a
        list it is the best.
    """
    grid = sorted(scores)
    best = _best(scores, grid)
    if extended and best in (0, len(grid) - 1) and _is_flat(scores, grid, best):
        return grid[_inside(grid, best)]
    return grid[best]


def _best(scores: Scores, grid: Sequence[float]) -> int:
    return int(np.argmax([np.mean(scores[C]) for C in grid]))


def _inside(grid: Sequence[float], edge: int) -> int:
    """Return the place of the value a decade inside an edge."""
    return edge + _PER_DECADE if edge == 0 else edge - _PER_DECADE


def _is_flat(scores: Scores, grid: Sequence[float], edge: int) -> bool:
    """Return whether the last decade before an edge gained at most one standard error."""
    return _gains_little(scores[grid[_inside(grid, edge)]], scores[grid[edge]])


def _gains_little(before: NDArray, after: NDArray) -> bool:
    """Return whether scores of the same units are better by at most one standard error."""
    gains = np.subtract(after, before, dtype=float)
    return bool(gains.sum() <= np.sqrt(gains @ gains))
