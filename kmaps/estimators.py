"""The base classes of scikit-learn, which has no types, with those that type checkers need.

A dataclass on a base without types takes any keyword, as far as a type checker can tell.
"""

from typing import TYPE_CHECKING, Any, Self

from numpy.typing import NDArray
from sklearn.utils import Tags

if TYPE_CHECKING:

    class BaseEstimator:
        n_features_in_: int
        feature_names_in_: NDArray

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def __sklearn_tags__(self) -> Tags: ...
        def __getstate__(self) -> Any: ...
        def __setstate__(self, state: Any) -> None: ...

    class TransformerMixin:
        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...

    class ClassNamePrefixFeaturesOutMixin:
        def get_feature_names_out(self, input_features: Any = None) -> NDArray: ...

    class ClassifierMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class RegressorMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...
else:
    from sklearn.base import (  # noqa: F401
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        RegressorMixin,
        TransformerMixin,
    )
