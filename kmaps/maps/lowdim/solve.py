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
from kmaps.maps.parameters import check_norm, check_request

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

    Parameters
    ----------
    kernel : str or callable
        The kernel, by its name or its signature, as of `LowDimMap`.
    dim : int
        Outputs, at most.
    ratio : float
        Ratio of the largest to the smallest non-zero input, for a homogeneous kernel.
    error : {"absolute", "relative", "signature"}
        Which error counts.
    norm : {"linf", "l1"}
        Whether the largest error counts or the integral of its size.
    pool : "fine" or int
        Frequencies that the programs choose from.
    continuous : bool
        Whether the frequencies may then leave the pool.
    max_error : float, optional
        Largest error allowed; ``dim`` is ignored.
    **inputs : dict
        The parameters ``low``, ``high``, ``period``, ``sigma``, ``levels`` and ``values`` of
        `LowDimMap`.

    Returns
    -------
    Solution
        Its ``cosines`` have frequencies (m, 1) in radians per unit of λ and weights (m,); its
        ``error`` is the true one, between the points of the programs too.

    Examples
    --------
    A sum of cosines is found exactly (ldefm Fig. 1):

    >>> solution = lp_signature("cosine", dim=2, low=0, high=3, sigma=1 / 0.6)
    >>> round(float(solution.cosines.frequencies[0, 0]), 6), solution.error < 1e-9
    (0.6, True)
    """
    problem = Problem(kernel, ratio, error, **inputs).check()
    check_norm(norm, problem.values)
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

    The search ends when no solution can be better by more than the part ``gap``; a
    ConvergenceWarning with the proven gap says when it ended before.

    Parameters
    ----------
    kernel : str or callable
        The kernel, by its name or its signature, as of `LowDimMap`.
    dim : int
        Outputs, at most, from 1 to 7.
    ratio : float
        Ratio of the largest to the smallest non-zero input, for a homogeneous kernel.
    error : {"absolute", "relative", "signature"}
        Which error counts.
    gap : float
        Part of the error by which a better solution may exist.
    **inputs : dict
        The parameters ``low``, ``high``, ``period``, ``sigma``, ``levels`` and ``values`` of
        `LowDimMap`.

    Returns
    -------
    Solution
        No sum of at most ``dim`` outputs has an error below its ``lower_bound``, whatever its
        frequencies up to ``target.band`` half waves on the interval.

    Examples
    --------
    >>> best = optimal_signature("js", dim=3)
    >>> 0.98 < best.lower_bound / best.error <= 1
    True

    Where the inputs are 1, 2 and 4 only, two frequencies are exact:

    >>> optimal_signature("chi2", dim=5, values=[1, 2, 4]).error < 1e-9
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


def solve(problem: Problem, request: Any) -> Solution:
    """Approximate a problem as a `LowDimMap` or a `Request` asks."""
    may_be_optimal = check_request(problem.kind, request)
    pool = request.pool
    continuous = request.continuous
    if problem.kind == "periodic":  # only harmonics of the period repeat after it
        pool = 0
        continuous = False

    def best(dim: int) -> Solution:
        if may_be_optimal and request.optimal is not False:
            shipped = tabulated(problem, dim)
            if shipped is not None:
                return shipped
        return _solved(problem, dim, request.norm, pool, continuous, bool(request.optimal))

    if request.max_error is None:
        return best(request.dim)
    largest_dim = LARGEST_DIM if request.optimal else LARGEST_DIM_FOR_AN_ERROR
    return _least_dim(best, request.max_error, largest_dim)


@lru_cache(maxsize=256)  # a map is fitted again and again: for each fold, each value of C
def _solved(
    problem: Problem, dim: int, norm: str, pool: str | int, continuous: bool, optimal: bool
) -> Solution:
    target = problem.target(dim)
    if optimal:
        return certified_optimum(target, dim)
    frequencies, near = line_pool(target, pool, continuous)
    return PoolSelection(target, frequencies, near, norm=norm, continuous=continuous).best(dim)


def _least_dim(best: Callable[[int], Solution], max_error: float, largest_dim: int) -> Solution:
    """Return the map of the least dimension with an error up to ``max_error``."""
    too_few = 0
    enough = 1
    solution = best(enough)
    least = solution.error
    while solution.error > max_error:
        if enough == largest_dim:
            raise ConfigError(
                f"max_error={max_error:g}: the least error with up to {largest_dim} outputs per "
                f"feature is {least:.3g}; allow more"
            )
        too_few = enough
        enough = 2 * enough + 1
        solution = best(enough)
        least = min(least, solution.error)
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        attempt = best(middle)
        if attempt.error <= max_error:
            solution = attempt
            enough = middle
        else:
            too_few = middle
    return solution
