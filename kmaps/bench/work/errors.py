r"""How well the inner products of a map match a scalar kernel, on a square of pairs.

.. math::
    \epsilon(x, y) = \langle\hat\psi(x), \hat\psi(y)\rangle - k(x, y)

or, for relative errors, that divided by k(x, y).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.bench.work.timing import UNTIMED, Timing
from kmaps.errors import ConfigError
from kmaps.kernels import STATIONARY, Kernel
from kmaps.maps import homogeneous_kernel

POINTS = 256
"""Values on each side of the square, for a range that is not one of integers."""


@dataclass(frozen=True)
class Range:
    """An interval of values, or the integers in it.

    Examples
    --------
    >>> Range.parse("0:4", integers=True).values()
    array([0., 1., 2., 3., 4.])
    >>> Range.parse("1:0")
    Traceback (most recent call last):
    kmaps.errors.ConfigError: range '1:0': expected LOW:HIGH with LOW < HIGH, for example 0:255
    """

    low: float
    high: float
    integers: bool = False

    @classmethod
    def parse(cls, text: str, integers: bool = False) -> "Range":
        """Read ``LOW:HIGH``."""
        try:
            low, high = map(float, text.split(":"))
        except ValueError:
            low = high = np.nan
        if not (np.isfinite([low, high]).all() and low < high):
            raise ConfigError(
                f"range {text!r}: expected LOW:HIGH with LOW < HIGH, for example 0:255"
            )
        return cls(low, high, integers)

    def values(self, points: int = POINTS) -> NDArray[np.float64]:
        """Return the integers of the interval, or so many equally spaced values."""
        if self.integers:
            return np.arange(np.ceil(self.low), np.floor(self.high) + 1)
        return np.linspace(self.low, self.high, points)

    def __str__(self) -> str:
        return f"{self.low:g}:{self.high:g}{' (integers)' if self.integers else ''}"


@dataclass(frozen=True)
class Errors:
    """A kernel and its approximation on some pairs.

    Attributes
    ----------
    exact, approximate : ndarray, float64
        Of the same shape, with one entry per pair.
    dim : int
        Outputs of the map for one sample.
    relative : bool
        Whether errors are divided by the kernel; pairs where it is zero then count as exact when
        the approximation is zero as well, else as infinite.
    """

    exact: NDArray[np.float64]
    approximate: NDArray[np.float64]
    dim: int
    relative: bool = False

    @cached_property
    def error(self) -> NDArray[np.float64]:
        """The error at each pair."""
        error = self.approximate - self.exact
        if not self.relative:
            return error
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(error == 0, 0, error / self.exact)

    @property
    def linf(self) -> float:
        """The largest absolute error."""
        return float(np.abs(self.error).max())

    @property
    def l1(self) -> float:
        """The mean absolute error."""
        return float(np.abs(self.error).mean())

    @property
    def rms(self) -> float:
        """The root of the mean squared error."""
        return float(np.sqrt(np.mean(self.error**2)))


@dataclass(frozen=True, kw_only=True)
class SquareErrors(Errors):
    """A kernel and its approximation on all pairs of some values, as arrays (n, n).

    Attributes
    ----------
    values : ndarray (n,)
    """

    values: NDArray[np.float64]

    @property
    def largest(self) -> float:
        """The largest input in size."""
        return float(np.abs(self.values).max())

    @property
    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """What a figure of the errors needs, by name."""
        return {"values": self.values, "exact": self.exact, "approximate": self.approximate}

    @property
    def worst(self) -> tuple[float, float]:
        """The pair x ≤ y with the largest error."""
        pair = np.unravel_index(np.abs(self.error).argmax(), self.error.shape)
        return tuple(float(self.values[i]) for i in sorted(pair))


def approximate(
    feature_map: Any,
    kernel: str | Kernel,
    values: NDArray[np.float64],
    *,
    sigma: float = 1.0,
    fit_values: NDArray[np.float64] | None = None,
    relative: bool = False,
    timing: Timing = UNTIMED,
) -> SquareErrors:
    """Fit a map on one feature and compare its inner products with the kernel.

    Parameters
    ----------
    feature_map : transformer
        A map of :data:`kmaps.maps.MAPS`, unfitted.
    kernel : str or Kernel
        The additive or stationary kernel to compare with.
    values : ndarray (n,)
        Both members of every pair.
    sigma : float
        The width of a stationary kernel.
    fit_values : ndarray (m,), optional
        What the map learns from, where it does: by default ``values``.
    relative : bool
        Whether to divide errors by the kernel.
    timing : Timing
        Notes ``fit_s``, the seconds that fitting the map takes.

    Returns
    -------
    SquareErrors

    Examples
    --------
    >>> from kmaps import HomogeneousMap
    >>> result = approximate(HomogeneousMap(order=2), "chi2", np.arange(256.0))
    >>> result.dim, round(result.linf, 2), result.worst
    (5, 3.19, (255.0, 255.0))
    """
    with timing.timed("fit_s"):
        feature_map.fit((values if fit_values is None else fit_values)[:, None])
    encoded = encode(feature_map, values[:, None])
    if isinstance(kernel, str) and kernel in STATIONARY:
        exact = STATIONARY[kernel](sigma)(values[:, None] - values)
    else:
        exact = homogeneous_kernel(kernel)(values[:, None], values)
    return SquareErrors(exact, encoded @ encoded.T, encoded.shape[1], relative, values=values)


def encode(feature_map: Any, X: NDArray) -> NDArray:
    """Return the outputs of a fitted map as a dense array."""
    from scipy.sparse import issparse  # slow to import, and files of experiments need none

    encoded = feature_map.transform(X)
    return encoded.toarray() if issparse(encoded) else np.asarray(encoded)
