"""The base classes of scikit-learn, which has no types; the stub has those that checkers need.

A dataclass on a base without types takes any keyword, as far as a type checker can tell.
"""

from sklearn.base import (  # noqa: F401
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
