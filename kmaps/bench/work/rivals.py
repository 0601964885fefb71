"""Models of scikit-learn next to which `kmaps recommend` measures those of kmaps.

They are what a user of scikit-learn would train on a table: columns are standardised where the
model needs it, and what is tuned is a parameter, so that the rules of experiments choose it.
"""

from typing import Any, Self

from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC


def _scaler(X: Any) -> StandardScaler:
    """Return a scaler of the columns; of sparse ones it keeps the zeros."""
    return StandardScaler(with_mean=not issparse(X)).fit(X)


class StandardizedLinearSVC(LinearSVC):
    """scikit-learn's linear SVM on standardised columns."""

    def __init__(self, C: float = 1.0, random_state: int | None = None) -> None:
        super().__init__(C=C, random_state=random_state)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the scales of the columns, and train."""
        self.scaler_ = _scaler(X)
        super().fit(self.scaler_.transform(X), y)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the scores of rows."""
        return super().decision_function(self.scaler_.transform(X))


class StandardizedSVC(SVC):
    """scikit-learn's SVM with the rbf kernel on standardised columns.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss.
    width : float, default=1.0
        ``gamma`` times the number of columns.
    """

    def __init__(self, C: float = 1.0, width: float = 1.0) -> None:
        super().__init__(C=C)
        self.width = width

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the scales of the columns, and train."""
        self.scaler_ = _scaler(X)
        scaled = self.scaler_.transform(X)
        self.gamma = self.width / scaled.shape[1]
        super().fit(scaled, y)
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the class of each row."""
        return super().predict(self.scaler_.transform(X))


class BoostedTrees(HistGradientBoostingClassifier):
    """scikit-learn's boosted trees, also on sparse rows, which they take dense.

    Parameters
    ----------
    learning_rate : float, default=0.1
        The step of each tree.
    random_state : int, optional
        Draws the rows on which training decides to stop.
    """

    def __init__(self, learning_rate: float = 0.1, random_state: int | None = None) -> None:
        super().__init__(learning_rate=learning_rate, random_state=random_state)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train."""
        super().fit(X.toarray() if issparse(X) else X, y)
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the class of each row."""
        return super().predict(X.toarray() if issparse(X) else X)
