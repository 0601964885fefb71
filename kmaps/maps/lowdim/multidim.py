r"""Low-dimensional maps of kernels of two or three variables (ldefm Sect. 6)."""

from collections.abc import Callable

from numpy.typing import NDArray

from kmaps.maps.lowdim.box import BoxProblem
from kmaps.maps.lowdim.cosines import CosineSum
from kmaps.maps.lowdim.joint import JointMap
from kmaps.maps.parameters import check_lowdim_joint


class MultiLowDimMap(JointMap):
    r"""Approximate one stationary kernel of two or three variables by few outputs.

    Use it for pairs and triples of inputs that belong together, such as coordinates.

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
        of one variable; modulations :math:`\prod_i\cos\omega_i\lambda_i` from those products by
        programs, or the largest products of weights and no program. The two in the middle try
        many starts (`kmaps.maps.lowdim.box`).
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

    See Also
    --------
    HarmonicMap : Its rival without a program, from the harmonics of the range.
    LowDimMap : Kernels of one input.
    RandomFourierMap : More inputs than three.

    References
    ----------
    Chum, Low Dimensional Explicit Feature Maps, ICCV 2015, Sect. 6, Table 2, whose "σ = 0.2" is
    the kernel :math:`e^{-\|\lambda\|^2/0.2}`: ``sigma=0.1**0.5`` here.

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

    def _check_parameters(self) -> None:
        check_lowdim_joint(self)

    def _approximate(self, signature: Callable, length: NDArray) -> CosineSum:
        problem = BoxProblem(signature, length, self.dim, self.levels, self.continuous)
        solution = problem.solve(self.method)
        self.error_ = solution.error
        return solution.cosines
