"""From values to codes of one byte."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from kmaps.checks import MAX_LEVELS, check_choice, check_whole
from kmaps.codes.levels import STRATEGIES, Columns, choose_codebook
from kmaps.errors import InputError
from kmaps.validation import check_codes, validate_data


class Quantizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Store every value as the number of its nearest level, one byte.

    Zero is a level wherever it occurs in the training data.

    Use it for data that are stored as codes, and for streams that `CodedSVC.partial_fit` trains on;
    `CodedSVC` chooses levels itself otherwise.

    Parameters
    ----------
    n_levels : int
        L, from 2 to 256: the most levels of a feature.
    strategy : {"auto", "shared", "exact", "uniform", "quantile"}
        ``exact``: the distinct training values, of all features together if they are few enough.
        ``uniform``: equally spaced values over the range of the feature. ``quantile``: quantiles
        of its values, after each frequent value has got a level of its own. ``auto``: exact for
        the features that have at most ``n_levels`` distinct values, else uniform.
        ``shared``: the same levels for all features: exact if they all have few enough, else with
        equally spaced square roots, since homogeneous kernels see values at such distances
        (hkm eq. 8): 64 such levels serve histograms better than 256 equally spaced ones.

    Attributes
    ----------
    levels_ : ndarray, shape (1 or d, L)
        Ascending; a feature with fewer levels repeats its last. One row when it serves all
        features. ``tabulate(levels_)`` of a map gives the rows that belong to the codes.
    code_bits_ : int
        Bits of a code, :math:`\lceil\log_2 L\rceil`.
    n_features_in_ : int
        Number of features d seen in `fit`.

    See Also
    --------
    LookupTable : The outputs that codes stand for.
    CodedSVC : Trains on codes, with ``levels=quantizer.levels_``.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import HomogeneousMap, LookupTable, Quantizer
    >>> X = np.array([[0.0, 0.5], [0.25, 1.0]])
    >>> quantizer = Quantizer().fit(X)
    >>> codes = quantizer.transform(X)
    >>> codes
    array([[0, 2],
           [1, 3]], dtype=uint8)
    >>> feature_map = HomogeneousMap().fit(X)
    >>> table = LookupTable(feature_map.tabulate(quantizer.levels_))
    >>> bool((table.take(codes) == feature_map.transform(X)).all())
    True
    """

    def __init__(self, n_levels: int = 256, strategy: str = "auto"):
        self.n_levels = n_levels
        self.strategy = strategy

    def fit(self, X: ArrayLike, y: object = None) -> "Quantizer":
        """Choose the levels for finite numbers (n, d) of any real type, dense or CSR.

        More distinct values than levels raise ValueError with ``strategy="exact"``.
        """
        check_whole("n_levels", self.n_levels, 2, MAX_LEVELS)
        check_choice("strategy", self.strategy, STRATEGIES)
        columns = Columns(validate_data(self, X, accept_sparse="csr"))
        self._codebook = choose_codebook(columns, self.n_levels, self.strategy)
        self.levels_ = self._codebook.levels
        self.code_bits_ = self._codebook.bits
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Return the code of every value, uint8 (n, d), CSR for CSR input.

        A value outside the range of `fit` has the code of its end, and one warning per call says
        how many there are. CSR is refused unless the code of zero is 0 for every feature.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", ensure_all_finite=False)
        return self._codebook.to_codes(X, type(self).__name__)

    def inverse_transform(self, codes: NDArray) -> NDArray:
        """Return the level of every code: float64 (n, d) of dense uint8 (n, d)."""
        check_is_fitted(self)
        if issparse(codes):
            raise InputError("codes are sparse: pass a dense array (codes.toarray())")
        check_codes(codes, self.n_features_in_, self.levels_.shape[1])
        row = 0 if len(self.levels_) == 1 else np.arange(self.n_features_in_)
        return self.levels_[row, codes]

    def add_to_graph(self, graph: Any, x: Any) -> Any:
        """Add the search for codes to an ONNX graph, as `kmaps.to_onnx` does.

        Parameters
        ----------
        graph : kmaps.onnx_graph.Graph
            The graph, which grows.
        x : kmaps.onnx_graph.Tensor
            Rows (n, d) of the graph.

        Returns
        -------
        kmaps.onnx_graph.Tensor
            Their codes (n, d), uint8.
        """
        return graph.cast(self._codebook.add_to_graph(graph, x), np.uint8)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags
