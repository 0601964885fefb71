r"""The harmonic projection, which the linear programs are measured against (ldefm Sect. 3, 4.1)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dctn

from kmaps.maps.lowdim.cosines import CosineSum, atom_dims
from kmaps.maps.lowdim.joint import JointMap
from kmaps.maps.lowdim.selection import largest_within
from kmaps.maps.signatures import check_signature

_POINTS = {1: 8193, 2: 513, 3: 97}  # of the trapezoidal rule along each axis, by their number


class HarmonicMap(JointMap):
    r"""Approximate one stationary kernel of up to three variables by its harmonics.

    On the box of differences :math:`|\lambda_i| \le M_i` the signature is continued periodically
    and projected on the products of :math:`\cos(j_i\pi\lambda_i/M_i)`. What is continued need not
    be a kernel: products with a negative coefficient are left out, so that the error does not tend
    to zero. Kept are those with the largest coefficients.

    Use it for comparison with `MultiLowDimMap`, whose error is smaller.

    Parameters
    ----------
    kernel : str or callable
        "rbf", "laplace" or "cosine", a product over the variables, or a signature: a function of
        differences (N, n), even in each variable and positive at 0, giving (N,).
    dim : int
        Outputs, at most.
    low, high : float, optional
        The range of every input; values outside are clamped. None takes that of the data.
    sigma : float
        Width of the named kernels.

    Attributes
    ----------
    frequencies_ : ndarray, shape (m, n)
    weights_ : ndarray, shape (m,)
    n_outputs_ : int

    See Also
    --------
    MultiLowDimMap : Frequencies chosen by programs.
    RandomFourierMap : More inputs than three.

    References
    ----------
    Chum, Low Dimensional Explicit Feature Maps, ICCV 2015, Sect. 3 and 4.1, Figure 1.

    Examples
    --------
    Of cos(0.6 λ) on [-π, π], harmonics 2, 4, … have negative coefficients (ldefm Fig. 1):

    >>> X = np.array([[0.0], [np.pi]])
    >>> HarmonicMap("cosine", dim=5, sigma=1 / 0.6).fit(X).frequencies_.ravel().tolist()
    [1.0, 0.0, 3.0]
    """

    source = "ldefm Sect. 3, 4.1"
    columns = tuple(_POINTS)

    def __init__(
        self,
        kernel: str | Callable = "rbf",
        dim: int = 11,
        low: float | None = None,
        high: float | None = None,
        sigma: float = 1.0,
    ):
        self.kernel = kernel
        self.dim = dim
        self.low = low
        self.high = high
        self.sigma = sigma

    def _approximate(self, signature: Callable, length: NDArray) -> CosineSum:
        check_signature(signature, length, each=True)
        return harmonics(signature, length, self.dim)


def harmonics(signature: Callable, length: NDArray, dim: int) -> CosineSum:
    r"""Return the products of harmonics with the largest positive coefficients.

    Parameters
    ----------
    signature : callable
        :math:`k`, from differences (N, n) to (N,), even in each variable.
    length : ndarray, shape (n,)
        M.
    dim : int
        Outputs, at most.
    """
    n = len(length)
    axes = [np.linspace(0, high, _POINTS[n]) for high in length]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    samples = signature(grid.reshape(-1, n)).reshape(grid.shape[:-1])
    # The discrete cosine transform of type 1 counts every harmonic twice but the constant.
    coefficients = dctn(samples, type=1) / (_POINTS[n] - 1) ** n
    for axis in range(n):
        coefficients[(slice(None),) * axis + (0,)] /= 2
    # An atom has at least one output, so no more than ``dim`` of them are needed.
    order = np.argsort(-coefficients, axis=None, kind="stable")[: 4 * dim]
    found = np.stack(np.unravel_index(order, coefficients.shape), axis=1)
    weights = coefficients.ravel()[order]
    kept = (weights > 0) & largest_within(atom_dims(found, "modulation"), dim)
    return CosineSum(found[kept] * np.pi / length, weights[kept], "modulation")
