r"""Descriptors of patches by products of low-dimensional maps (ldefm Sect. 6).

The match kernel of two patches compares every gradient of one with every gradient of the other, by
angle and by position,

.. math::
    K(P, Q) = \sum_{p \in P} \sum_{q \in Q} m_p m_q\,
    e^{(\cos(\theta_p - \theta_q) - 1)/\sigma_\theta^2} \, e^{-\|x_p - x_q\|^2 / 2\sigma_x^2},

with magnitudes m, and is the inner product of :math:`\sum_p m_p\,\psi_\theta(\theta_p) \otimes
\psi_x(x_p) \otimes \psi_x(y_p)`: the fewer outputs the three maps have, the shorter the descriptor.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from kmaps.checks import check_choice, check_flag, check_positive, check_whole
from kmaps.errors import InputError
from kmaps.estimators import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from kmaps.maps import HarmonicMap, LowDimMap, ProductMap, RandomFourierMap
from kmaps.validation import validate_data

KINDS = ("lowdim", "harmonic", "random")
_BLOCK_VALUES = 1 << 22  # outputs of single pixels, held at once


@dataclass(eq=False, repr=False)
class PositionAngleMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Describe patches by the angles and positions of their gradients, in few numbers.

    Parameters
    ----------
    height, width : int
        Sides of a patch in pixels; a row of X is one patch, row by row of pixels.
    angle_dim, position_dim : int
        Outputs of the map of the angle and of the map of either coordinate; a descriptor has
        angle_dim · position_dim² numbers.
    angle_width, position_width : float
        :math:`\sigma_\theta` in radians, and :math:`\sigma_x` as a part of the patch's side.
    kind : {"lowdim", "harmonic", "random"}
        Maps of positions by linear programs; by harmonics; or random frequencies of angle and
        position together, as many outputs, or one more. Angles have harmonics in the first two.
    normalize : bool
        Whether descriptors have the norm 1; the descriptors of flat patches are 0.
    random_state : int, RandomState or None
        Seed of the random frequencies.

    Attributes
    ----------
    n_outputs_ : int
        Numbers of a descriptor.

    See Also
    --------
    ProductMap : The product of any maps.

    References
    ----------
    Chum, Low Dimensional Explicit Feature Maps, ICCV 2015, Sect. 6, which names the application;
    Bo, Ren and Fox, Kernel Descriptors for Visual Recognition, NIPS 2010, whose kernel it is.

    Examples
    --------
    >>> import numpy as np
    >>> patches = np.random.default_rng(0).random((10, 64))
    >>> descriptors = PositionAngleMap(8, 8).fit_transform(patches)
    >>> descriptors.shape, bool(np.allclose((descriptors**2).sum(axis=1), 1))
    ((10, 45), True)
    """

    height: int = 8
    width: int = 8
    angle_dim: int = 5
    position_dim: int = 3
    angle_width: float = 0.5
    position_width: float = 0.3
    kind: str = "lowdim"
    normalize: bool = True
    random_state: int | RandomState | None = 0

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the maps; of X only the number of columns matters, which the patch's shape says."""
        for name, least in (("height", 2), ("width", 2), ("angle_dim", 1), ("position_dim", 1)):
            check_whole(name, getattr(self, name), least)
        check_positive("angle_width", self.angle_width)
        check_positive("position_width", self.position_width)
        check_choice("kind", self.kind, KINDS)
        check_flag("normalize", self.normalize)
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        if X.shape[1] != self.height * self.width:
            raise InputError(
                f"X has {X.shape[1]} columns, but height={self.height} and width={self.width} mean "
                f"{self.height * self.width}: give the sides of the patches"
            )
        if self.kind == "random":
            self._fit_random()
        else:
            self._fit_product()
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Describe patches as ``(n, n_outputs_)``, in the dtype of X."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        out = np.empty((len(X), self.n_outputs_), X.dtype)
        per_pixel = self.n_outputs_ if self.kind == "random" else self.angle_dim
        rows = max(1, _BLOCK_VALUES // (X.shape[1] * per_pixel))
        for start in range(0, len(X), rows):
            out[start : start + rows] = self._described(X[start : start + rows])
        if self.normalize:
            norms = np.linalg.norm(out, axis=1, keepdims=True)
            out /= np.where(norms == 0, 1, norms)
        return out

    def _positions(self) -> NDArray:
        """Return the positions (pixels, 2) of the pixels, from 0 to 1 along the longer side."""
        axes = np.meshgrid(np.arange(self.height), np.arange(self.width), indexing="ij")
        return np.stack(axes, axis=-1).reshape(-1, 2) / (max(self.height, self.width) - 1)

    def _fit_product(self) -> None:
        map_class = HarmonicMap if self.kind == "harmonic" else LowDimMap
        of_one = map_class("rbf", self.position_dim, low=0, high=1, sigma=self.position_width)
        self._places = ProductMap(of_one).fit_transform(self._positions())
        angles = LowDimMap("von-mises", self.angle_dim, period=2 * np.pi, sigma=self.angle_width)
        self._angles = angles.fit([[0.0], [np.pi]])
        self.n_outputs_ = self._angles.n_outputs_ * self._places.shape[1]

    def _fit_random(self) -> None:
        # On the circle the von Mises kernel is the rbf kernel, so all is one rbf kernel of R⁴.
        m = -(-self.angle_dim * self.position_dim**2 // 2)
        self._random = RandomFourierMap(m, sigma=1.0, random_state=self.random_state)
        self._random.fit(np.zeros((1, 4)))
        self._places = self._positions() / self.position_width
        self.n_outputs_ = 2 * m

    def _described(self, X: NDArray) -> NDArray:
        along_y, along_x = np.gradient(X.reshape(-1, self.height, self.width), axis=(1, 2))
        sizes = np.hypot(along_x, along_y).reshape(X.shape)
        angles = np.arctan2(along_y, along_x).reshape(-1, 1)
        if self.kind != "random":
            waves = self._angles.transform(angles).reshape(*X.shape, -1) * sizes[..., None]
            summed = np.tensordot(waves, self._places, axes=(1, 0))
            return summed.reshape(len(X), -1)
        circle = np.hstack([np.cos(angles), np.sin(angles)]) / self.angle_width
        places = np.tile(self._places, (len(X), 1))
        outputs = self._random.transform(np.hstack([circle, places]))
        return np.einsum("np,npm->nm", sizes, outputs.reshape(*X.shape, -1))

    @property
    def _n_features_out(self) -> int:
        return self.n_outputs_
