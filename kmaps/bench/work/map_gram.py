"""Kernel matrices of maps, on which LIBSVM trains as it does on those of exact kernels.

Rows that have the same solver differ in their kernels alone.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kmaps.bench.work.storage import codes_storage, storage
from kmaps.maps import FeatureMap, Tabulated
from kmaps.svm import code_gram, code_samples


class MapGram(ABC):
    """A map fitted to samples, and the kernel matrices of its outputs.

    Attributes
    ----------
    matrix : ndarray of float32, shape (n, n)
        That of the samples with each other.
    dim : int
        Outputs of the map.
    """

    matrix: NDArray[np.float32]
    dim: int

    @abstractmethod
    def against(self, X: Any) -> NDArray[np.float32]:
        """Return the matrix (m, n) of other samples with these."""

    @abstractmethod
    def storage(self) -> dict[str, Any]:
        """Count the storage of the samples and the map, without a model."""


def map_gram(feature_map: Any, X: Any, y: Any) -> MapGram:
    """Fit a map to samples and return their kernel matrix: on codes if the map has tables."""
    if isinstance(feature_map, Tabulated):
        return _OfCodes(feature_map, X)
    return _OfOutputs(feature_map.fit(X, y), X)


class _OfCodes(MapGram):
    def __init__(self, feature_map: Any, X: Any) -> None:
        self.rows = code_samples(feature_map, X, form="low-rank")
        self.matrix = code_gram(self.rows)
        fitted: Any = self.rows.map
        # Dense: some maps would make of a sparse row one that is not.
        self.dim = fitted.transform(X[:1].toarray() if issparse(X) else X[:1]).shape[1]

    def against(self, X: Any) -> NDArray[np.float32]:
        return code_gram(self.rows.encode(X), self.rows)

    def storage(self) -> dict[str, Any]:
        return codes_storage(self.rows)


class _OfOutputs(MapGram):
    def __init__(self, fitted: FeatureMap, X: Any) -> None:
        self.map, self.samples, self.encoded = fitted, X, fitted.transform(X)
        self.matrix, self.dim = self._with(self.encoded), self.encoded.shape[1]

    def against(self, X: Any) -> NDArray[np.float32]:
        return self._with(self.map.transform(X))

    def _with(self, encoded: Any) -> NDArray[np.float32]:
        products = encoded @ self.encoded.T
        dense = products.toarray() if issparse(products) else products
        return dense.astype(np.float32, copy=False)

    def storage(self) -> dict[str, Any]:
        return storage(self.samples, self.map, self.encoded, 0)
