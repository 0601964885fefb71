r"""The engine under every additive map: a curve, tabulated.

An additive kernel :math:`K(x, y) = \sum_j k(x_j, y_j)` has a feature map that acts on one scalar
at a time: a curve :math:`\psi_j(x)` in r dimensions for each feature j, stacked feature by feature.
A map class says what its curve is (`_fit_curve`, `_curve`) and where to tabulate it (`_grid`); all
else, encoding, tabulating, sparse input, names, comes from here.
"""

import warnings
from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from kmaps._loops import encode as loops
from kmaps._parallel import for_blocks
from kmaps.errors import InputError
from kmaps.maps.grids import LogGrid, UniformGrid

_BLOCK_VALUES = 1 << 18  # values of the output in a block: 1 MB in float32, inside a core's cache


class AdditiveMap(TransformerMixin, BaseEstimator):
    """Base of the additive maps.

    A subclass sets ``source`` (paper and equation), ``learns_from_data = False`` when `fit` needs
    no more of X than its number of columns, and writes `_fit_curve`, `_curve`, `_grid`, and,
    where plain numbers do not do, `_output_names`. It sets ``shared_curve_ = False`` in
    `_fit_curve` when each feature has a curve of its own.

    Attributes
    ----------
    n_features_in_ : int
        Number of features d seen in `fit`.
    n_outputs_ : int
        Number of outputs r of each feature; feature j owns the columns j·r … (j+1)·r-1.
    zero_to_zero_ : bool
        Whether zero maps to zero for every feature; then CSR input gives CSR output.
    """

    source = ""
    learns_from_data = True
    shared_curve_ = True

    @abstractmethod
    def _fit_curve(self, X) -> None:
        """Check the parameters and learn what the curve needs from validated ``X``."""

    @abstractmethod
    def _curve(self, x: NDArray, feature: NDArray) -> NDArray:
        """Return each ``feature``'s curve at ``x`` (same shape): float64, ``x.shape + (r,)``."""

    @abstractmethod
    def _grid(self) -> LogGrid | UniformGrid | None:
        """Return the grid on which float32 input is encoded; None: by the curve itself."""

    def _output_names(self) -> list[str]:
        """Return a name for each of the r outputs of a feature."""
        return [str(c) for c in range(self.n_outputs_)]

    def fit(self, X: ArrayLike, y: object = None) -> "AdditiveMap":
        """Check the parameters and learn the curve.

        Parameters
        ----------
        X : array-like or CSR matrix, shape (n, d)
            Numbers of any real type; finite.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For NaN or infinity, complex or textual data, or a parameter out of range.
        """
        X = validate_data(self, X, accept_sparse="csr")
        self._fit_curve(X)
        features = np.arange(self.n_features_in_)
        at_zero = self._curve(np.zeros(len(features)), features)
        self.n_outputs_ = at_zero.shape[1]
        self.zero_to_zero_ = not at_zero.any()
        self._encoder = self._grid()
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Encode every value of X by its feature's curve.

        float64 input (and integers beyond 16 bits) is encoded by the curve itself in float64;
        float32 (and half precision, and integers of up to 16 bits) by linear interpolation in a
        table, in float32; uint8 by direct look-up, in float32.

        Parameters
        ----------
        X : array-like or CSR matrix, shape (n, d)

        Returns
        -------
        ndarray or CSR matrix, shape (n, d·r)
            CSR for CSR input, which only maps with ``zero_to_zero_`` accept.

        Raises
        ------
        ValueError
            For NaN or infinity, another number of features, or CSR input to a map that does not
            keep zeros.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", ensure_all_finite=False)
        if not issparse(X):
            return self._encode(_as_float(X), np.arange(X.shape[1]))
        return self._encode_sparse(X)

    def tabulate(self, levels: ArrayLike) -> NDArray:
        """Return the curve on given levels.

        Parameters
        ----------
        levels : array-like, shape (L,) or (d, L)
            Levels common to all features, or those of each feature.

        Returns
        -------
        ndarray, shape (1, L, r) or (d, L, r), float64
            One table when all features share curve and levels, else one a feature. Row l of table
            j is what `transform` gives for the value ``levels[l]`` of feature j.
        """
        check_is_fitted(self)
        levels = np.atleast_2d(np.asarray(levels, np.float64))
        n_tables = 1 if self.shared_curve_ and len(levels) == 1 else self.n_features_in_
        levels = np.broadcast_to(levels, (n_tables, levels.shape[1]))
        return self._curve(levels, np.arange(n_tables)[:, None])

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray:
        """Return ``<feature>_<output>`` for each encoded column, as an object array."""
        check_is_fitted(self, "n_outputs_")
        names = _check_feature_names_in(self, input_features)
        outputs = self._output_names()
        return np.array([f"{name}_{output}" for name in names for output in outputs], object)

    def _encode_sparse(self, X):
        if not self.zero_to_zero_:
            raise InputError(
                f"{type(self).__name__} does not map zero to zero, so sparse input would give "
                "dense output: pass a dense array (X.toarray())"
            )
        if not X.has_canonical_format:
            X = X.copy()  # the curve of a sum is not the sum of the curves
            X.sum_duplicates()
        r = self.n_outputs_
        # The stored values are one long row, each with its own feature.
        data = self._encode(_as_float(X.data)[None, :], X.indices)[0]
        shape = (X.shape[0], X.shape[1] * r)
        index = np.int32 if max(X.nnz * r, shape[1]) < 2**31 else np.int64
        indices = X.indices[:, None].astype(index) * r + np.arange(r, dtype=index)
        return type(X)((data, indices.ravel(), X.indptr.astype(index) * r), shape=shape)

    def _encode(self, values: NDArray, features: NDArray) -> NDArray:
        """Encode ``values`` (n, m) of the m ``features`` as (n, m·r), in blocks, in parallel."""
        n, m = values.shape
        r = self.n_outputs_
        out = np.empty((n, m * r), np.float32 if values.dtype == np.uint8 else values.dtype)
        encode = self._block_encoder(values.dtype)

        def block(start: int, stop: int) -> tuple[bool, int]:
            if n == 1:  # stored values of a sparse matrix
                part = slice(None), slice(start, stop)
                return encode(values[part], features[start:stop], out[:, start * r : stop * r])
            return encode(values[start:stop], features, out[start:stop])

        length, rows = (m, _BLOCK_VALUES // r) if n == 1 else (n, _BLOCK_VALUES // max(1, m * r))
        reports = for_blocks(block, length, max(1, rows))
        if any(not_finite for not_finite, _ in reports):
            self._refuse_not_finite(values)
        self._report_outside(sum(outside for _, outside in reports), values.size)
        return out

    def _block_encoder(self, dtype: np.dtype):
        """Return the function that encodes a block: by look-up, by the grid, or by the curve."""
        if dtype == np.uint8:
            table = self.tabulate(np.arange(256)).astype(np.float32)
            outputs = loops.unrolled(self.n_outputs_)

            def encode(codes, features, out):
                loops.take(codes, None if len(table) == 1 else features, table, out, outputs)
                return False, 0

            return encode
        if dtype == np.float32 and self._encoder is not None:
            return self._encoder.encode

        def encode(values, features, out):
            finite = np.isfinite(values).all()
            if finite:
                features = np.broadcast_to(features, values.shape)
                out[:] = self._curve(values, features).reshape(out.shape)
            return not finite, 0

        return encode

    def _refuse_not_finite(self, values: NDArray) -> None:
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise InputError(
            f"Input X contains NaN or infinity (the first at row {row}, column {column}): "
            "remove or impute it"
        )

    def _report_outside(self, outside: int, total: int) -> None:
        if outside:
            warnings.warn(
                f"{outside} of {total} values lie outside the range that {type(self).__name__} was "
                "fitted on and were clamped to it",
                stacklevel=4,
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _as_float(X: NDArray) -> NDArray:
    """Return X as uint8, float32 or float64, converted without loss where there is a choice."""
    if X.dtype == np.uint8:
        return X
    wide = np.promote_types(X.dtype, np.float32)
    return np.ascontiguousarray(X, np.float32 if wide == np.float32 else np.float64)
