r"""Exact kernel matrices: additive, exponential and Euclidean, dense or sparse.

With the scalar kernels :math:`k` of :mod:`kmaps.kernels` and their metrics (hkm eq. 8),

.. math::
    K(x, y) = \sum_j k(x_j, y_j), \qquad D^2(x, y) = K(x, x) + K(y, y) - 2 K(x, y),

this module computes K, D² and :math:`\exp(-D^2 / 2\sigma^2)` (genrbf eq. 12). The linear kernel is
the 2-homogeneous hellinger kernel, the Euclidean distance its metric, and rbf its exponential.

D² is summed itself, feature by feature, by a formula in which nothing cancels; between sparse rows
only where the difference above loses digits. Results are float32.
Terms are float32 too, of data scaled by a power of two, unless that lacks the range or the digits;
long sums are kept in float64.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kmaps._loops import entries as loops
from kmaps._loops.gram import exponents
from kmaps.checks import check_positive, room_for_rows
from kmaps.errors import ColumnNote, ConfigError, InputError
from kmaps.gram_sums import products_with_itself, sums_of
from kmaps.kernels import EXP_KERNELS, GRAM_KERNELS, WIDTH_KERNELS, ScalarKernel, check_kernel
from kmaps.matrices import AnyMatrix, largest_column
from kmaps.sample_matrix import SampleMatrix
from kmaps.thread_pool import for_blocks

# A block holds 32 MB of data as float64 at most, and with a panel 8 MB of results.
_BLOCK_VALUES = 2**22
_BLOCK_ROWS = 2**12
# Times σ²: up to this K(y, y), a difference has enough digits for the exponential. A larger K(x, x)
# loses more of them, but makes the exponential itself small.
_WIDE = 8
_LEAST = 1e-5  # the least part of K(x, x) + K(y, y) that has digits in single precision

_FEWEST_ROWS = 20  # among fewer, a row that moves their mean need be no outlier
_MOVES_MEAN = 0.2  # by which part of the mean D² an outlier moves it

_NEAR_ROWS = 64  # rows whose distances are compared with the rounding of their kernel
_NEAR = 16 * float(np.finfo(np.float32).eps)  # part of K(x, x) that a smaller D² is lost in


def gram(
    X: ArrayLike | sparse.sparray,
    Y: ArrayLike | sparse.sparray | None = None,
    *,
    kernel: str | ScalarKernel = "chi2",
    gamma: float = 1.0,
    sigma: float | None = None,
) -> NDArray[np.float32]:
    r"""Return the kernel matrix of the rows of X and Y.

    Additive kernels (chi2, intersection, js, hellinger) are
    :math:`\sum_j \mathrm{sign}(x_j y_j)\, |x_j y_j|^{\gamma/2}\, \mathcal{K}(\log |y_j / x_j|)`
    (hkm eq. 2-3 and Lemma 2), linear is :math:`x^\top y`; exp-chi2, exp-intersection, exp-js,
    exp-hellinger and rbf are :math:`\exp(-D^2(x, y) / 2\sigma^2)` with the metric of that kernel
    (genrbf eq. 12), Euclidean for rbf.

    Parameters
    ----------
    X, Y : array or CSR of shape (n, d) and (m, d), any real dtype
        Samples. Y is X by default, at half the work, and the result is exactly symmetric.
    kernel : str or callable
        One of :data:`kmaps.kernels.GRAM_KERNELS`; or any positive semi-definite ``k(x, y)``,
        elementwise on arrays: a function, or a `kmaps.TableKernel`. Its sum over the features is
        additive; with ``sigma`` it is the metric of an exponential kernel.
    gamma : float
        Degree of homogeneity of the additive kernel, or of the metric's kernel; positive.
    sigma : float, optional
        Width of an exponential kernel or of rbf, in the unit of D. By default σ² is
        :func:`mean_squared_distance` of X; a test matrix needs the σ of its training rows.

    Returns
    -------
    float32 array of shape (n, m)
        Entries are accurate to about 1e-6 of their upper bound, :math:`\sqrt{K(x,x) K(y,y)}`.

    Raises
    ------
    InputError, ConfigError
        For data that are not a finite real matrix, of different widths, or too large for float32;
        also for a kernel with a negative eigenvalue on up to 256 of the values.

    Warns
    -----
    ColumnNote
        Where an additive kernel of X alone differs between most rows by less than its rounding,
        because of a column whose values are far from zero and vary little.

    Examples
    --------
    >>> gram([[1, 3, 0]], [[1, 1, 5], [0, 0, 2]])
    array([[2.5, 0. ]], dtype=float32)
    """
    if callable(kernel):
        if gamma != 1:
            raise ConfigError(f"gamma={gamma!r}: a user's kernel has no gamma; leave it out")
        if sigma is not None:
            check_positive("sigma", sigma)
        from kmaps.mercer import user_gram

        rows, columns = _check_pair(X, Y)
        return user_gram(kernel, rows, columns, sigma)
    return _named_gram(X, Y, kernel, gamma, sigma)


def quick_gram(
    X: AnyMatrix,
    Y: AnyMatrix | None = None,
    *,
    kernel: str,
    gamma: float = 1.0,
    sigma: float | None = None,
) -> NDArray[np.float32]:
    """Return :func:`gram`; exponentials from differences that leave errors of 2e-6 at most.

    They take less time where many values are zero; rbf and exp-hellinger of dense rows become
    matrix products; exp-intersection of rows of bytes, or of bytes over 255, is summed by bytes.
    """
    return _named_gram(X, Y, kernel, gamma, sigma, quick=True)


def _named_gram(
    X: AnyMatrix,
    Y: AnyMatrix | None,
    kernel: str,
    gamma: float,
    sigma: float | None,
    *,
    quick: bool = False,
) -> NDArray[np.float32]:
    base = _base_kernel(kernel, gamma)
    rows, columns = _check_pair(X, Y)
    if kernel not in WIDTH_KERNELS:
        if sigma is not None:
            raise ConfigError(f"kernel {kernel!r} has no sigma, only rbf and the exp- kernels do")
        if columns is None:
            _warn_of_rounding(rows, base)
        return _GramPairs(rows, columns, base, "kernel").matrix()
    if sigma is None:
        sigma = width_of(_mean_distance(rows, base, 1000, 0))
    else:
        check_positive("sigma", sigma)
    least_part = None
    if quick:
        # With K(x, x) = r σ² an error grows as r · exp(-part · r), which is largest at e · _WIDE.
        largest = _own_products(rows if columns is None else columns, base[1]).max()
        r = np.clip(largest / sigma / sigma, _WIDE, np.e * _WIDE)
        least_part = max(float(np.log(r / _WIDE) / r), _LEAST)
    return _GramPairs(rows, columns, base, "exponential", least_part, sigma, quick).matrix()


def _warn_of_rounding(rows: SampleMatrix, base: tuple[str, float]) -> None:
    """Name the column that leaves no digits of the others in an additive kernel's matrix.

    Its values are far from zero and vary little: a constant, say, or a time stamp. D² cancels them,
    and shows what the matrix has to tell apart.
    """
    if len(rows) < _FEWEST_ROWS or rows.largest == 0:
        return
    # Scaled, since D² may overflow where K does not.
    drawn = rows.draw(_NEAR_ROWS, 0).matrix
    scaled = SampleMatrix.check(drawn.astype(np.float64) / rows.largest, "X")
    squared = _GramPairs(scaled, None, base, "distance").matrix()
    distances = squared[squared > 0]  # of rows that differ
    size = float(np.median(_own_products(scaled, base[1])))
    # Medians, because one far row spoils no other pair.
    if not len(distances) or np.median(distances) >= _NEAR * size:
        return
    warnings.warn(
        ColumnNote(
            "in the kernel matrix, single precision leaves hardly any digits of the differences "
            "between rows, because of {}, which is far from zero and varies little: leave it out, "
            "or subtract its smallest value",
            [largest_column(scaled.matrix)],
        ),
        stacklevel=4,
    )


def _own_products(
    rows: SampleMatrix, gamma: float, factor: float = 1.0, dtype: type = np.float64
) -> NDArray[np.float64]:
    """Return K(x, x) of every row times a factor, which is the sum of |x| to gamma."""

    def sums(start: int, stop: int) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):  # overflow is refused elsewhere
            return products_with_itself(rows.block(start, stop, factor, dtype), gamma)

    return np.concatenate(for_blocks(sums, len(rows), max(int(2**16 / rows.stored_per_row), 1)))


def squared_distance(
    X: ArrayLike | sparse.sparray,
    Y: ArrayLike | sparse.sparray | None = None,
    *,
    kernel: str = "chi2",
    gamma: float = 1.0,
) -> NDArray[np.float32]:
    r"""Return the squared distances :math:`D^2 = K(x,x) + K(y,y) - 2K(x,y)` (hkm eq. 8).

    For non-negative rows: chi2 :math:`\sum (x-y)^2/(x+y)`, intersection :math:`\|x-y\|_1`, js the
    Jensen-Shannon divergence in bits, hellinger :math:`\|\sqrt x - \sqrt y\|^2`, linear and rbf
    :math:`\|x-y\|^2`.

    Parameters
    ----------
    X, Y : array or CSR of shape (n, d) and (m, d), any real dtype
        Samples. Y is X by default, at half the work, and the result is exactly symmetric.
    kernel : str
        One of :data:`kmaps.kernels.GRAM_KERNELS`; an exp- kernel stands for its metric.
    gamma : float
        Degree of homogeneity of the metric's kernel; positive.

    Returns
    -------
    float32 array of shape (n, m)
        Each entry has a relative error of about 1e-6, however near the rows are to each other, and
        the diagonal is zero when Y is left out. With hellinger, and with gamma other than 1, powers
        are rounded to float64: there values must differ by a relative 1e-9.

    Raises
    ------
    InputError, ConfigError
        As :func:`gram`.

    Examples
    --------
    >>> squared_distance([[1.0, 3.0]], [[1.0, 1.0]], kernel="intersection")
    array([[2.]], dtype=float32)
    """
    base = _base_kernel(kernel, gamma)
    rows, columns = _check_pair(X, Y)
    return _GramPairs(rows, columns, base, "distance").matrix()


def mean_squared_distance(
    X: ArrayLike | sparse.sparray,
    *,
    kernel: str = "chi2",
    gamma: float = 1.0,
    sample: int = 1000,
    seed: int = 0,
    robust: bool = False,
) -> float:
    """Return the mean D² over all pairs of different rows among ``sample`` drawn ones of X.

    It is the usual σ² of an exponential kernel, and the default one of :func:`gram`. A row that
    alone makes it more than 20 % larger is warned of; ``robust`` leaves such rows out.
    """
    base = _base_kernel(kernel, gamma)
    return _mean_distance(SampleMatrix.check(X, "X"), base, sample, seed, robust)


def width_of(mean: float) -> float:
    """Return the σ whose square is a mean D², or refuse rows that are all alike (InputError)."""
    if not mean > 0:
        raise InputError("sigma cannot be estimated from equal rows: give sigma")
    return float(mean**0.5)


def _mean_distance(
    rows: SampleMatrix, base: tuple[str, float], sample: int, seed: int, robust: bool = False
) -> float:
    drawn_rows = rows.draw(sample, seed)
    n = len(drawn_rows)
    if n < 2:
        raise InputError("n_samples=1: sigma needs distances between samples: give sigma")
    squared = _GramPairs(drawn_rows, None, base, "distance").matrix()
    mean = _mean_of_pairs(squared)
    outliers, mean_of_others = _outliers(squared)
    if not outliers or not mean_of_others > 0:
        return mean
    row = rows.drawn(sample, seed)[outliers[0]]
    others = "" if len(outliers) == 1 else f" (so do {len(outliers) - 1} others)"
    remedy = "the width starts without it" if robust else "leave it out, or give sigma"
    warnings.warn(
        f"row {row} of X alone makes the mean squared distance between rows, from which the width "
        f"comes, more than {_MOVES_MEAN:.0%} larger{others}; with all such rows it is "
        f"{mean / mean_of_others:.3g} times as large: {remedy}",
        stacklevel=4,
    )
    return mean_of_others if robust else mean


def _outliers(squared: NDArray[np.float32]) -> tuple[list[int], float]:
    """Return the rows that each make the mean D² more than a fifth larger, and the mean without.

    The farthest row is left out, and then the farthest of the others, as long as there is such a
    row. Among few rows each counts for much, and none is one.
    """
    outliers: list[int] = []
    rows = np.arange(len(squared))
    mean = _mean_of_pairs(squared)
    while len(rows) >= _FEWEST_ROWS:
        farthest = int(squared.sum(axis=1, dtype=float).argmax())
        # Sums without a row are no differences of sums, in which far rows leave no digits.
        others = np.delete(np.delete(squared, farthest, axis=0), farthest, axis=1)
        without = _mean_of_pairs(others)
        if not mean > (1 + _MOVES_MEAN) * without:
            break
        outliers.append(int(rows[farthest]))
        rows = np.delete(rows, farthest)
        squared = others
        mean = without
    return outliers, mean


def _mean_of_pairs(squared: NDArray[np.float32]) -> float:
    """Return the mean over all pairs of different rows."""
    n = len(squared)
    return float(squared.sum(dtype=float) / (n * (n - 1)))


def _check_pair(X: AnyMatrix, Y: AnyMatrix | None) -> tuple[SampleMatrix, SampleMatrix | None]:
    rows = SampleMatrix.check(X, "X")
    columns = None if Y is None else SampleMatrix.check(Y, "Y")
    if columns is not None and columns.n_features != rows.n_features:
        raise InputError(
            f"X has {rows.n_features} features and Y has {columns.n_features}: give equal widths"
        )
    return rows, columns


def _base_kernel(kernel: str, gamma: float) -> tuple[str, float]:
    """Return the additive kernel behind a name, and its degree of homogeneity."""
    check_kernel(kernel, GRAM_KERNELS)
    check_positive("gamma", gamma)
    if kernel in ("linear", "rbf"):
        if gamma != 1:
            raise ConfigError(f"kernel {kernel!r} has no gamma, got {gamma!r}")
        return "hellinger", 2.0
    return EXP_KERNELS.get(kernel, kernel), float(gamma)


class _GramPairs:
    """K, D² or exp(-D²/2σ²) between all rows of X and all rows of Y, or of X again.

    The data are scaled by a power of two, which loses no digit and, the kernel being homogeneous,
    is undone on the result.
    """

    def __init__(
        self,
        X: SampleMatrix,
        Y: SampleMatrix | None,
        base: tuple[str, float],
        form: str,
        least_part: float | None = None,
        sigma: float = 0.0,
        quick: bool = False,
    ) -> None:
        kernel, self.gamma = base
        self.X = X
        self.Y = X if Y is None else Y
        self.symmetric = Y is None
        self.form = form
        largest = max(self.X.largest, self.Y.largest)
        # Below 2^-900 everything is zero in float32, whatever the factor.
        exponent = max(int(np.frexp(largest)[1]), -900)
        # D² is at most four times the largest K; its exponential needs it in float64 only.
        limit = {"kernel": 127, "distance": 125, "exponential": 1000}[form]
        if np.log2(X.n_features) + self.gamma * exponent > limit:
            raise InputError(
                f"values as large as {largest:.3g} overflow the kernel matrix: scale the data down"
            )
        self.sigma = sigma
        self.sums = sums_of(
            kernel,
            self.gamma,
            self.X,
            self.Y,
            distance=form != "kernel",
            least_part=least_part,
            sigma=sigma if quick else 0.0,
        )
        power = min(np.log2(self.sums.largest) - exponent, 1000)
        self.factor = 2.0**power
        self.unit = float(np.exp2(-self.gamma * power))

    def matrix(self) -> NDArray[np.float32]:
        """Compute the matrix: a block of rows against one panel of columns after the other."""
        out = room_for_rows(len(self.X), len(self.Y), np.float32, "kernel values")
        if self.symmetric or _walking_cost(self.X, self.Y) <= _walking_cost(self.Y, self.X):
            rows = self.X
            columns = self.Y
            target = out
        else:
            rows = self.Y
            columns = self.X
            target = out.T
        # The diagonal: K(x, x), a distance of 0, or its exponential.
        diagonal: NDArray = np.full(len(rows), float(self.form == "exponential"))
        if self.symmetric and self.form == "kernel":
            diagonal = _own_products(rows, self.gamma, self.factor, self.sums.dtype) * self.unit
        step, panel = _block_sizes(rows, columns)

        def fill(left: int, right: int) -> None:
            others = self._pack(columns, left, right)
            block = self.sums(walked, others, left - start if self.symmetric else -right)
            if self.form == "exponential":
                block = exponents(block, self.unit, self.sigma)
                np.exp(block, out=block)
            else:
                block *= self.unit
            if self.symmetric:
                _store_symmetric(target, block, start, left, diagonal[left:right])
            else:
                target[start:stop, left:right] = block

        with self.sums.context():
            for start in range(0, len(rows), step):
                stop = min(start + step, len(rows))
                walked = self._pack(rows, start, stop)
                for_blocks(fill, stop if self.symmetric else len(columns), panel)
        return out

    def _pack(self, rows: SampleMatrix, start: int, stop: int) -> Any:
        return self.sums.pack(rows.block(start, stop, self.factor, self.sums.dtype))


def _walking_cost(walked: SampleMatrix, others: SampleMatrix) -> float:
    """Return the vector operations that a compiled loop spends."""
    return walked.filled_per_row * len(walked) * -(-len(others) // loops.LANES)


def _block_sizes(rows: SampleMatrix, columns: SampleMatrix) -> tuple[int, int]:
    """Return how many rows make a block, and how many columns a panel, a divisor of it."""
    n_columns = min(_BLOCK_VALUES / columns.stored_per_row, len(columns) / 16, 4 * loops.LANES)
    panel = max(int(n_columns) // loops.LANES, 1) * loops.LANES
    n_rows = min(_BLOCK_VALUES / rows.stored_per_row, _BLOCK_ROWS)
    block = max(int(n_rows) // panel, 1) * panel
    return block, panel


def _store_symmetric(
    target: NDArray, block: NDArray, start: int, left: int, diagonal: NDArray
) -> None:
    """Write the part of a block on and below the diagonal, and its mirror image."""
    first = start
    right = left + block.shape[1]
    if start <= left:
        square = np.tril(block[left - start : right - start], -1)
        square += square.T
        np.fill_diagonal(square, diagonal)
        target[left:right, left:right] = square
        first = right
    below = block[first - start :]
    target[first : start + len(block), left:right] = below
    for i in range(0, len(below), loops.LANES):  # a strip that stays in a core's cache
        strip = below[i : i + loops.LANES]
        target[left:right, first + i : first + i + len(strip)] = strip.T
