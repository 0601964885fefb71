r"""Search the optimal maps that the package ships: six minutes on one core.

``python -m kmaps.maps.lowdim.make_table > optimal.csv``, and put it in this folder.
"""

from collections.abc import Iterable, Iterator
from itertools import product

from kmaps.maps.lowdim.optimal import certified_optimum
from kmaps.maps.lowdim.problem import Problem

TABULATED = ("chi2", "js", "intersection")
DIMS = (3, 5, 7)
RATIOS = sorted(
    (
        *(10, 20, 50, 100, 200, 500, 1000, 2000, 5000),
        *(10_000, 20_000, 50_000, 100_000),
        *(127, 128, 255, 256, 1023, 1024, 4095, 65_535),  # of 7, 8, 10, 12 and 16 bits
    )
)
COLUMNS = ("kernel", "error", "dim", "ratio", "max_error", "lower_bound", "frequencies", "weights")


def table_rows(cases: Iterable[tuple[str, int, int]]) -> Iterator[str]:
    """Yield the table's line of each case (kernel, dim, ratio), as soon as it is found.

    The certificate is ``lower_bound``: no map of that many outputs has a smaller error.
    """
    for kernel, dim, ratio in cases:
        solution = certified_optimum(Problem(kernel, float(ratio)).target(dim), dim)
        frequencies, weights = solution.cosines.ascending()
        texts = (" ".join(f"{value:.16g}" for value in row) for row in (frequencies, weights))
        bounds = f"{solution.error:.6e}", f"{solution.lower_bound:.6e}"
        yield ",".join([kernel, "absolute", str(dim), str(ratio), *bounds, *texts])


if __name__ == "__main__":
    print(",".join(COLUMNS))
    for row in table_rows(product(TABULATED, DIMS, RATIOS)):
        print(row, flush=True)
