r"""The periods that ``HomogeneousMap(period="auto")`` has, and the search that found them.

The published fits (hkm Sect. 5.1) minimise the largest error of a map, and give each order a period
by a curve that is smooth in the order. With the rectangular window they make a negative coefficient
of most even orders, which is cut, so that the outputs of that harmonic are lost. The table has, for
each kernel, window and order, the period with the least root mean square error of the kernel on
:math:`\{0, \dots, 255\}^2`, among those whose mean error :math:`|\hat K - K|` of pairs of rows is
at most that of the published period, on the rows of each of several datasets; where there is none,
the published one.

``python -m kmaps.maps.periods ROWS.npy ... > periods.csv`` makes the table, in minutes, from files
with the rows of a dataset each; the page *Periods* of the documentation names the files. Put the
table into this folder.
"""

import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kmaps.kernels import Kernel, get_kernel
from kmaps.maps import signatures

KERNELS = ("chi2", "js", "intersection")  # hellinger is one term, for which any period is right
WINDOWS = ("rectangular", "uniform")
ORDERS = range(13)
COLUMNS = (
    "kernel",
    "window",
    "order",
    "period",
    "rms",
    "largest",
    "published_period",
    "published_rms",
    "published_largest",
    "limited_by",
)

_N_ROWS = 100  # drawn from each file
_CANDIDATES = np.round(np.arange(100, 4501) * 0.01, 2)
_BIN = 0.005  # of log-ratios: errors of rows are interpolated between its multiples
_BATCH = 64  # periods whose errors of rows are computed at once
_ROUNDING = 1e-9  # an error that is larger by this part is the same


def tabulated_period(kernel: Kernel, order: int, window: str) -> float | None:
    """Return the period of the table.

    Parameters
    ----------
    kernel : Kernel
        A homogeneous kernel.
    order : int
        The number of harmonics.
    window : {"rectangular", "uniform"}
        The window.

    Returns
    -------
    float or None
        The period in units of log x, or None where the table has none.
    """
    return _periods().get((kernel.name, window, order))


@cache
def _periods() -> dict[tuple[str, str, int], float]:
    text = resources.files("kmaps.maps").joinpath("periods.csv").read_text("utf-8")
    return {
        (row["kernel"], row["window"], int(row["order"])): float(row["period"])
        for row in csv.DictReader(text.splitlines())
    }


def byte_errors(kernel: Kernel, order: int, window: str, period: float) -> tuple[float, float]:
    r"""Return the errors of a map's kernel on :math:`\{0, \dots, 255\}^2`.

    Parameters
    ----------
    kernel : Kernel
        The kernel that is approximated.
    order : int
        The number of harmonics.
    window : {"rectangular", "uniform"}
        The window.
    period : float
        The period in units of log x.

    Returns
    -------
    rms : float
        The root of the mean square of the error.
    largest : float
        The largest error in size.
    """
    lam, products, largest_product = _byte_ratios()
    error = _signature_error(kernel, order, window, period, lam)
    rms = np.sqrt(products @ error**2) / 256
    return float(rms), float((np.sqrt(largest_product) * np.abs(error)).max())


@cache
def _byte_ratios() -> tuple[NDArray, NDArray, NDArray]:
    """Return the log-ratios of 1 … 255, and the sum and the largest of the products xy of each.

    A homogeneous kernel errs by the root of the product times the signature's error, and not at 0.
    """
    x, y = np.divmod(np.arange(256**2), 256)
    is_pair = (x > 0) & (y > 0)
    x = x[is_pair]
    y = y[is_pair]
    ratios, place = np.unique(np.maximum(x, y) / np.minimum(x, y), return_inverse=True)
    largest = np.zeros(len(ratios))
    np.maximum.at(largest, place, x * y)
    return np.log(ratios), np.bincount(place, x * y), largest


def _signature_error(
    kernel: Kernel, order: int, window: str, period: float, lam: NDArray
) -> NDArray:
    spectrum = signatures.discrete_spectrum(kernel, order, period, window)
    return signatures.series(spectrum, period, lam) - kernel.signature(lam)


@dataclass(frozen=True, eq=False)
class RowPairs:
    """The pairs of some rows: how much the signature's error at each log-ratio adds to a kernel.

    ``weights`` (pairs, bins) times the error of the signature at multiples of `_BIN` is the error
    of the kernel of each pair; ``times`` (pairs,) is how often a pair occurs in a matrix of all.
    """

    name: str
    weights: NDArray
    times: NDArray

    @classmethod
    def of(cls, name: str, rows: NDArray) -> "RowPairs":
        """Return the pairs of rows (n, d) that are not negative."""
        positive = rows[rows > 0]
        n_bins = int(np.log(positive.max() / positive.min()) / _BIN) + 2
        first, second = np.triu_indices(len(rows))
        weights = np.zeros((len(first), n_bins))
        for pair, (i, j) in enumerate(zip(first, second, strict=True)):
            adds = (rows[i] > 0) & (rows[j] > 0)
            x = rows[i, adds]
            y = rows[j, adds]
            place = np.abs(np.log(y / x)) / _BIN
            below = place.astype(np.intp)
            fraction = place - below
            weights[pair] += np.bincount(below, np.sqrt(x * y) * (1 - fraction), n_bins)
            weights[pair] += np.bincount(below + 1, np.sqrt(x * y) * fraction, n_bins)
        return cls(name, weights, np.where(first == second, 1, 2))

    def mean_errors(
        self, kernel: Kernel, order: int, window: str, periods: Sequence[float]
    ) -> NDArray:
        """Return the mean of the kernel's error in size over the pairs, for each period."""
        lam = _BIN * np.arange(self.weights.shape[1])
        means = [np.empty(0)]
        for start in range(0, len(periods), _BATCH):
            batch = periods[start : start + _BATCH]
            columns = [_signature_error(kernel, order, window, period, lam) for period in batch]
            errors = np.abs(self.weights @ np.stack(columns, axis=1))
            means.append(self.times @ errors / self.times.sum())
        return np.concatenate(means)


def _best_row(
    datasets: Sequence[RowPairs], name: str, window: str, order: int, lower: Sequence[float]
) -> dict[str, object]:
    """Return an entry of the table, where ``lower`` are the periods of lower orders."""
    kernel = get_kernel(name)
    published = signatures.default_period(kernel, order, window)
    candidates = np.r_[_CANDIDATES, lower]
    squares = _byte_squares(kernel, order, window, [published, *candidates])
    is_less = squares[1:] < (1 - _ROUNDING) * squares[0]
    ranked = candidates[is_less][np.argsort(squares[1:][is_less], kind="stable")]
    least = ranked[:1]
    limited_by = []
    for pairs in datasets:
        allowed = pairs.mean_errors(kernel, order, window, [published])[0]
        if (pairs.mean_errors(kernel, order, window, least) > allowed).any():
            limited_by.append(pairs.name)
        ranked = ranked[pairs.mean_errors(kernel, order, window, ranked) <= allowed]
    period = float(ranked[0]) if len(ranked) else published
    rms, largest = byte_errors(kernel, order, window, period)
    published_rms, published_largest = byte_errors(kernel, order, window, published)
    return {
        "kernel": name,
        "window": window,
        "order": order,
        "period": str(period),  # all digits: the published one has to be just that
        "rms": f"{rms:.4g}",
        "largest": f"{largest:.4g}",
        "published_period": str(published),
        "published_rms": f"{published_rms:.4g}",
        "published_largest": f"{published_largest:.4g}",
        "limited_by": " ".join(limited_by),
    }


def _byte_squares(kernel: Kernel, order: int, window: str, periods: Sequence[float]) -> NDArray:
    """Return the mean squares of `byte_errors` for many periods, interpolated between bins."""
    ratios, products, _ = _byte_ratios()
    place = ratios / _BIN
    below = place.astype(np.intp)
    fraction = place - below
    weights = np.bincount(below, products * (1 - fraction))
    weights = np.append(weights, 0) + np.bincount(below + 1, products * fraction, len(weights) + 1)
    lam = _BIN * np.arange(len(weights))
    return np.array(
        [
            weights @ _signature_error(kernel, order, window, period, lam) ** 2 / 256**2
            for period in periods
        ]
    )


def table_rows(datasets: Sequence[RowPairs]) -> Iterator[dict[str, object]]:
    """Yield the entries of the table, as soon as each is found."""
    for name, window in product(KERNELS, WINDOWS):
        lower: list[float] = []
        for order in ORDERS:
            row = _best_row(datasets, name, window, order, lower)
            lower.append(float(str(row["period"])))
            yield row


def _drawn(path: Path) -> RowPairs:
    rows = np.load(path, mmap_mode="r")
    chosen = np.random.default_rng(0).permutation(len(rows))[:_N_ROWS]
    return RowPairs.of(path.stem, np.asarray(rows[np.sort(chosen)], float))


if __name__ == "__main__":
    table = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    table.writeheader()
    for entry in table_rows([_drawn(Path(name)) for name in sys.argv[1:]]):
        table.writerow(entry)
        sys.stdout.flush()
