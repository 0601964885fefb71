"""The shipped table of optimal maps, a row per kernel, error, dimension, ratio and values.

``python -m kmaps.maps.lowdim.table > optimal.csv`` searches them, in six minutes on one core; put
the file in this folder.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from itertools import product

import numpy as np
from numpy.typing import NDArray

from kmaps.maps.lowdim.cosines import CosineSum
from kmaps.maps.lowdim.optimal import certified_optimum
from kmaps.maps.lowdim.selection import Solution
from kmaps.maps.lowdim.target import Problem

TABULATED = ("chi2", "js", "intersection")
DIMS = (3, 5, 7)
ROUND_RATIOS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
RATIOS_OF_BITS = (127, 128, 255, 256, 1023, 1024, 4095, 65_535)  # of 7, 8, 10, 12 and 16 bits
RATIOS = sorted(ROUND_RATIOS + RATIOS_OF_BITS)
OF_BYTES = (255, "integers")  # the ratio and the values of bytes that are counts
COLUMNS = (
    "kernel",
    "error",
    "dim",
    "ratio",
    "values",
    "max_error",
    "lower_bound",
    "frequencies",
    "weights",
)

Case = tuple[str, int, int, str]  # "" for all values in the range


def tabulated(problem: Problem, dim: int) -> Solution | None:
    """Return the shipped optimal map of a problem, or None when the table lacks it."""
    if problem.kind != "homogeneous" or callable(problem.kernel) or problem.ratio is None:
        return None
    values = ""
    if problem.values is not None:
        values = "integers" if _are_integers(problem.sizes()) else "others"
    row = _rows().get((problem.kernel, problem.error, dim, float(problem.ratio), values))
    if row is None:
        return None
    error, lower_bound, frequencies, weights = row
    cosines = CosineSum(_numbers(frequencies)[:, None], _numbers(weights))
    return Solution(cosines, float(error), float(lower_bound), "table")


def _are_integers(sizes: NDArray) -> bool:
    """Return whether sizes are 1, 2, …, up to a factor, on which no map depends."""
    multiples = np.arange(1, len(sizes) + 1)
    return bool(np.allclose(sizes / sizes[0], multiples, rtol=1e-9, atol=0))


def _numbers(text: str) -> NDArray:
    return np.array([float(number) for number in text.split()])


@cache
def _rows() -> dict[tuple, list[str]]:
    text = resources.files("kmaps.maps.lowdim").joinpath("optimal.csv").read_text("utf-8")
    rows = {}
    for line in text.splitlines()[1:]:
        kernel, error, dim, ratio, values, *rest = line.split(",")
        rows[kernel, error, int(dim), float(ratio), values] = rest
    return rows


def table_rows(cases: Iterable[Case]) -> Iterator[str]:
    """Yield the table's line of each case (kernel, dim, ratio, values), as soon as it is found.

    The certificate is ``lower_bound``: no map of that many outputs has a smaller error.
    """
    for kernel, dim, ratio, values in cases:
        problem = Problem(kernel, float(ratio), values=values or None)
        solution = certified_optimum(problem.target(dim), dim)
        frequencies, weights = solution.cosines.ascending()
        columns = [
            kernel,
            "absolute",
            str(dim),
            str(ratio),
            values,
            f"{solution.error:.6e}",
            f"{solution.lower_bound:.6e}",
            " ".join(f"{omega:.16g}" for omega in frequencies),
            " ".join(f"{alpha:.16g}" for alpha in weights),
        ]
        yield ",".join(columns)


if __name__ == "__main__":
    print(",".join(COLUMNS))
    kinds = [*((ratio, "") for ratio in RATIOS), OF_BYTES]
    for kernel, dim, (ratio, values) in product(TABULATED, DIMS, kinds):
        for row in table_rows([(kernel, dim, ratio, values)]):
            print(row, flush=True)
