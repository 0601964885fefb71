r"""One curve stretched over the range of each feature.

With the position :math:`u = (x - a_j) / (b_j - a_j)` in the range :math:`[a_j, b_j]`, of feature j
in the training data or around its mean there, the map is :math:`\psi_j(x) = \sigma_j\,\varphi(u)`:
the features share the curve :math:`\varphi` on [0, 1] and differ by range and scale.
"""

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.sparsefuncs import min_max_axis

from kmaps.array_api import like
from kmaps.errors import InputError
from kmaps.maps.base import AdditiveMap
from kmaps.maps.grids import LogGrid, PieceGrid, StepGrid, cubic_pieces, range_width
from kmaps.matrices import AnyMatrix

if TYPE_CHECKING:
    from kmaps.maps.fitted_grid import FittedGrid

_CLOSE = 1e-8  # largest error of ONNX graphs in double precision, relative to the largest output


class RangedMap(AdditiveMap):
    """Base of the maps that stretch one curve over each feature's range.

    A subclass writes `_check_parameters`, `_unit_curve`, and, where they matter, `_ends`, `_scale`
    and `_grid`. A constant feature has no range: its outputs are all zero, whatever the value, by
    its factor in ``scale_`` (d,). Data in which no feature varies are refused in `fit`.
    """

    low_: NDArray
    high_: NDArray
    spread: float | None = None

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that are out of range."""

    @abstractmethod
    def _unit_curve(self, position: NDArray) -> NDArray:
        """Return the curve at positions in [0, 1]: float64, ``position.shape + (r,)``."""

    def _scale(self, width: NDArray) -> NDArray:
        """Return the factor of the outputs of a feature whose range is so wide."""
        return np.ones_like(width)

    def _ends(self, X: AnyMatrix) -> tuple[NDArray, NDArray]:
        """Return the ends of each feature's range; with a ``spread``, around its mean."""
        low, high = min_max_axis(X, axis=0) if issparse(X) else (X.min(axis=0), X.max(axis=0))
        if self.spread is None:
            return low, high
        from sklearn.preprocessing import StandardScaler  # other maps do not need it

        scaler = StandardScaler(with_mean=False).fit(X)
        half_width = self.spread * np.sqrt(scaler.var_) * (low < high)  # rounding makes no range
        return scaler.mean_ - half_width, scaler.mean_ + half_width

    def _fit_curve(self, X: AnyMatrix) -> None:
        self._check_parameters()
        low, high = self._ends(X)
        self.low_ = low.astype(np.float64)
        self.high_ = high.astype(np.float64)
        width, varies = range_width(self.low_, self.high_)
        if not varies.any():
            raise InputError(
                f"{type(self).__name__} needs a feature that varies, but all of them are constant "
                f"(n_samples={X.shape[0]}): fit it on more data"
            )
        self.shared_curve_ = bool(np.ptp(self.low_) == 0 and np.ptp(self.high_) == 0)
        self.scale_ = self._scale(width) * varies

    def _curve(self, x: NDArray, feature: NDArray) -> NDArray:
        # The order of the compiled loop, so that both round equally.
        per_width = 1 / range_width(self.low_, self.high_)[0]
        position = (x - like(x, self.low_[feature])) * like(x, per_width[feature])
        return like(x, self.scale_[feature])[..., None] * self._unit_curve(position)

    def _ranges(self) -> tuple[NDArray, NDArray, NDArray]:
        """Return the ends and the scale of each range, once when all features share them."""
        n = 1 if self.shared_curve_ else len(self.low_)
        return self.low_[:n], self.high_[:n], self.scale_[:n]

    def _tables(self) -> tuple[NDArray, ...]:
        return self._ranges()[:2]

    def _grid(self) -> PieceGrid | StepGrid | None:
        pieces = cubic_pieces(self._unit_curve)
        return None if pieces is None else PieceGrid(pieces[None], *self._ranges())

    def _graph_grid(self, dtype: np.dtype) -> "LogGrid | PieceGrid | StepGrid | FittedGrid":
        tabulated = self._fitted_grid is not None and dtype in self._fitted_grid.dtypes
        pieces = None if tabulated else cubic_pieces(self._unit_curve, _CLOSE)
        if pieces is None:
            return super()._graph_grid(dtype)
        return PieceGrid(pieces[None], *self._ranges(), exact=True)
