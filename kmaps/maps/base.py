r"""The engine under every additive map: a curve, tabulated.

An additive kernel :math:`K(x, y) = \sum_j k(x_j, y_j)` has a feature map that acts on one scalar
at a time: a curve :math:`\psi_j(x)` in r dimensions for each feature j, stacked feature by feature.
A map class says what its curve is (`_fit_curve`, `_curve`) and where to tabulate it (`_grid`); all
else, encoding, tabulating, sparse input, names, comes from here.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from kmaps import checks
from kmaps.array_api import like, namespace
from kmaps.codes.codebook import Codebook
from kmaps.codes.table import LookupTable
from kmaps.errors import InputError
from kmaps.maps.capabilities import FeatureMap
from kmaps.maps.grids import LogGrid, PieceGrid, StepGrid
from kmaps.matrices import AnyMatrix, as_float, summed, widened
from kmaps.thread_pool import for_parts
from kmaps.validation import refuse_negative_samples, validate_data

if TYPE_CHECKING:
    from kmaps.maps.fitted_grid import FittedGrid
    from kmaps.onnx_graph import Graph, Tensor

_ENCODED: dict[str, Any] = {"accept_sparse": "csr", "ensure_all_finite": False}
_BLOCK_VALUES = 1 << 18  # outputs in a block that NumPy computes: its temporaries stay in the cache
_TABLE_BLOCK_VALUES = 1 << 21  # the same for compiled loops: no temporaries, but a slow start


class AdditiveMap(FeatureMap):
    """Base of the additive maps.

    A subclass sets ``source`` (paper and equation), ``learns_from_data = False`` when `fit` needs
    no more of X than its number of columns, and writes `_fit_curve`, `_curve`, `_grid`, and,
    where plain numbers do not do, `_output_names`. Its `_fit_curve` sets ``shared_curve_ = False``
    when each feature has a curve of its own, ``low_`` and ``high_`` when the curve ends there, and
    ``n_stored_`` when transform is to give CSR, with so many consecutive outputs of each feature.
    ``_unsigned`` says that negative values are refused; ``has_codes`` that the curve is a step
    function, whose grid is a `StepGrid`; `_tables` returns what encoding needs besides formulas.

    Attributes
    ----------
    n_outputs_ : int
        Number of outputs r of each feature; feature j owns the columns j·r … (j+1)·r-1.
    zero_to_zero_ : bool
        Whether zero maps to zero for every feature; then CSR input gives CSR output.
    low_, high_ : ndarray (d,) or None
        The range of each feature, to which values outside are clamped. None: the curve has no ends.
    """

    shared_curve_: bool = True
    low_: NDArray | None = None
    high_: NDArray | None = None
    n_stored_: int | None = None

    _accepts_sparse = True
    _preserved = ("float64", "float32")

    @property
    def takes_sparse_(self) -> bool:
        """Whether the fitted map takes CSR input: where zero maps to zero."""
        return self.zero_to_zero_

    @abstractmethod
    def _fit_curve(self, X: AnyMatrix) -> None:
        """Check the parameters and learn the arrays of the curve from validated ``X``."""

    @abstractmethod
    def _curve(self, x: NDArray, feature: NDArray) -> NDArray:
        """Return each feature's curve at ``x``, in its range: float64, ``x.shape + (r,)``."""

    @abstractmethod
    def _grid(self) -> LogGrid | PieceGrid | StepGrid | None:
        """Return the grid on which float32 input is encoded; None: by the curve itself."""

    def _tables(self) -> tuple[NDArray, ...]:
        """Return the learnt arrays that encoding needs."""
        return ()

    def _output_names(self) -> list[str]:
        """Return a name for each of the r outputs of a feature."""
        return [str(c) for c in range(self.n_outputs_)]

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Check the parameters and learn the curve, as of `FeatureMap.fit`.

        Values above 1e37 are refused where tables are learnt from them.
        """
        X = validate_data(self, X, array_api=True, accept_sparse="csr")
        values = X.data if issparse(X) else X
        if self._unsigned:
            checks.refuse_negative(values, type(self).__name__)
        self._fit_curve(X)  # checks the parameters: they decide whether the map learns from data
        if self.learns_from_data:
            checks.refuse_enormous(values, type(self).__name__)
        features = np.arange(self.n_features_in_)
        zero, _ = self._clamp(np.zeros(len(features)), features)
        at_zero = self._curve(zero, features)
        self.n_outputs_ = at_zero.shape[1]
        self.zero_to_zero_ = not at_zero.any()
        self._fitted_grid = self._grid()
        self.code_bits_ = self._steps_grid().codebook.bits if self.has_codes else None
        self.table_bytes_ = sum(4 * table.size for table in self._tables())
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Encode every value of X by its feature's curve, (n, d·r).

        float64 input (and integers beyond 16 bits) is encoded by the curve itself in float64;
        float32 (and half precision, and integers of up to 16 bits) by interpolation in a table, in
        float32; uint8 by direct look-up, in float32. The result is CSR for CSR input, which only
        maps with ``zero_to_zero_`` accept, and from maps that say so.

        Where scikit-learn dispatches arrays (``array_api_dispatch``), one of another library, such
        as PyTorch, is encoded there by the curve, in its dtype; the result is dense.

        Values outside the range of `fit` are counted in one warning per call.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, array_api=True, **_ENCODED)
        if issparse(X):
            return self._encode_sparse(X)
        if not isinstance(X, np.ndarray):
            return self._encode_foreign(X)
        values = as_float(X)
        features = np.arange(X.shape[1], dtype=np.int32)  # the type that CSR uses
        if self.n_stored_ is None:
            return self._encode(values, features)
        pointers = np.arange(len(X) + 1) * len(features)
        return csr_matrix(self._encode_local(values, features, pointers))

    def tabulate(self, levels: ArrayLike) -> NDArray:
        """Return the curve on levels, as tables.

        Parameters
        ----------
        levels : array-like, shape (L,) or (d, L)
            The levels of all features, or of each. Values outside a feature's range are clamped.

        Returns
        -------
        ndarray, shape (1, L, r) or (d, L, r), float64
            One table when all features share curve and levels, else one per feature.
        """
        check_is_fitted(self)
        levels, features = self._levels_and_features(levels)
        return self._curve(self._clamp(levels, features)[0], features)

    def _corners(self) -> NDArray:
        """Return where a curve is not smooth, (1 or d, m)."""
        return np.empty((1 if self.shared_curve_ else self.n_features_in_, 0))

    def add_to_graph(self, graph: "Graph", x: "Tensor") -> "Tensor":
        """Add the map to an ONNX graph: it encodes as `transform` does, but dense.

        Parameters
        ----------
        graph : Graph
            The graph, of `kmaps.onnx_graph`.
        x : Tensor
            Rows (n, d) in it.

        Returns
        -------
        Tensor
            The outputs (n, d·r), in the type of ``x``, of bytes in that of the graph.
        """
        self.describe_in(graph)
        if x.dtype == np.uint8 and self.shared_curve_:
            table = self.tabulate(np.arange(256))[:, :, None]
            values = graph.polynomials(graph.cast(x, np.int64), None, table)
        else:
            x = graph.floats(x)
            values = self._graph_grid(x.dtype).add_to_graph(graph, x)
        return graph.rows(values, self.n_features_in_ * self.n_outputs_)

    def _graph_grid(self, dtype: np.dtype) -> "LogGrid | PieceGrid | StepGrid | FittedGrid":
        """Return the grid that encodes values of a type, or one that is fitted to the curve."""
        from kmaps.maps.fitted_grid import FittedGrid

        if self._fitted_grid is not None and dtype in self._fitted_grid.dtypes:
            return self._fitted_grid
        corners = self._corners()
        ends = None
        if self.low_ is not None and self.high_ is not None:
            ends = np.stack([self.low_, self.high_])[:, : len(corners)]
        return FittedGrid(self._curve, corners, ends, type(self).__name__)

    def _levels_and_features(self, levels: ArrayLike) -> tuple[NDArray, NDArray]:
        """Return levels (1 or d, L), one row if one table serves all, and the features (·, 1)."""
        levels = np.atleast_2d(np.asarray(levels, np.float64))
        n_tables = 1 if self.shared_curve_ and len(levels) == 1 else self.n_features_in_
        levels = np.broadcast_to(levels, (n_tables, levels.shape[1]))
        return levels, np.arange(n_tables)[:, None]

    @available_if(lambda self: self.has_codes)  # type: ignore[untyped-decorator]
    def to_codes(self, X: ArrayLike) -> NDArray:
        """Return the code of every value of X: its row of the table of its feature.

        `transform` is the look-up of the codes in ``table_``.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
            Samples. CSR is refused unless the code of zero is 0 for every feature.

        Returns
        -------
        ndarray or csr_matrix, shape (n, d), uint8
            The codes; CSR for CSR.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **_ENCODED)
        return self._steps_grid().codebook.to_codes(X, type(self).__name__, self._unsigned)

    def _steps_grid(self) -> StepGrid:
        if not isinstance(self._fitted_grid, StepGrid):
            raise TypeError(f"{type(self).__name__} has no codes")
        return self._fitted_grid

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray:
        """Return ``<feature>_<output>`` for each encoded column, as an object array."""
        check_is_fitted(self, "n_outputs_")
        names = _check_feature_names_in(self, input_features)
        outputs = self._output_names()
        return np.array([f"{name}_{output}" for name in names for output in outputs], object)

    def _encode_sparse(self, X: AnyMatrix) -> AnyMatrix:
        if not self.zero_to_zero_:
            raise InputError(
                f"{type(self).__name__} does not map zero to zero, so sparse input would give "
                "dense output: pass a dense array (X.toarray())"
            )
        X = summed(X)  # the curve of a sum is not the sum of the curves
        # The stored values are one long row, each with its own feature.
        values = as_float(X.data)[None, :]
        if self.n_stored_ is not None:
            return type(X)(self._encode_local(values, X.indices, X.indptr))
        return widened(X, self._encode(values, X.indices)[0], self.n_outputs_)

    def _encode_foreign(self, X: Any) -> Any:
        """Encode an array of another library by the curve, in its dtype, dense."""
        if self._unsigned:
            refuse_negative_samples(X, type(self).__name__)
        features = np.arange(X.shape[1])
        inside, outside = self._clamp(X, features)
        if self.has_codes:
            outside = self._steps_grid().codebook.count_outside(X)
        checks.warn_outside(outside, X.shape[0] * X.shape[1], type(self).__name__, stacklevel=5)
        return namespace(X).reshape(self._curve(inside, features), (X.shape[0], -1))

    def _encode_local(self, values: NDArray, features: NDArray, pointers: NDArray) -> csr_array:
        """Encode ``values`` (n, m) with ``n_stored_`` numbers each; rows begin at ``pointers``."""
        n, m = values.shape
        width = checks.present(self.n_stored_, "n_stored_")
        grid = self._fitted_grid
        if grid is None:
            raise TypeError(f"{type(self).__name__} is computed by a formula, which gives no CSR")
        shape = (len(pointers) - 1, self.n_features_in_ * self.n_outputs_)
        values = values.astype(np.float32) if values.dtype == np.uint8 else values
        index = np.int32 if max(n * m * width, shape[1]) < 2**31 else np.int64
        data = np.empty((n, m * width), values.dtype)
        columns = np.empty((n, m * width), index)
        self._fill(values, features.astype(index), grid.encode, (data, columns), width)
        row_starts = pointers.astype(index) * width
        encoded = csr_array((data.reshape(-1), columns.reshape(-1), row_starts), shape=shape)
        if self.zero_to_zero_:
            encoded.eliminate_zeros()
        return encoded

    def _encode(self, values: NDArray, features: NDArray) -> NDArray:
        """Encode ``values`` (n, m) of the m ``features`` as (n, m·r)."""
        n, m = values.shape
        dtype = np.float32 if values.dtype == np.uint8 else values.dtype
        out = checks.room_for_rows(n, m * self.n_outputs_, dtype)
        encode = self._encoding(values.dtype)
        self._fill(values, features, encode, (out,), self.n_outputs_)
        return out

    def _fill(
        self,
        values: NDArray,
        features: NDArray,
        encode: Callable,
        outs: tuple[NDArray, ...],
        width: int,
    ) -> None:
        """Fill ``outs`` (n, m·width) in blocks, in parallel; refuse or warn of bad values."""

        def encode_part(rows: slice, columns: slice) -> tuple[bool, int]:
            outputs = slice(columns.start * width, columns.stop * width)
            targets = [out[rows, outputs] for out in outs]
            return encode(values[rows, columns], features[columns], *targets)

        is_compiled = values.dtype != np.float64 and self._fitted_grid is not None
        block_values = _TABLE_BLOCK_VALUES if is_compiled else _BLOCK_VALUES
        reports = for_parts(encode_part, values.shape, block_values // width)
        if any(not_finite for not_finite, _ in reports):
            checks.refuse_not_finite(values)
        outside = sum(outside for _, outside in reports)
        if outside and self._unsigned:
            checks.refuse_negative(values, type(self).__name__)
        # Without the wrapper that scikit-learn puts around transform.
        checks.warn_outside(outside, values.size, type(self).__name__, stacklevel=6)

    def _encoding(self, dtype: np.dtype) -> Callable:
        """Return the function that encodes a block: by look-up, by the grid, or by the curve."""
        if self._fitted_grid is not None and dtype in self._fitted_grid.dtypes:
            return self._fitted_grid.encode
        if dtype == np.uint8:
            return self._byte_encoding()

        def encode(values: NDArray, features: NDArray, out: NDArray) -> tuple[bool, int]:
            if not np.isfinite(values).all():
                return True, 0
            features = np.broadcast_to(features, values.shape)
            inside, outside = self._clamp(values, features)
            out[:] = self._curve(inside, features).reshape(out.shape)
            return False, outside

        return encode

    def _byte_encoding(self) -> Callable:
        if not self.shared_curve_:
            # Tables of 256 levels for each feature would be larger than caches and a small output.
            encode_floats = self._encoding(np.dtype(np.float32))
            return lambda codes, features, out: encode_floats(
                codes.astype(np.float32), features, out
            )
        table = LookupTable(self.tabulate(np.arange(256)).astype(np.float32))

        def encode(codes: NDArray, features: NDArray, out: NDArray) -> tuple[bool, int]:
            table.fill(codes, features, out)
            _, outside = self._clamp(codes, features)
            return False, outside

        return encode

    def _clamp(self, x: NDArray, feature: NDArray) -> tuple[NDArray, int]:
        """Return ``x`` moved into the range of its ``feature``, and how many that moved."""
        if self.low_ is None or self.high_ is None:
            return x, 0
        xp = namespace(x)
        low = self.low_[feature]
        high = self.high_[feature]
        if isinstance(x, np.ndarray) and x.dtype == np.float32:
            low = low.astype(np.float32)
            high = high.astype(np.float32)
        inside = xp.clip(x, like(x, low), like(x, high))
        return inside, int(xp.count_nonzero(inside != x))


class SteppedMap(AdditiveMap):
    """Base of the maps whose curve is a step function; `_fit_curve` calls `_set_steps`.

    One byte per value stores their samples; ``table_`` (1 or d, n_codes, r) has the codes' outputs.
    """

    @property
    def has_codes(self) -> bool:
        """Whether the curve is a step function: here always, unless a subclass has others."""
        return True

    def _set_steps(self, codebook: Codebook, table: NDArray) -> None:
        self.table_ = table
        self.shared_curve_ = codebook.shared
        self._steps = StepGrid(codebook, LookupTable(table))

    def _curve(self, x: NDArray, feature: NDArray) -> NDArray:
        return self._steps.curve(x, feature)

    def _grid(self) -> StepGrid | PieceGrid | None:
        return self._steps

    def _tables(self) -> tuple[NDArray, ...]:
        return self._steps.codebook.levels, self.table_
