"""Classifiers whose scores are products with weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.svm.probabilities import ProbabilisticClassifier


class LinearClassifier(ProbabilisticClassifier):
    """A reduced classifier with weights, one of them that of a constant feature, ``bias``."""

    bias: float

    def _set_weights(self, weights: NDArray[np.float64], X: Any) -> None:
        """Keep the weights of each problem, that of the constant last if it has one."""
        d = X.shape[1]
        self.coef_ = np.ascontiguousarray(weights[:, :d], dtype=X.dtype)
        self.intercept_ = (weights[:, d:].sum(axis=1) * self.bias).astype(X.dtype)
        self.model_bytes_ = self.coef_.nbytes + self.intercept_.nbytes

    def _scores(self, X: Any) -> NDArray:
        return X @ self.coef_.T + self.intercept_
