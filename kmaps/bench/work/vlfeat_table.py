"""VLFeat's homogeneous kernel map as its table makes it, without its C code."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from kmaps.maps import HomogeneousMap


class VLFeatTable(TransformerMixin, BaseEstimator):
    r"""The homogeneous map between the nodes of VLFeat's table, where VLFeat is linear in x.

    Nodes are :math:`2^e (1 + i / s)`, i = 0 … s - 1, e = -20 … 8, with s = 8 + 8n for n = ``order``
    harmonics; values below the first one have zeros (``vl/homkermap.c`` of version 0.9.18).
    """

    def __init__(self, kernel: str = "chi2", order: int = 1) -> None:
        self.kernel = kernel
        self.order = order

    def fit(self, X: Any, y: Any = None) -> Self:
        """Tabulate the homogeneous map."""
        parts = 8 + 8 * self.order
        self.nodes_ = np.outer(2.0 ** np.arange(-20, 9), 1 + np.arange(parts) / parts).ravel()
        exact_map = HomogeneousMap(self.kernel, order=self.order, period=None)
        self.table_ = exact_map.fit_transform(self.nodes_[:, None])
        return self

    def transform(self, X: Any) -> Any:
        """Return the interpolated outputs of each feature side by side."""
        x = np.ravel(X)
        columns = [np.interp(x, self.nodes_, column, left=0.0) for column in self.table_.T]
        return np.column_stack(columns).reshape(len(X), -1)
