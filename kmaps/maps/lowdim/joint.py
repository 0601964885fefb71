"""Maps of one kernel of all inputs together (ldefm Sect. 6), and their rival by harmonics."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import dctn
from sklearn.utils.validation import check_is_fitted

from kmaps.array_api import namespace
from kmaps.checks import warn_outside
from kmaps.errors import ConfigError, InputError
from kmaps.kernels import STATIONARY
from kmaps.maps.capabilities import DenseMap
from kmaps.maps.lowdim.box import BoxProblem
from kmaps.maps.lowdim.cosines import CosineSum, atom_dims
from kmaps.maps.lowdim.selection import largest_within
from kmaps.maps.parameters import Method, check_joint, check_lowdim_joint
from kmaps.maps.signatures import check_signature
from kmaps.validation import validate_data

if TYPE_CHECKING:
    from kmaps.onnx_graph import Graph, Tensor


class JointMap(DenseMap):
    """A sum of cosines in place of a stationary kernel of few variables, on a range.

    A map has the parameters ``kernel``, ``dim``, ``low``, ``high`` and ``sigma``.
    """

    columns: tuple[int, ...]
    kernel: str | Callable
    low: float | None
    high: float | None
    sigma: float

    @abstractmethod
    def _approximate(self, signature: Callable, length: NDArray) -> CosineSum:
        """Return the cosines for a signature of differences (N, n) up to ``length`` (n,)."""

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the map; of X only the number of columns and, by default, the range matter."""
        self._refuse_sparse(X)
        X = validate_data(self, X, array_api=True, dtype=[np.float64, np.float32])
        n = X.shape[1]
        if n not in self.columns:
            *first, last = map(str, self.columns)
            other = "LowDimMap" if n < self.columns[0] else "RandomFourierMap"
            raise InputError(
                f"X has {n} columns: {type(self).__name__} takes {', '.join(first)} or {last}, "
                f"because its work grows with a power of their number; use {other}"
            )
        self._check_parameters()
        self.low_ = float(X.min() if self.low is None else self.low)
        self.high_ = float(X.max() if self.high is None else self.high)
        if not 0 < self.high_ - self.low_ < np.inf:
            raise ConfigError(f"low={self.low_!r}, high={self.high_!r}: expected low < high")
        self._cosines = self._approximate(self._signature(), np.full(n, self.high_ - self.low_))
        self.frequencies_ = self._cosines.frequencies
        self.weights_ = self._cosines.weights
        self.n_outputs_ = self._cosines.dim
        return self

    _check_parameters = check_joint

    def _signature(self) -> Callable:
        if callable(self.kernel):
            return self.kernel
        of_variable = STATIONARY[self.kernel](self.sigma)
        return lambda lam: of_variable(lam).prod(axis=1)

    def transform(self, X: ArrayLike) -> NDArray:
        """Encode points as ``(n, n_outputs_)``, in the dtype of X; outside the range they clamp."""
        check_is_fitted(self)
        self._refuse_sparse(X)
        X = validate_data(self, X, reset=False, array_api=True, dtype=[np.float64, np.float32])
        xp = namespace(X)
        inside = xp.clip(X, self.low_, self.high_)
        outside = int(xp.count_nonzero(inside != X))
        warn_outside(outside, X.shape[0] * X.shape[1], type(self).__name__, stacklevel=4)
        if isinstance(X, np.ndarray):
            return self._cosines.features(inside.astype(np.float64)).astype(X.dtype)
        return self._cosines.features(inside)

    def add_to_graph(self, graph: "Graph", x: "Tensor") -> "Tensor":
        """Add the map to an ONNX graph: phases in double precision, as `transform` has them.

        Parameters
        ----------
        graph : Graph
            The graph, of `kmaps.onnx_graph`.
        x : Tensor
            Rows (n, d) in it.

        Returns
        -------
        Tensor
            The outputs ``(n, n_outputs_)`` in the type of ``x``, of bytes in that of the graph.
        """
        self.describe_in(graph)
        x = graph.floats(x)
        inside = graph.cast(graph.clip(x, self.low_, self.high_), np.float64)
        return graph.cast(self._cosines.add_to_graph(graph, inside), x.dtype)


@dataclass(eq=False, repr=False)
class MultiLowDimMap(JointMap):
    r"""Approximate one stationary kernel of two or three variables by few outputs.

    Use it for pairs and triples of inputs that belong together, such as coordinates.

    See Chum, Low Dimensional Explicit Feature Maps, ICCV 2015, Sect. 6, Table 2, whose "σ = 0.2" is
    the kernel :math:`e^{-\|\lambda\|^2/0.2}`: ``sigma=0.1**0.5`` here.

    Parameters
    ----------
    kernel : str or callable
        "rbf", :math:`e^{-\|\lambda\|^2/2\sigma^2}`, "laplace", :math:`e^{-\|\lambda\|_1/\sigma}`,
        "cosine", a product of cosines, or a signature: an even function of differences (N, n),
        positive at 0, giving (N,).
    dim : int
        Outputs, at most.
    method : {"proj", "proj_product", "modulation", "modulation_no_lp"}
        Projections :math:`\cos\omega^\top\lambda` from a polar grid or from the products of maps
        of one variable; modulations :math:`\prod_i\cos\omega_i\lambda_i` from these products by
        programs, or the largest products of weights without a program. The two in the middle try
        many starts (`kmaps.maps.lowdim.box`).
    low, high : float, optional
        The range of every input; values outside are clamped. None takes the range of the data.
    sigma : float
        Width of the named kernels.
    levels : int, optional
        Number of equally spaced values from low to high that each input takes; only their errors
        count: ldefm's evaluation set.
    continuous : bool
        Whether the frequencies may leave the pool.
    n_grids : int
        Polar grids that "proj" starts from: ldefm's, and others turned and scaled at random. With
        several, "proj" tries as many starts as the other methods do.
    also_box : bool
        With ``levels``, whether the map for the whole box is found too, and kept if its error on
        the levels is smaller: programs end in local optima, and fewer points make them no better.

    Attributes
    ----------
    frequencies_, weights_ : ndarray, shape (m, n) and (m,)
    error_ : float
        The largest error on the box, or on the levels.

    See Also
    --------
    HarmonicMap : The alternative without a program, from the harmonics of the range.
    LowDimMap : Kernels of one input.
    RandomFourierMap : More inputs than three.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(0, 1, (20, 2))
    >>> feature_map = MultiLowDimMap(dim=7, low=0, high=1)
    >>> Z = feature_map.fit_transform(X)
    >>> exact = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 2)
    >>> Z.shape, bool(np.abs(Z @ Z.T - exact).max() <= 1.0001 * feature_map.error_ < 0.01)
    ((20, 7), True)
    """

    source = "ldefm eq. 19-21"
    columns = (2, 3)

    kernel: str | Callable = "rbf"
    dim: int = 31
    method: Method = "modulation"
    low: float | None = None
    high: float | None = None
    sigma: float = 1.0
    levels: int | None = None
    continuous: bool = True
    n_grids: int = 1
    also_box: bool = False

    _check_parameters = check_lowdim_joint

    def _approximate(self, signature: Callable, length: NDArray) -> CosineSum:
        problem = BoxProblem(
            signature, length, self.dim, self.levels, self.continuous, self.n_grids, self.also_box
        )
        solution = problem.solve(self.method)
        self.error_ = solution.error
        return solution.cosines


_POINTS = {1: 8193, 2: 513, 3: 97}  # points of the trapezoidal rule per axis, by the number of axes


@dataclass(eq=False, repr=False)
class HarmonicMap(JointMap):
    r"""Approximate one stationary kernel of up to three variables by its harmonics.

    On the box of differences :math:`|\lambda_i| \le M_i` the signature is continued periodically
    and projected on the products of :math:`\cos(j_i\pi\lambda_i/M_i)`. The continuation
    need not be a kernel: products with a negative coefficient are left out, so that the error does
    not tend to zero. The map keeps the products with the largest coefficients.

    Use it for comparison with `MultiLowDimMap`, whose error is smaller.

    See Chum, Low Dimensional Explicit Feature Maps, ICCV 2015, Sect. 3 and 4.1, Figure 1.

    Parameters
    ----------
    kernel : str or callable
        "rbf", "laplace" or "cosine", or a signature, even in each variable.
    dim : int
        Outputs, at most.
    low, high : float, optional
        The range of every input.
    sigma : float
        Width of the named kernels. All are as in `MultiLowDimMap`, like the fitted attributes.

    See Also
    --------
    MultiLowDimMap : Frequencies chosen by programs.
    RandomFourierMap : More inputs than three.

    Examples
    --------
    Of cos(0.6 λ) on [-π, π], harmonics 2, 4, … have negative coefficients (ldefm Fig. 1):

    >>> X = np.array([[0.0], [np.pi]])
    >>> HarmonicMap("cosine", dim=5, sigma=1 / 0.6).fit(X).frequencies_.ravel().tolist()
    [1.0, 0.0, 3.0]
    """

    source = "ldefm Sect. 3, 4.1"
    columns = tuple(_POINTS)

    kernel: str | Callable = "rbf"
    dim: int = 11
    low: float | None = None
    high: float | None = None
    sigma: float = 1.0

    def _approximate(self, signature: Callable, length: NDArray) -> CosineSum:
        check_signature(signature, length, each=True)
        return harmonics(signature, length, self.dim)


def harmonics(signature: Callable, length: NDArray, dim: int) -> CosineSum:
    """Return the products of harmonics with the largest positive coefficients."""
    n = len(length)
    axes = [np.linspace(0, high, _POINTS[n]) for high in length]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    samples = signature(grid.reshape(-1, n)).reshape(grid.shape[:-1])
    # The discrete cosine transform of type 1 counts every harmonic twice except the constant.
    coefficients = dctn(samples, type=1) / (_POINTS[n] - 1) ** n
    for axis in range(n):
        coefficients[(slice(None),) * axis + (0,)] /= 2
    # An atom has at least one output, so no more than ``dim`` of them are needed.
    order = np.argsort(-coefficients, axis=None, kind="stable")[: 4 * dim]
    multiples = np.stack(np.unravel_index(order, coefficients.shape), axis=1)
    weights = coefficients.ravel()[order]
    fits = (weights > 0) & largest_within(atom_dims(multiples, "modulation"), dim)
    return CosineSum(multiples[fits] * np.pi / length, weights[fits], "modulation")
