r"""The intersection map of Maji and Berg: the bins below a value, counted in unary.

The range :math:`[0, b]` of a feature is cut into N equal bins. A value x, at :math:`u = Nx/b` bins,
has the outputs :math:`\sqrt{b/N}\,(1, \dots, 1, a, 0, \dots, 0)`: as many ones as there are whole
bins below it, then the fraction a of the bin it is in (piecewise linear), or ones alone, round(u)
of them (piecewise constant). Either way the inner products tend to :math:`\min(x, y)`.

A linear function of the piecewise linear outputs is continuous, linear inside the bins, and zero at
zero: it is known by its values :math:`\sqrt b\,c` at the knots :math:`b/N, \dots, b`, and evaluated
from two of them, :math:`f(x) = \sqrt b\,((1-a)c_{\lfloor u\rfloor} + a c_{\lfloor u\rfloor+1}) =
c^\top\varphi(x)`. So two non-zeros per value are enough, if the regulariser is changed along: with
weights w in the unary form, :math:`\lVert w\rVert^2 = c^\top H c` for :math:`H = N D^\top D`, the
tridiagonal matrix made of the differences D of neighbours. The other way round, with any factor
:math:`H = C^\top C`, Cholesky's for one, the features :math:`C^{-\top}\varphi(x)` go with the plain
:math:`\lVert w\rVert^2`; :math:`C = \sqrt N D` gives the unary form itself.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmaps.codes.codebook import Codebook
from kmaps.codes.table import LookupTable
from kmaps.maps.grids import LocalGrid, PieceGrid, StepGrid, evaluate_pieces
from kmaps.maps.parameters import Piece, check_intersection
from kmaps.maps.ranged import RangedMap
from kmaps.matrices import AnyMatrix

_HATS = np.array([[1.0, 0.0], [-1.0, 1.0]])  # 1 - t and t, by the powers of t


@dataclass(eq=False, repr=False)
class IntersectionMap(RangedMap):
    r"""Approximate the intersection kernel by counting bins in unary.

    Use it for the intersection kernel, whose homogeneous map converges slowly.

    See Maji and Berg, Max-Margin Additive Classifiers for Detection, ICCV 2009.

    Parameters
    ----------
    n_bins : int
        N ≥ 1, the bins of a range and the outputs of a feature; at most 255 with
        ``piece="constant"``, whose samples can be stored as codes of a byte.
    piece : {"linear", "constant"}
        The form of the outputs inside a bin.
    sparse : bool
        With ``piece="linear"`` and two bins or more: at most two non-zeros per value, as CSR, to be
        trained with `regularizer_`, as `CodedSVC` does.
    upper : float, optional
        b, the end of the range of all features; by default the range of each feature ends at its
        largest training value. Larger values are clamped.

    Attributes
    ----------
    regularizer_ : ndarray, shape (N, N)
        H, which replaces the identity for the weights of each feature when ``sparse``.

    See Also
    --------
    SplineMap : The same curves with other smoothness, normalised for any linear model.
    ExactMap : The kernel itself, on up to 256 levels.
    HomogeneousMap : Few outputs, the same for every scale of values.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import IntersectionMap
    >>> feature_map = IntersectionMap(n_bins=4).fit([[1.0]])
    >>> feature_map.transform([[0.4]]) * 2
    array([[1. , 0.6, 0. , 0. ]])
    """

    source = "mb, piecewise constant and linear encodings"
    approximates = "intersection"
    _unsigned = True

    n_bins: int = 20
    piece: Piece = "linear"
    sparse: bool = False
    upper: float | None = None

    @property
    def has_codes(self) -> bool:
        """Whether the curve is a step function, so that the map has `to_codes`."""
        return self.piece == "constant"

    _check_parameters = check_intersection

    def _ends(self, X: AnyMatrix) -> tuple[NDArray, NDArray]:
        _, high = super()._ends(X)
        if self.upper is not None:
            high = np.full(len(high), self.upper)
        return np.zeros(len(high)), high

    def _fit_curve(self, X: AnyMatrix) -> None:
        super()._fit_curve(X)
        n = self.n_bins
        knots = np.eye(n)
        if self.sparse:
            self.n_stored_ = 2
            differences = knots - np.eye(n, k=-1)
            self._pieces = np.stack([np.eye(n, k=-1), differences], axis=1)
            self.regularizer_ = n * differences.T @ differences
        else:
            self.n_stored_ = None
            self._pieces = np.stack([np.tri(n, k=-1), knots], axis=1)
        if self.has_codes:
            low, high, scale = self._ranges()
            codebook = Codebook(np.linspace(low, high, n + 1, axis=1), low, high)
            self.table_ = scale[:, None, None] * np.tri(n + 1, n, k=-1)
            self._steps = StepGrid(codebook, LookupTable(self.table_))

    def _scale(self, width: NDArray) -> NDArray:
        return np.sqrt(width if self.sparse else width / self.n_bins)

    def _unit_curve(self, position: NDArray) -> NDArray:
        return evaluate_pieces(self._pieces, position)

    def _curve(self, x: NDArray, feature: NDArray) -> NDArray:
        return self._steps.curve(x, feature) if self.has_codes else super()._curve(x, feature)

    def _grid(self) -> PieceGrid | StepGrid:
        if self.has_codes:
            return self._steps
        if self.sparse:
            return _HatGrid(_HATS, self.n_bins, self.low_, self.high_, self.scale_)
        return PieceGrid(self._pieces[None], *self._ranges(), exact=True)

    def _output_names(self) -> list[str]:
        return [f"bin{i}" for i in range(self.n_bins)]


class _HatGrid(LocalGrid):
    """The two hats around a value, of those at the knots above zero."""

    def encode(  # type: ignore[override]
        self, values: NDArray, features: NDArray, data: NDArray, columns: NDArray
    ) -> tuple[bool, int]:
        """Fill the parts of a CSR (n, m·2), as `LocalGrid.encode` does, without hats at zero."""
        report = super().encode(values, features, data, columns)
        first, second = np.moveaxis(columns.reshape(*values.shape, 2), -1, 0)
        low, high = np.moveaxis(data.reshape(*values.shape, 2), -1, 0)
        feature, knot = np.divmod(first, self.n_cells + 1)
        at_zero = knot == 0
        # The next hat replaces the hat at zero, and one of no height is added.
        first -= feature + 1 - at_zero
        second -= feature + 1 - at_zero
        np.copyto(low, high, where=at_zero)
        np.copyto(high, 0, where=at_zero)
        return report

    def _dense(self, pieces: NDArray) -> NDArray:
        return super()._dense(pieces)[..., 1:]
