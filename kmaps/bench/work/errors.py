r"""How well the inner products of a map match a kernel: on pairs, over ratios, over differences.

.. math::
    \epsilon(x, y) = \langle\hat\psi(x), \hat\psi(y)\rangle - k(x, y)

divided by k(x, y) for relative errors. A homogeneous kernel is determined by the ratio of its
inputs, :math:`k(x, y) = y\,k(x/y, 1)`, so that its error for inputs up to 1 is taken over the
ratios y/x with y = 1. A stationary kernel is determined by the difference of its inputs; its error
is taken between a grid of points and the corners of the box, which have all differences.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.bench.run.clock import UNTIMED, Timing
from kmaps.errors import ConfigError
from kmaps.kernels import STATIONARY, Kernel
from kmaps.maps import homogeneous_kernel

POINTS = 256  # values on each side of the square, if the range is not of integers

SPAN_POINTS = {1: 20_001, 2: 401, 3: 61}  # along each axis, by the number of inputs
_BLOCK = 20_000  # points encoded at once


@dataclass(frozen=True)
class Range:
    """An interval of values, or the integers in it."""

    low: float
    high: float
    integers: bool = False

    @classmethod
    def parse(cls, text: str, integers: bool = False) -> "Range":
        """Return the range that a text such as ``0:255`` means."""
        try:
            low, high = map(float, text.split(":"))
        except ValueError:
            low = high = np.nan
        if not (np.isfinite([low, high]).all() and low < high):
            raise ConfigError(f"range {text!r}: expected LOW:HIGH with LOW < HIGH, such as 0:255")
        return cls(low, high, integers)

    def values(self, points: int = POINTS) -> NDArray[np.float64]:
        """Return values of the range: all integers, or as many points at equal distances."""
        if self.integers:
            return np.arange(np.ceil(self.low), np.floor(self.high) + 1)
        return np.linspace(self.low, self.high, points)

    def __str__(self) -> str:
        return f"{self.low:g}:{self.high:g}{' (integers)' if self.integers else ''}"


@dataclass(frozen=True)
class Errors:
    """A kernel and its approximation on some pairs, by a map with ``dim`` outputs per sample.

    With ``relative``, errors are divided by the kernel; pairs where it is zero then count as exact
    when the approximation is zero as well, else as infinite.
    """

    exact: NDArray[np.float64]
    approximate: NDArray[np.float64]
    dim: int
    relative: bool = False

    @cached_property
    def error(self) -> NDArray[np.float64]:
        """The differences of the map's inner products from the kernel, pair by pair."""
        error = self.approximate - self.exact
        if not self.relative:
            return error
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(error == 0, 0, error / self.exact)

    @property
    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """The arrays that figures need."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    @property
    def linf(self) -> float:
        """The largest error, in absolute value."""
        return float(np.abs(self.error).max())

    @property
    def l1(self) -> float:
        """The mean absolute error."""
        return float(np.abs(self.error).mean())

    @property
    def rms(self) -> float:
        """The root mean square error."""
        return float(np.sqrt(np.mean(self.error**2)))


@dataclass(frozen=True, kw_only=True)
class SquareErrors(Errors):
    """A kernel and its approximation on all pairs of n values, as arrays (n, n)."""

    values: NDArray[np.float64]

    @property
    def largest(self) -> float:
        """The largest of the values, in absolute value."""
        return float(np.abs(self.values).max())

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
    """Fit a map on one feature and compare its inner products with the kernel on pairs of values.

    ``sigma`` is the width of a stationary kernel; a map that learns does so from ``fit_values``, by
    default the values; the timing notes ``fit_s``.
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
    """Return the outputs of a map as a dense float64 array."""
    from scipy.sparse import issparse  # slow to import, and experiments without it are read too

    encoded = feature_map.transform(X)
    return encoded.toarray() if issparse(encoded) else np.asarray(encoded)


@dataclass(frozen=True)
class Span:
    """An interval of ratios y/x, or of differences y - x, the inputs of which may be ``levels``
    equally spaced values: then only their errors count."""

    variable: str  # "ratios" or "differences"
    low: float
    high: float
    levels: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Span":
        """Read ``ratios LOW:HIGH``, ``differences 0:HIGH`` or ``differences 0:HIGH:LEVELS``."""
        variable, _, rest = text.partition(" ")
        counted = re.fullmatch(r"(.+:.+):([1-9]\d*)", rest) if variable == "differences" else None
        ends = Range.parse(counted[1] if counted else rest)
        levels = int(counted[2]) if counted else None
        if variable == "ratios" and ends.low < 1:
            raise ConfigError(f"range {text!r}: expected ratios LOW:HIGH with LOW at least 1")
        if variable == "differences" and (ends.low != 0 or levels == 1):
            raise ConfigError(f"range {text!r}: expected differences 0:HIGH or 0:HIGH:LEVELS")
        return cls(variable, ends.low, ends.high, levels)

    def values(self, inputs: int = 1) -> NDArray[np.float64]:
        """Return the values of the span, for as many inputs."""
        if self.variable == "ratios":
            return np.geomspace(self.low, self.high, SPAN_POINTS[1])
        return np.linspace(self.low, self.high, self.levels or SPAN_POINTS[inputs])


def parse_range(text: str, integers: bool = False) -> Range | Span:
    """Read ``LOW:HIGH``, the values of both inputs, or a :class:`Span`."""
    variable = text.partition(" ")[0]
    if variable.isalpha() and variable not in ("ratios", "differences"):
        raise ConfigError(f"range {text!r}: expected LOW:HIGH, ratios LOW:HIGH, differences 0:HIGH")
    return Span.parse(text) if variable.isalpha() else Range.parse(text, integers)


@dataclass(frozen=True, kw_only=True)
class SpanErrors(Errors):
    """A kernel and its approximation over ratios or differences.

    ``exact`` and ``approximate`` have shape ``(corners, len(values), …)``: an entry for each corner
    of the box and point of the grid; ``values`` are the ratios, or the differences along each axis.
    There is one corner, 0, for ratios and for one input.
    """

    variable: str  # "ratios" or "differences"
    values: NDArray[np.float64]
    corners: NDArray[np.float64]

    @property
    def largest(self) -> float:
        """The largest input: 1 of ratios, the end of the box of differences."""
        return 1.0 if self.variable == "ratios" else float(self.values[-1])

    @property
    def worst(self) -> tuple[float, ...]:
        """The ratio, or the difference, with the largest error."""
        corner, *point = np.unravel_index(np.abs(self.error).argmax(), self.error.shape)
        return tuple(float(value) for value in self.values[list(point)] - self.corners[corner])


def over_ratios(
    feature_map: Any,
    kernel: Kernel,
    span: Span,
    *,
    relative: bool = False,
    timing: Timing = UNTIMED,
) -> SpanErrors:
    """Fit a map on inputs from 1/``span.high`` to 1 and compare it with a homogeneous kernel."""
    ratios = span.values()
    x = 1 / ratios
    y = np.ones((1, 1))
    with timing.timed("fit_s"):
        feature_map.fit(np.array([[1 / span.high], [1.0]]))
    encoded = encode(feature_map, x[:, None])
    approximate = encode(feature_map, y) @ encoded.T
    exact = kernel(x, 1.0)[None, :]
    return SpanErrors(
        exact,
        approximate,
        encoded.shape[1],
        relative,
        variable=span.variable,
        values=ratios,
        corners=np.zeros((1, 1)),
    )


def over_differences(
    feature_map: Any,
    signature: Callable[[NDArray], NDArray],
    span: Span,
    *,
    inputs: int = 1,
    relative: bool = False,
    timing: Timing = UNTIMED,
) -> SpanErrors:
    r"""Fit a map on the box of 1 to 3 inputs in [0, HIGH] and compare it with its kernel,
    :math:`\prod_i k(y_i - x_i)` with the signature k."""
    axis = span.values(inputs)
    points = np.stack(np.meshgrid(*[axis] * inputs, indexing="ij"), axis=-1).reshape(-1, inputs)
    # Opposite differences have the same value, so one input of x may stay 0.
    ends = [(0.0,)] + [(0.0, span.high)] * (inputs - 1)
    corners = np.array(list(product(*ends)))
    with timing.timed("fit_s"):
        feature_map.fit(np.array([[0.0] * inputs, [span.high] * inputs]))
    at_corners = encode(feature_map, corners)
    blocks = [points[i : i + _BLOCK] for i in range(0, len(points), _BLOCK)]
    shape = len(corners), *[len(axis)] * inputs
    approximate = np.hstack([at_corners @ encode(feature_map, block).T for block in blocks])
    exact = np.array([signature(points - corner).prod(axis=1) for corner in corners])
    return SpanErrors(
        exact.reshape(shape),
        approximate.reshape(shape),
        at_corners.shape[1],
        relative,
        variable=span.variable,
        values=axis,
        corners=corners,
    )
