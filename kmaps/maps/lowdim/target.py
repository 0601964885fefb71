r"""The target of an approximation: a signature, its interval or box, the weight of an error.

For a homogeneous kernel of inputs with a ratio of at most R between the largest and the smallest
non-zero one, :math:`\lambda = \log y/x` stays in [0, log R] and the error of the kernel is a
weighted error of its signature (ldefm Sect. 5):

=========  ==============================  =====================================================
error      weight w(λ)                     the largest w·|𝒦 - 𝒦̂| is the largest
=========  ==============================  =====================================================
absolute   :math:`e^{-\lambda/2}`          error of k(x, y), for inputs up to 1 (ldefm eq. 16)
relative   :math:`1/\mathcal{K}(\lambda)`  relative error of k(x, y) (ldefm eq. 18)
signature  1                               error of the signature itself
=========  ==============================  =====================================================

For a stationary kernel of inputs in [a, b], λ = y - x stays in [0, b - a] and absolute and
signature are the same. When the inputs are L equally spaced values (pixels, bins), only their L
differences matter.

When the inputs of a homogeneous kernel are a few given values, only the ratios of two of them
matter, and each weighs as much as its largest pair: an absolute error of the signature at λ = log
y/x is one of :math:`\sqrt{xy}` times as much of the kernel.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct
from scipy.optimize import minimize

from kmaps.checks import check_choice, present
from kmaps.errors import ConfigError
from kmaps.kernels import STATIONARY, Kernel
from kmaps.maps.lowdim.cosines import CosineSum
from kmaps.maps.parameters import Error, check_problem, problem_kind
from kmaps.maps.signatures import Function, check_signature, homogeneous_kernel

_POINTS_A_HALF_WAVE = 8  # on the linear programs' grid in one dimension, for the fastest cosine
_FINER = 10  # the true error is searched on a grid so many times finer
_LARGEST_BAND = 400  # half waves on the interval: with more, a linear program is too large
_TILE = {1: 1, 2: 3, 3: 2}  # points of a tile of the grid along each axis
_PEAKS = 30  # local maxima of the error that are refined, in several dimensions


@dataclass(frozen=True, eq=False)
class Target:
    """A signature to approximate on a box, and the weight of its errors there.

    ``signature`` and ``weight`` go from points (N, n) to values (N,); the box is ``low`` to
    ``high`` (n,), and ``low`` is 0 where k̂ is even in that variable alone. The programs have
    ``n_points`` along each axis and frequencies up to ``band`` half waves; with ``discrete``,
    errors count at the points only. ``line`` (N,), ascending, are the points in one dimension where
    they are neither equally spaced nor free.
    """

    signature: Function
    weight: Function
    low: NDArray
    high: NDArray
    n_points: int
    band: float
    discrete: bool = False
    line: NDArray | None = None

    @property
    def step(self) -> NDArray:
        """One half wave on each axis, the harmonic π/M (ldefm eq. 7)."""
        return np.pi / self.high

    def grid(self) -> NDArray:
        """Return the evaluation points (N, n): in one dimension denser towards both ends."""
        if self.line is not None:
            return self.line[:, None]
        if len(self.low) == 1 and not self.discrete:
            return self.high * (1 - np.cos(np.linspace(0, np.pi, self.n_points)))[:, None] / 2
        axes = self._axes(self.n_points)
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        # Tile by tile, so that points in succession are neighbours along every axis.
        tiles = np.indices([len(axis) for axis in axes]).reshape(len(axes), -1) // _TILE[len(axes)]
        return points[np.lexsort(tiles[::-1])]

    def thinned(self, step: int) -> NDArray:
        """Return every ``step``-th point, or of a given line the points that weigh most: (P, 1)."""
        if self.line is None:
            return self.grid()[::step]
        points = self.grid()
        return points[self._largest_of_stretches(self.weight(points), self.n_points // step)]

    def _largest_of_stretches(self, sizes: NDArray, n_stretches: int) -> NDArray:
        """Return the point with the largest size of each stretch of the line, as indices.

        The stretches are as wide as the steps of a free grid, narrower towards both ends.
        """
        line = present(self.line, "line")
        ends = self.high[0] * (1 - np.cos(np.linspace(0, np.pi, n_stretches + 1))) / 2
        stretch = np.searchsorted(ends, line)
        order = np.lexsort([-sizes, stretch])
        return order[np.unique(stretch[order], return_index=True)[1]]

    def quadrature(self, points: NDArray) -> NDArray:
        """Return each point's share of the box, in one dimension, for the L₁ norm."""
        middles = (points[1:, 0] + points[:-1, 0]) / 2
        return np.diff(np.r_[self.low, middles, self.high])

    def _axes(self, n_points: int) -> list[NDArray]:
        # An axis from -M to M is twice as long.
        sizes = [n_points * 2 - 1 if low < 0 else n_points for low in self.low]
        ends = zip(self.low, self.high, sizes, strict=True)
        return [np.linspace(low, high, size) for low, high, size in ends]

    def true_error(self, cosines: CosineSum, norm: str = "linf") -> float:
        """Return the error of an approximation between the points too (see `peaks`)."""
        if norm == "l1":
            size = self.n_points if self.discrete else _FINER * self.n_points + 1
            fine = np.linspace(self.low[0], self.high[0], size)[:, None]
            return float(self.quadrature(fine) @ np.abs(self.residual(cosines, fine)))
        return float(self.peaks(cosines)[1].max())

    def residual(self, cosines: CosineSum, points: NDArray) -> NDArray:
        """Return w·(k̂ - k) at points (N, n)."""
        n = points.shape[1]
        values = cosines(points[:, 0] if n == 1 else points)
        return self.weight(points) * (values - self.signature(points))

    def peaks(self, cosines: CosineSum) -> tuple[NDArray, NDArray]:
        """Return where w·|k̂ - k| has its local maxima (P, n), and those maxima (P,).

        They are found on a grid ten times finer than the grid of the linear programs and then
        climbed, so that no peak hides between the points; or on the points, if only these count.
        """
        if self.line is not None:
            points = self.grid()
            sizes = np.abs(self.residual(cosines, points))
            largest = self._largest_of_stretches(sizes, self.n_points)
            return points[largest], sizes[largest]
        if self.discrete:
            points = self.grid()
            return points, np.abs(self.residual(cosines, points))
        if len(self.low) == 1:
            return self._peaks_on_line(cosines)
        axes = self._axes(_FINER * self.n_points)
        shape = [len(axis) for axis in axes]
        sizes = np.empty(shape)
        for i in range(shape[0]):  # slice by slice: in three dimensions the grid is large
            slab = np.stack(np.meshgrid(axes[0][i], *axes[1:], indexing="ij"), axis=-1)
            points = slab.reshape(-1, len(axes))
            values = cosines.on_grid([axes[0][i : i + 1], *axes[1:]]).ravel()
            error = self.weight(points) * (values - self.signature(points))
            sizes[i] = np.abs(error).reshape(shape[1:])
        tops = _local_maxima(sizes)
        starts = np.stack([axis[i] for axis, i in zip(axes, tops, strict=True)], axis=1)
        order = np.argsort(-sizes[tops])[:_PEAKS]
        cell = np.array([axis[1] - axis[0] for axis in axes])
        return self._climb(cosines, starts[order], cell)

    def _peaks_on_line(self, cosines: CosineSum) -> tuple[NDArray, NDArray]:
        size = _FINER * self.n_points
        # The same denser ends as in `grid`.
        fine = self.high * (1 - np.cos(np.linspace(0, np.pi, size))) / 2

        def height(lam: NDArray) -> NDArray:
            return np.abs(self.residual(cosines, lam[:, None]))

        (tops,) = _local_maxima(height(fine))
        left = fine[np.maximum(tops - 1, 0)]
        right = fine[np.minimum(tops + 1, size - 1)]
        golden = (np.sqrt(5) - 1) / 2
        for _ in range(40):  # golden sections, all peaks at once
            first = right - golden * (right - left)
            last = left + golden * (right - left)
            rises = height(first) < height(last)
            left = np.where(rises, first, left)
            right = np.where(rises, right, last)
        candidates = np.stack([fine[tops], (left + right) / 2])
        heights = np.stack([height(row) for row in candidates])
        best = heights.argmax(axis=0)
        columns = np.arange(len(tops))
        return candidates[best, columns][:, None], heights[best, columns]

    def _climb(self, cosines: CosineSum, starts: NDArray, cell: NDArray) -> tuple[NDArray, NDArray]:
        points = []
        heights = []
        for start in starts:

            def depth(lam: NDArray) -> float:
                return -abs(float(self.residual(cosines, lam[None, :])[0]))

            low = np.maximum(start - cell, self.low)
            high = np.minimum(start + cell, self.high)
            bounds = np.stack([low, high], axis=1)
            climbed = minimize(depth, start, bounds=bounds, method="L-BFGS-B")
            points.append(climbed.x if climbed.fun < depth(start) else start)
            heights.append(-depth(points[-1]))
        return np.array(points), np.array(heights)


def _local_maxima(sizes: NDArray) -> tuple[NDArray, ...]:
    """Return the indices of entries at least as large as both neighbours along every axis."""
    is_top = np.ones(sizes.shape, bool)
    for axis in range(sizes.ndim):
        steps = np.diff(sizes, axis=axis)
        edge = np.zeros_like(np.take(steps, [0], axis=axis))
        is_top &= np.concatenate([edge, steps], axis=axis) >= 0
        is_top &= np.concatenate([steps, edge], axis=axis) <= 0
    return np.nonzero(is_top)


def line_target(
    signature: Function,
    length: float,
    error: str = "absolute",
    *,
    decay: float = 0.0,
    dim: int = 7,
    levels: int | None = None,
) -> Target:
    r"""Return the target of one variable on [0, ``length``], for at most ``dim`` outputs.

    ``decay`` is c of the absolute error's weight :math:`e^{-c\lambda}`. With ``levels``, errors
    count at so many equally spaced λ only.
    """
    check_signature(lambda lam: signature(lam[:, 0]), np.array([length]))
    check_choice("error", error, get_args(Error))
    weights = {
        "absolute": lambda lam: np.exp(-decay * lam[:, 0]),
        "relative": lambda lam: 1 / signature(lam[:, 0]),
        "signature": lambda lam: np.ones(len(lam)),
    }
    if error == "relative" and not (signature(np.linspace(0, length, 1000)) > 0).all():
        raise ConfigError(
            "error='relative': the signature is not positive on the whole interval, so the "
            "relative error is infinite; use error='absolute' or a shorter interval"
        )
    band = min(max(4 * (dim // 2 + 1), 2 * _bandwidth(signature, length)), _LARGEST_BAND)
    return Target(
        lambda lam: signature(lam[:, 0]),
        weights[error],
        np.zeros(1),
        np.array([float(length)]),
        levels or max(200, int(_POINTS_A_HALF_WAVE * band)),
        band,
        levels is not None,
    )


def values_target(
    signature: Function, sizes: NDArray, error: str = "absolute", *, dim: int = 7
) -> Target:
    r"""Return the target of a homogeneous kernel of inputs of the given sizes, ascending.

    Errors count at the ratios of two sizes only. As on an interval they are of inputs up to 1: the
    weight of an absolute error is the largest :math:`\sqrt{xy}` over the largest size.
    """
    target = line_target(signature, float(np.log(sizes[-1] / sizes[0])), error, decay=0.5, dim=dim)
    small, large = np.triu_indices(len(sizes))
    ratios, of_pair = np.unique(sizes[large] / sizes[small], return_inverse=True)
    line = np.log(ratios)
    weight = target.weight
    if error == "absolute":
        largest = np.zeros(len(ratios))
        np.maximum.at(largest, of_pair, np.sqrt(sizes[small] * sizes[large]) / sizes[-1])

        def weight(lam: NDArray) -> NDArray:
            return largest[np.searchsorted(line, lam[:, 0])]

    return replace(target, weight=weight, high=line[-1:], discrete=True, line=line)


def box_target(
    signature: Function, length: NDArray, form: str, *, n_points: int, band: float, discrete: bool
) -> Target:
    """Return the target of n variables with differences up to ``length`` (n,) in size.

    A modulation is even in each variable; a projection only in all of them at once, so its box
    has negative differences too, except in the last variable (ldefm Sect. 6.1, 6.2).
    """
    check_signature(signature, length, each=form == "modulation")
    low = np.zeros(len(length))
    if form == "projection":
        low[:-1] = -length[:-1]
    return Target(signature, lambda lam: np.ones(len(lam)), low, length, n_points, band, discrete)


def _bandwidth(signature: Function, length: float) -> int:
    """Return the harmonic of π/M below which lies 99.9 % of the signature's energy."""
    samples = signature(np.linspace(0, length, 4 * _LARGEST_BAND + 1))
    energy = np.square(dct(samples, type=1))
    energy[0] /= 4
    return int(np.searchsorted(np.cumsum(energy), 0.999 * energy.sum()))


@dataclass(frozen=True)
class Problem:
    r"""A kernel of one variable, the range of its inputs, and which error counts.

    `LowDimMap` describes the parameters; the ratio or the range is given.
    """

    kernel: str | Callable
    ratio: float | None = 255.0
    error: str = "absolute"
    low: float | None = None
    high: float | None = None
    period: float | None = None
    sigma: float = 1.0
    levels: int | None = None
    values: str | Sequence[float] | None = None

    def __post_init__(self) -> None:
        # Problems are keys of a cache, so that a list becomes a tuple.
        if self.values is not None and not isinstance(self.values, str):
            object.__setattr__(self, "values", tuple(np.ravel(self.values).tolist()))

    @property
    def kind(self) -> str:
        """The kernel's kind: "homogeneous", "stationary" or "periodic"."""
        return problem_kind(self)

    @property
    def signature(self) -> Callable:
        """The kernel's signature, elementwise."""
        if isinstance(self.kernel, Kernel):
            return self.kernel.signature
        if callable(self.kernel):
            return self.kernel
        if self.kind == "homogeneous":
            return homogeneous_kernel(self.kernel).signature
        return STATIONARY[self.kernel](self.sigma)

    def check(self) -> "Problem":
        """Refuse parameters that are out of range or do not go together."""
        check_problem(self)
        return self

    def target(self, dim: int) -> Target:
        """Return the target of maps of up to ``dim`` outputs."""
        if self.values is not None:
            return values_target(self.signature, self.sizes(), self.error, dim=dim)
        decay = 0.5 if self.kind == "homogeneous" else 0.0
        target = line_target(
            self.signature, self._length(), self.error, decay=decay, dim=dim, levels=self.levels
        )
        if self.period is not None:
            self._check_period(self.period)
        return target

    def with_ratio_of_values(self) -> "Problem":
        """Return the problem with the ratio of the values, where they are listed."""
        if self.values is None or isinstance(self.values, str):
            return self
        sizes = self.sizes()
        return replace(self, ratio=float(sizes[-1] / sizes[0]))

    def sizes(self) -> NDArray:
        """Return the sizes of the given values, ascending, without zero."""
        if isinstance(self.values, str):  # the integers
            return np.arange(1.0, present(self.ratio, "ratio") + 1)
        sizes = np.unique(np.abs(np.asarray(self.values, float)))
        return sizes[sizes > 0]

    def _length(self) -> float:
        if self.period is not None:
            return self.period / 2
        if self.kind == "homogeneous":
            return float(np.log(present(self.ratio, "ratio")))  # `check` has verified it
        return present(self.high, "high") - present(self.low, "low")

    def _check_period(self, period: float) -> None:
        lam = np.linspace(0, period, 101)
        values = self.signature(lam)
        later = self.signature(lam + period)
        if np.abs(values - later).max() > 1e-6 * np.abs(values).max():
            raise ConfigError(
                f"period={self.period!r}: the signature does not repeat after it; leave period out "
                "and give low and high"
            )
