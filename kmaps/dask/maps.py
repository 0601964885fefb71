"""Feature maps for collections of Dask."""

from functools import partial
from typing import Any, Self

import dask
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from kmaps.dask.chunks import Summary, blocks_of, is_collection, mapped, summary_of
from kmaps.errors import InputError
from kmaps.maps.capabilities import FeatureMap
from kmaps.matrices import AnyMatrix
from kmaps.validation import refuse_mask


class BlockwiseMap(TransformerMixin, BaseEstimator):
    """A map of kmaps for collections of Dask.

    Parameters
    ----------
    map : map
        A map of kmaps, of which a copy is fitted.

    Attributes
    ----------
    map_ : map
        The fitted copy.
    n_features_in_ : int
        The number of features, d.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from kmaps import HomogeneousMap
    >>> from kmaps.dask import BlockwiseMap
    >>> X = da.random.default_rng(0).random((1000, 4), chunks=(250, 4))
    >>> Z = BlockwiseMap(HomogeneousMap(kernel="chi2", order=1)).fit_transform(X)
    >>> Z.shape, Z.dtype, Z.numblocks
    ((1000, 12), dtype('float32'), (4, 1))
    """

    def __init__(self, map: FeatureMap):
        self.map = map

    def fit(self, X: Any, y: object = None) -> Self:
        """Fit the map in one pass over the blocks of X, as described in `BlockwiseSVC.fit`.

        A map that learns from data learns from the least and the largest value of each feature over
        all rows, and from 10,000 rows, evenly spaced and as many in each block, or from all rows if
        there are no more.
        """
        summary: Summary
        (summary,) = dask.compute(summary_of(blocks_of(X), None, 0, True))
        if summary.sample is None:
            raise InputError("no samples: expected at least one row")
        self.map_ = clone(self.map).fit(_with_ends(summary))
        self.n_features_in_ = summary.columns.n_columns
        return self

    def transform(self, X: Any) -> Any:
        """Map the rows of a collection lazily, block by block, and of an array immediately.

        The result is a dense dask array of float32 (n, d · r), or a list of delayed blocks if X is
        one.
        """
        check_is_fitted(self)
        encode = partial(_dense, self.map_)
        if not is_collection(X):
            return encode(X)
        width = len(self.map_.get_feature_names_out())
        return mapped(X, encode, self.n_features_in_, np.float32, width)


def _with_ends(summary: Summary) -> AnyMatrix:
    """Return the sample with two more rows, the least and the largest values of all rows."""
    ends = np.stack([summary.columns.low, summary.columns.high])
    sample: AnyMatrix = summary.sample
    if issparse(sample):
        return vstack([sample, ends], "csr")
    return np.concatenate([sample, ends.astype(sample.dtype)])


def _dense(map: FeatureMap, X: Any) -> NDArray[np.float32]:
    refuse_mask(X)
    X = X if issparse(X) else np.asarray(X)
    if X.dtype == np.float64:
        X = X.astype(np.float32)
    encoded = map.transform(X)
    dense = encoded.toarray() if issparse(encoded) else encoded
    return dense.astype(np.float32, copy=False)
