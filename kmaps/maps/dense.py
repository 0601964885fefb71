"""What maps have in common that take dense samples and give dense outputs, all columns at once."""

from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from kmaps.errors import InputError
from kmaps.maps.capabilities import FeatureMap


class DenseMap(ClassNamePrefixFeaturesOutMixin, FeatureMap):
    """A map with ``n_outputs_`` outputs in the dtype of the samples, once it is fitted."""

    takes_sparse_ = False
    n_outputs_: int

    def _refuse_sparse(self, X: ArrayLike) -> None:
        if issparse(X):
            raise InputError(
                f"{type(self).__name__} takes no sparse input, because its outputs are dense: pass "
                "a dense array (X.toarray())"
            )

    @property
    def _n_features_out(self) -> int:
        return self.n_outputs_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
