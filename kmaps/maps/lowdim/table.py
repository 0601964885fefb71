"""The shipped table of optimal maps, a row a kernel, error, dimension and ratio.

The rows of ``optimal.csv`` come from :mod:`kmaps.maps.lowdim.make_table`.
"""

from functools import cache
from importlib import resources

import numpy as np

from kmaps.maps.lowdim.cosines import CosineSum
from kmaps.maps.lowdim.problem import Problem
from kmaps.maps.lowdim.selection import Solution


def tabulated(problem: Problem, dim: int) -> Solution | None:
    """Return the shipped optimal map of a problem, or None when the table lacks it.

    Examples
    --------
    >>> solution = tabulated(Problem("chi2", ratio=255.0), 5)
    >>> round(255 * solution.error, 3)
    0.163
    >>> tabulated(Problem("chi2", ratio=254.0), 5) is None
    True
    """
    if problem.kind != "homogeneous" or callable(problem.kernel) or problem.ratio is None:
        return None
    row = _rows().get((problem.kernel, problem.error, dim, float(problem.ratio)))
    if row is None:
        return None
    error, lower_bound, frequencies, weights = row
    numbers = (np.array(list(map(float, text.split()))) for text in (frequencies, weights))
    frequencies, weights = numbers
    cosines = CosineSum(frequencies[:, None], weights)
    return Solution(cosines, float(error), float(lower_bound), "table")


@cache
def _rows() -> dict[tuple, list[str]]:
    text = resources.files("kmaps.maps.lowdim").joinpath("optimal.csv").read_text()
    rows = {}
    for line in text.splitlines()[1:]:
        kernel, error, dim, ratio, *rest = line.split(",")
        rows[kernel, error, int(dim), float(ratio)] = rest
    return rows
