r"""From a problem to its low-dimensional approximation, by whichever source is asked for."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from kmaps.checks import check_whole
from kmaps.errors import ConfigError
from kmaps.maps.lowdim.optimal import LARGEST_DIM, certified_optimum
from kmaps.maps.lowdim.selection import PoolSelection, Solution, line_pool
from kmaps.maps.lowdim.table import tabulated
from kmaps.maps.lowdim.target import Problem
from kmaps.maps.parameters import check_request

LARGEST_DIM_FOR_AN_ERROR = 31  # programs look for an error with at most so many outputs; 2^n - 1


def lp_signature(
    kernel: str | Callable = "chi2",
    dim: int = 5,
    ratio: float = 255.0,
    error: str = "absolute",
    *,
    norm: str = "linf",
    pool: str | int = "fine",
    continuous: bool = True,
    max_error: float | None = None,
    **inputs: Any,
) -> Solution:
    r"""Approximate a kernel's signature by few cosines, by linear programs (ldefm).

    :class:`kmaps.LowDimMap` describes the parameters, ``low``, ``high``, ``period``, ``sigma`` and
    ``levels`` included. The solution has ``cosines`` (frequencies (m, 1), weights (m,)), and
    their true ``error``.

    Examples
    --------
    A sum of cosines is found exactly (ldefm Fig. 1):

    >>> found = lp_signature("cosine", dim=2, low=0, high=3, sigma=1 / 0.6)
    >>> round(float(found.cosines.frequencies[0, 0]), 6), found.error < 1e-9
    (0.6, True)
    """
    problem = Problem(kernel, ratio, error, **inputs).check()
    return solve(problem, Request(dim, norm, pool, continuous, False, max_error))


def optimal_signature(
    kernel: str | Callable = "chi2",
    dim: int = 5,
    ratio: float = 255.0,
    error: str = "absolute",
    *,
    gap: float = 0.01,
    **inputs: Any,
) -> Solution:
    """Search the best approximation of at most ``dim`` ≤ 7 outputs, with a proof of how good it is.

    :func:`lp_signature` describes the parameters; the search ends when no solution can be better by
    more than the part ``gap``. No sum of at most ``dim`` outputs has an error below ``lower_bound``
    of the solution, whatever its frequencies up to ``target.band`` half waves on the interval.

    Examples
    --------
    >>> best = optimal_signature("js", dim=3)
    >>> 0.98 < best.lower_bound / best.error <= 1
    True
    """
    check_whole("dim", dim, 1)
    problem = Problem(kernel, ratio, error, **inputs).check()
    return certified_optimum(problem.target(dim), dim, gap)


class Request(NamedTuple):
    """The requested map, by parameters of :class:`kmaps.LowDimMap`."""

    dim: int
    norm: str
    pool: str | int
    continuous: bool
    optimal: bool | None
    max_error: float | None


def solve(problem: Problem, asked: Any) -> Solution:
    """Approximate a problem as a `LowDimMap` or a `Request` asks."""
    plain = check_request(problem.kind, asked)
    periodic = problem.kind == "periodic"
    pool = (0, False) if periodic else (asked.pool, asked.continuous)

    def best(dim: int) -> Solution:
        shipped = tabulated(problem, dim) if plain and asked.optimal is not False else None
        return shipped or _solved(problem, dim, asked.norm, *pool, bool(asked.optimal))

    if asked.max_error is None:
        return best(asked.dim)
    most = LARGEST_DIM if asked.optimal else LARGEST_DIM_FOR_AN_ERROR
    return _least_dim(best, asked.max_error, most)


@lru_cache(maxsize=256)  # a map is fitted again and again: for each fold, each value of C
def _solved(
    problem: Problem, dim: int, norm: str, pool: str | int, continuous: bool, optimal: bool
) -> Solution:
    target = problem.target(dim)
    if optimal:
        return certified_optimum(target, dim)
    atoms = line_pool(target, pool, continuous)
    return PoolSelection(target, *atoms, norm=norm, continuous=continuous).best(dim)


def _least_dim(best: Callable[[int], Solution], max_error: float, most: int) -> Solution:
    """Return the map of the least dimension up to ``most`` with an error up to ``max_error``."""
    too_few, enough = 0, 1
    solution = best(enough)
    least = solution.error
    while solution.error > max_error:
        if enough == most:
            raise ConfigError(
                f"max_error={max_error:g}: the least error with up to {most} outputs per feature "
                f"is {least:.3g}; allow more"
            )
        too_few, enough = enough, 2 * enough + 1
        solution = best(enough)
        least = min(least, solution.error)
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        attempt = best(middle)
        if attempt.error <= max_error:
            solution, enough = attempt, middle
        else:
            too_few = middle
    return solution
