r"""Low-dimensional maps of kernels of two or three variables (ldefm Sect. 6)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kmaps._values import warn_outside
from kmaps.errors import ConfigError, InputError, suggest
from kmaps.maps.lowdim.continuous import Samples, polish
from kmaps.maps.lowdim.cosines import CosineSum, atom_dims
from kmaps.maps.lowdim.search import PoolSearch, Solution, largest_within, line_pool
from kmaps.maps.lowdim.target import STATIONARY, Target, box_target, line_target
from kmaps.maps.parameters import check_positive, check_whole

METHODS = ("proj", "proj_product", "modulation", "modulation_no_lp")
"""The four methods of ldefm Table 2."""

_POLAR_RADIUS = 0.5  # spacing of the polar pool's radii, in half waves
_POLAR_DIRECTIONS = {2: 24, 3: 60}  # in a half space, by the number of inputs
_POINTS = {2: 24, 3: 10}  # between 0 and M on each axis of the programs' grid
_POOL_POINTS = {2: 16, 3: 7}  # the same where a large pool is thinned
_PRECISION = 1e-3  # of the error, to which frequencies are moved
_ROOM = 1.15  # outputs of the full product over those wanted: what the programs choose from


class MultiLowDimMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Approximate one stationary kernel of two or three variables by few outputs.

    Parameters
    ----------
    kernel : str or callable
        "rbf", :math:`e^{-\|\lambda\|^2/2\sigma^2}`, "laplace", :math:`e^{-\|\lambda\|_1/\sigma}`,
        or a signature: an even function of differences (N, n), positive at 0, giving (N,).
    dim : int
        Outputs, at most.
    method : {"proj", "proj_product", "modulation", "modulation_no_lp"}
        Projections :math:`\cos\omega^\top\lambda` from a polar grid or from the products of maps
        of one variable; modulations :math:`\prod_i\cos\omega_i\lambda_i` from those products by
        programs, or the largest products of weights and no program.
    low, high : float, optional
        The range of every input; values outside are clamped. None takes that of the data.
    sigma : float
        Width of the named kernels.
    levels : int, optional
        Each input is one of so many equally spaced values from low to high, and only their errors
        count: ldefm's evaluation set.
    continuous : bool
        Whether the frequencies may leave the pool.

    Attributes
    ----------
    frequencies_ : ndarray, shape (m, n)
    weights_ : ndarray, shape (m,)
    error_ : float
        The largest error on the box, or on the levels.
    n_outputs_ : int

    References
    ----------
    Chum, Low Dimensional Explicit Feature Maps, ICCV 2015, Sect. 6, Table 2, whose "σ = 0.2" is
    the kernel :math:`e^{-\|\lambda\|^2/0.2}`: ``sigma=0.1**0.5`` here.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(0, 1, (20, 2))
    >>> encoder = MultiLowDimMap(dim=9, low=0, high=1)
    >>> Z = encoder.fit_transform(X)
    >>> exact = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 2)
    >>> Z.shape, bool(np.abs(Z @ Z.T - exact).max() <= encoder.error_ < 0.01)
    ((20, 9), True)
    """

    source = "ldefm eq. 19-21"

    def __init__(
        self,
        kernel: str | Callable = "rbf",
        dim: int = 31,
        method: str = "modulation",
        low: float | None = None,
        high: float | None = None,
        sigma: float = 1.0,
        levels: int | None = None,
        continuous: bool = True,
    ):
        self.kernel = kernel
        self.dim = dim
        self.method = method
        self.low = low
        self.high = high
        self.sigma = sigma
        self.levels = levels
        self.continuous = continuous

    def fit(self, X: ArrayLike, y: object = None) -> "MultiLowDimMap":
        """Find the map; of X only the number of columns and, by default, the range matter.

        Raises
        ------
        ValueError
            For other than 2 or 3 columns, or a parameter out of range.
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        n = X.shape[1]
        if n not in _POINTS:
            other = "LowDimMap" if n == 1 else "RandomFourierMap"
            raise InputError(
                f"X has {n} columns: {type(self).__name__} takes 2 or 3, because its programs "
                f"grow with a power of their number; use {other}"
            )
        self.check_parameters(X)
        problem = BoxProblem(
            self._signature(), np.full(n, self.high_ - self.low_), self.levels, self.continuous
        )
        solution = problem.solve(self.dim, self.method)
        self._cosines = solution.cosines
        self.frequencies_, self.weights_ = self._cosines.frequencies, self._cosines.weights
        self.error_, self.n_outputs_ = solution.error, self._cosines.dim
        return self

    def check_parameters(self, X: NDArray) -> None:
        """Refuse at once what `fit` would refuse.

        Raises
        ------
        ValueError
            For a parameter out of range.
        """
        check_whole("dim", self.dim, 1)
        if self.method not in METHODS:
            hint = suggest(self.method, METHODS)
            raise ConfigError(f"method={self.method!r}: expected one of {METHODS}{hint}")
        if not callable(self.kernel) and self.kernel not in STATIONARY:
            hint = suggest(self.kernel, STATIONARY)
            raise ConfigError(f"unknown kernel {self.kernel!r}{hint} (rbf, laplace, or a function)")
        check_positive("sigma", self.sigma)
        if self.levels is not None:
            check_whole("levels", self.levels, 2)
        self.low_ = float(X.min() if self.low is None else self.low)
        self.high_ = float(X.max() if self.high is None else self.high)
        if not 0 < self.high_ - self.low_ < np.inf:
            raise ConfigError(f"low={self.low_!r}, high={self.high_!r}: expected low < high")

    def _signature(self) -> Callable:
        if callable(self.kernel):
            return self.kernel
        of_one = STATIONARY[self.kernel](self.sigma)
        return lambda lam: of_one(lam).prod(axis=1)

    def transform(self, X: ArrayLike) -> NDArray:
        """Encode points (n, 2) or (n, 3) as (n, n_outputs_), in the dtype of X."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        inside = np.clip(X, self.low_, self.high_)
        warn_outside(np.count_nonzero(inside != X), X.size, type(self).__name__, stacklevel=4)
        return self._cosines.features(inside).astype(X.dtype)

    @property
    def _n_features_out(self) -> int:
        return self.n_outputs_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(frozen=True, eq=False)
class BoxProblem:
    """A stationary kernel of n variables with differences up to ``length`` (n,) in size.

    ``signature`` takes differences (N, n); ``levels`` and ``continuous`` as for
    `MultiLowDimMap`.
    """

    signature: Callable
    length: NDArray
    levels: int | None = None
    continuous: bool = True

    def target(self, form: str, band: float) -> Target:
        """Return the target on the box of a form's differences."""
        return box_target(
            self.signature,
            self.length,
            form,
            n_points=self.levels or _POINTS[len(self.length)],
            band=band,
            discrete=self.levels is not None,
        )

    def solve(self, dim: int, method: str) -> Solution:
        """Return the map of at most ``dim`` outputs by one of :data:`METHODS`."""
        n = len(self.length)
        form = "projection" if method.startswith("proj") else "modulation"
        axis_dim = 2 * int(np.ceil((_ROOM * dim) ** (1 / n)) // 2) + 1
        axes = [self._axis_map(i, axis_dim) for i in range(n)]
        half_waves = [
            axis.frequencies.max() * m / np.pi for axis, m in zip(axes, self.length, strict=True)
        ]
        target = self.target(form, 1.15 * max(half_waves) + 1)
        if method == "modulation_no_lp":
            return _largest_products(target, axes, dim)
        if method == "proj":
            pools = [polar_pool(target)]
            near = _POLAR_RADIUS * target.step
        else:
            pools = [product_pool(combined, form) for combined in _combinations(axes)]
            near = np.zeros(n)
        return self._best_of(pools, near, target, form, dim)

    def _axis_map(self, i: int, dim: int) -> CosineSum:
        """Return the map of the kernel along axis i (ldefm Sect. 6.2)."""

        def along(lam: NDArray) -> NDArray:
            points = np.zeros((np.size(lam), len(self.length)))
            points[:, i] = np.ravel(lam)
            return self.signature(points).reshape(np.shape(lam))

        target = line_target(along, self.length[i], dim=dim, levels=self.levels)
        return PoolSearch(target, *line_pool(target)).best(dim).cosines

    def _best_of(self, pools, near, target: Target, form: str, dim: int) -> Solution:
        coarse = replace(target, n_points=_POOL_POINTS[len(self.length)], discrete=True)
        starts = [
            PoolSearch(coarse, pool, near, form=form, continuous=self.continuous).start(dim)
            for pool in pools
        ]
        best, _ = min(starts, key=lambda start: start[1])
        samples = Samples.of(target)
        return Solution(*polish(samples, best, self.continuous, precision=_PRECISION))


def _combinations(axes: list[CosineSum]) -> list[list[NDArray]]:
    """Return the frequencies of each axis as found, and with some axes shifted by half a step.

    Shifted along an axis, the lattice of frequencies keeps its period but loses the constant there.
    """
    found = [np.unique(axis.frequencies[:, 0]) for axis in axes]
    shifted = [(row[1:] + row[:-1]) / 2 for row in found]
    return [shifted[:count] + found[count:] for count in range(len(axes) + 1)]


def product_pool(axes: list[NDArray], form: str) -> NDArray:
    r"""Return the products of each axis' frequencies, Ω_⊗ (ldefm eq. 21), as rows (P, n).

    For a projection every combination of signs belongs to it, up to a common one.

    Examples
    --------
    >>> product_pool([np.array([0.0, 1.0]), np.array([0.0, 2.0])], "projection").tolist()
    [[0.0, 0.0], [0.0, 2.0], [1.0, -2.0], [1.0, 0.0], [1.0, 2.0]]
    """
    rows = np.array(list(product(*axes)))
    if form == "modulation":
        return rows
    signs = np.array(list(product((1, -1), repeat=len(axes))))
    signed = (rows[:, None] * signs).reshape(-1, len(axes)) + 0.0
    # Of a frequency and its opposite, the one whose first non-zero component is positive.
    first = np.argmax(signed != 0, axis=1)
    leading = signed[np.arange(len(signed)), first]
    return np.unique(signed[leading >= 0], axis=0)


def polar_pool(target: Target) -> NDArray:
    """Return a grid of directions and sizes in the half space (ldefm Sect. 7.3), as rows (P, n)."""
    n = len(target.high)
    count = _POLAR_DIRECTIONS[n]
    if n == 3:  # a spiral of equal areas on half the sphere
        height = (np.arange(count) + 0.5) / count
        angle = np.pi * (1 + np.sqrt(5)) * np.arange(count)
        flat = np.sqrt(1 - height**2)
        directions = np.stack([flat * np.cos(angle), flat * np.sin(angle), height], axis=1)
    else:
        angle = np.pi * np.arange(count) / count
        directions = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    sizes = np.arange(_POLAR_RADIUS, target.band, _POLAR_RADIUS)
    rows = (sizes[:, None, None] * directions * target.step).reshape(-1, n)
    return np.vstack([np.zeros(n), rows])


def _largest_products(target: Target, axes: list[CosineSum], dim: int) -> Solution:
    """Return the atoms with the largest products of the axes' weights (ldefm "⊗ no LP").

    Their weights are scaled to the kernel's value at 0.
    """
    rows = np.array(list(product(*(axis.frequencies[:, 0] for axis in axes))))
    weights = np.array([np.prod(row) for row in product(*(axis.weights for axis in axes))])
    heaviest = CosineSum(rows, weights, "modulation").heaviest_first()
    kept = largest_within(atom_dims(heaviest.frequencies, "modulation"), dim)
    weights = heaviest.weights[kept]
    weights *= target.signature(np.zeros((1, len(axes))))[0] / weights.sum()
    cosines = CosineSum(heaviest.frequencies[kept], weights, "modulation")
    return Solution(cosines, target.true_error(cosines), source="product")
