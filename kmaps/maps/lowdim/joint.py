"""What maps of one kernel of all the inputs together have in common."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from kmaps.checks import warn_outside
from kmaps.errors import ConfigError, InputError
from kmaps.kernels import STATIONARY
from kmaps.maps.capabilities import DenseMap
from kmaps.maps.lowdim.cosines import CosineSum
from kmaps.maps.parameters import check_joint


class JointMap(DenseMap):
    """A sum of cosines in place of a stationary kernel of few variables, on a range.

    A map has the parameters ``kernel``, ``dim``, ``low``, ``high`` and ``sigma``, says how many
    columns it takes, and finds the cosines.
    """

    columns: tuple[int, ...]

    @abstractmethod
    def _approximate(self, signature: Callable, length: NDArray) -> CosineSum:
        """Return the cosines for a signature of differences (N, n) up to ``length`` (n,)."""

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the map; of X only the number of columns and, by default, the range matter.

        Raises
        ------
        ValueError
            For another number of columns, or a parameter out of range.
        """
        self._refuse_sparse(X)
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        n = X.shape[1]
        if n not in self.columns:
            *first, last = map(str, self.columns)
            other = "LowDimMap" if n < self.columns[0] else "RandomFourierMap"
            raise InputError(
                f"X has {n} columns: {type(self).__name__} takes {', '.join(first)} or {last}, "
                f"because its work grows with a power of their number; use {other}"
            )
        self._check_parameters()
        self._set_range(X)
        self._cosines = self._approximate(self._signature(), np.full(n, self.high_ - self.low_))
        self.frequencies_, self.weights_ = self._cosines.frequencies, self._cosines.weights
        self.n_outputs_ = self._cosines.dim
        return self

    def _check_parameters(self) -> None:
        check_joint(self)

    def _set_range(self, X: NDArray) -> None:
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
        """Encode points as (n, n_outputs_), in the dtype of X, those outside the range clamped."""
        check_is_fitted(self)
        self._refuse_sparse(X)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        inside = np.clip(X, self.low_, self.high_)
        warn_outside(int(np.count_nonzero(inside != X)), X.size, type(self).__name__, stacklevel=4)
        return self._cosines.features(inside).astype(X.dtype)
