r"""Penalised B-splines (Maji).

The range of each feature is cut into bins of equal width h, which carry n_bins + p B-splines
:math:`\Phi_i` of degree p, of which p + 1 are not zero at a value. A function
:math:`f = w^\top\Phi` is smooth when neighbouring weights differ little, so its roughness is
:math:`\|D_s w\|^2`: :math:`D_1` has ones on the diagonal and minus ones below it, and
:math:`D_s = D_1^s`. Because :math:`D_s` has an inverse, the features

.. math::
    \tilde\Phi(x) = D_s^{-\top}\,\Phi(x)

turn the penalised model into a plain linear one (lac Sect. 3).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from kmaps.maps.grids import LocalGrid, PieceGrid, evaluate_pieces, range_width
from kmaps.maps.parameters import Degree, Penalty, check_spline
from kmaps.maps.ranged import RangedMap
from kmaps.matrices import AnyMatrix

BASIS = (
    np.array([[1.0]]),
    np.array([[1.0, 0.0], [-1.0, 1.0]]),
    np.array([[1.0, 1.0, 0.0], [-2.0, 2.0, 0.0], [1.0, -2.0, 1.0]]) / 2,
    np.array([[1, 4, 1, 0], [-3, 0, 3, 0], [3, -6, 3, 0], [-1, 3, -3, 1]]) / 6,
)
"""By degree p: the p+1 B-splines at fraction t of a bin, as coefficients (power of t, spline)."""


@dataclass(eq=False, repr=False)
class SplineMap(RangedMap):
    r"""Fit a spline to each feature, of any smoothness, by a linear model.

    Use it for features that are no histograms, and where you want a smooth function per feature
    that can be drawn, rather than a kernel.

    See Maji, Linearized Additive Classifiers, arXiv 1110.0879, Sect. 3-4.

    Parameters
    ----------
    n_bins : int
        Number of bins of equal width between the smallest and the largest value of each feature, ≥
        1; each feature gets r = n_bins + degree outputs.
    degree : {0, 1, 2, 3}
        Degree p of the B-splines, which are piecewise constant, linear, quadratic or cubic.
    penalty : {0, 1, 2, 3}
        Order s of the differences of neighbouring weights that are penalised. With 0, the weights
        themselves are penalised, and `transform` gives a CSR matrix of the B-splines with degree +
        1 stored values per feature; with any other order it gives dense output.

    See Also
    --------
    FourierMap : Few dense outputs of smooth functions without local detail.
    HermiteMap : Polynomials, for ranges with no natural ends.
    CodedSVC : Trains on the map, in the form ``local``, and draws the functions.

    Notes
    -----
    With the factor √h (h the bin width in units of the feature), degree 1 with penalty 1 tends to
    the intersection kernel of :math:`x - a`, the distance to the lower end a of the range, with an
    error that falls as h (lac Sect. 4). Degree p with penalty p + 1 is the basis of truncated
    powers, :math:`\tilde\Phi_i = \sqrt h\,(u - i + p)_+^p / p!` at position u = (x-a)/h. Penalties
    of other orders than 1 approach an integral over the s-th derivative up to a power of h, so C
    has to be chosen again when n_bins changes.

    The first output of a feature is constant when s > 0; it is the level of the function.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.35], [1.0]])
    >>> np.round(SplineMap(n_bins=2, degree=1, penalty=1).fit_transform(X) / 0.5**0.5, 2)
    array([[1. , 0. , 0. ],
           [1. , 0.7, 0. ],
           [1. , 1. , 1. ]])
    """

    source = "lac Sect. 3"

    n_bins: int = 10
    degree: Degree = 1
    penalty: Penalty = 1

    def tabulate_local(self, levels: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
        """Return the B-splines that are not zero on levels.

        Parameters
        ----------
        levels : array-like, shape (L,) or (d, L)
            The levels of all features, or of each.

        Returns
        -------
        first : ndarray, shape (1 or d, L)
            The first of the degree + 1 splines that are not zero.
        values : ndarray, shape (1 or d, L, degree + 1)
            Their values, √h included.
        kernel : ndarray, shape (m, m)
            D_s⁻¹D_s⁻ᵀ of all splines: with the values Φ of all of them, Φ·D_s⁻¹D_s⁻ᵀ·Φᵀ is the
            kernel of the levels, of which `tabulate` gives a factor.
        """
        check_is_fitted(self)
        levels, features = self._levels_and_features(levels)
        x, _ = self._clamp(levels, features)
        width = range_width(self.low_, self.high_)[0][features]
        position = self.n_bins * (x - self.low_[features]) / width
        if self.degree > 0:  # continuous: the end of a bin may belong to the next bin
            nearest_end = np.round(position)
            # Apart from rounding, such a level ends a bin for all features or for none.
            is_end = np.abs(position - nearest_end) < 1e-9 * self.n_bins
            position = np.where(is_end, nearest_end, position)
        first = np.minimum(position.astype(np.intp), self.n_bins - 1)
        powers = (position - first)[..., None] ** np.arange(self.degree + 1)
        inverse = inverse_difference(self.n_bins + self.degree, self.penalty)
        basis = self.scale_[features][..., None] * (powers @ BASIS[self.degree])
        return first, basis, inverse @ inverse.T

    _check_parameters = check_spline

    def _fit_curve(self, X: AnyMatrix) -> None:
        super()._fit_curve(X)
        self.n_stored_ = self.degree + 1 if self.penalty == 0 else None
        self._pieces = spline_pieces(self.n_bins, self.degree, self.penalty)

    def _scale(self, width: NDArray) -> NDArray:
        return np.sqrt(width / self.n_bins)

    def _unit_curve(self, position: NDArray) -> NDArray:
        return evaluate_pieces(self._pieces, position)

    def _grid(self) -> PieceGrid:
        if self.n_stored_ is not None:
            return LocalGrid(BASIS[self.degree], self.n_bins, self.low_, self.high_, self.scale_)
        return PieceGrid(self._pieces[None], *self._ranges(), exact=True)

    def _output_names(self) -> list[str]:
        return [f"spline{i}" for i in range(self.n_outputs_)]


def spline_pieces(n_bins: int, degree: int, penalty: int) -> NDArray:
    """Return Φ̃ by bin, power of the fraction of the bin, and spline."""
    n_splines = n_bins + degree
    inverse = inverse_difference(n_splines, penalty)
    return np.stack([BASIS[degree] @ inverse[b : b + degree + 1] for b in range(n_bins)])


def inverse_difference(size: int, order: int) -> NDArray:
    """Return the inverse of the difference matrix D_s; Φ̃ᵀ is Φᵀ times it."""
    return np.linalg.matrix_power(np.tri(size), order)
