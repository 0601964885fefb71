r"""The harmonic projection, which the linear programs are measured against (ldefm Sect. 3, 4.1)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import dctn
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kmaps.errors import ConfigError, InputError, suggest
from kmaps.maps.lowdim.cosines import CosineSum, atom_dims
from kmaps.maps.lowdim.search import largest_within
from kmaps.maps.lowdim.target import STATIONARY
from kmaps.maps.parameters import check_positive, check_whole

_POINTS = {1: 8193, 2: 513, 3: 97}  # of the trapezoidal rule along each axis, by their number


class HarmonicMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Approximate one stationary kernel of up to three variables by its harmonics.

    On the box of differences :math:`|\lambda_i| \le M_i` the signature is continued periodically
    and projected on the products of :math:`\cos(j_i\pi\lambda_i/M_i)`. What is continued need not
    be a kernel: products with a negative coefficient are left out, so that the error does not tend
    to zero. Kept are those with the largest coefficients.

    Parameters
    ----------
    kernel : str
        "rbf", "laplace" or "cosine", a product over the variables.
    dim : int
        Outputs, at most.
    low, high : float, optional
        The range of every input. None takes that of the data.
    sigma : float
        Width of the kernel.

    Attributes
    ----------
    frequencies_ : ndarray, shape (m, n)
    weights_ : ndarray, shape (m,)
    n_outputs_ : int

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

    def __init__(
        self,
        kernel: str = "rbf",
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

    def fit(self, X: ArrayLike, y: object = None) -> "HarmonicMap":
        """Compute the coefficients; of X only the columns and, by default, the range matter.

        Raises
        ------
        ValueError
            For more than 3 columns, or a parameter out of range.
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        n = X.shape[1]
        if n not in _POINTS:
            raise InputError(f"X has {n} columns: {type(self).__name__} takes at most 3")
        check_whole("dim", self.dim, 1)
        check_positive("sigma", self.sigma)
        if self.kernel not in STATIONARY:
            known, hint = tuple(STATIONARY), suggest(self.kernel, STATIONARY)
            raise ConfigError(f"kernel={self.kernel!r}: expected one of {known}{hint}")
        low = float(X.min()) if self.low is None else self.low
        high = float(X.max()) if self.high is None else self.high
        if not 0 < high - low < np.inf:
            raise ConfigError(f"low={low!r}, high={high!r}: expected low < high")
        signature = STATIONARY[self.kernel](self.sigma)
        self._cosines = harmonics(signature, np.full(n, high - low), self.dim)
        self.frequencies_, self.weights_ = self._cosines.frequencies, self._cosines.weights
        self.n_outputs_ = self._cosines.dim
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Encode points (n, 1 to 3) as (n, n_outputs_), in the dtype of X."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return self._cosines.features(X).astype(X.dtype)

    @property
    def _n_features_out(self) -> int:
        return self.n_outputs_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def harmonics(signature: Callable[[NDArray], NDArray], length: NDArray, dim: int) -> CosineSum:
    r"""Return the products of harmonics with the largest positive coefficients.

    Parameters
    ----------
    signature : callable
        :math:`k`, even and elementwise; the kernel is the product over the variables.
    length : ndarray, shape (n,)
        M.
    dim : int
        Outputs, at most.
    """
    n = len(length)
    axes = [signature(np.linspace(0, high, _POINTS[n])) for high in length]
    samples = axes[0]
    for axis in axes[1:]:
        samples = samples[..., None] * axis
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
