"""Codes: one byte per value, the number of its nearest level."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kmaps.array_api import in_double, integers_like, like, looked_up, namespace, whole
from kmaps.checks import refuse_negative, refuse_not_finite, warn_outside
from kmaps.errors import InputError
from kmaps.matrices import AnyMatrix, as_float, issparse, read_only, summed
from kmaps.thread_pool import for_parts

if TYPE_CHECKING:
    from kmaps.onnx_graph import Graph, Tensor

SPARSE = 1 / 3  # with a smaller part, codes are listed, at three bytes each, or five
_BLOCK_VALUES = 1 << 18
_MOST_BUCKETS = 1 << 13  # per feature on average: the first cache holds as many in float32
_ALL_BUCKETS = 1 << 20  # for all features
_WORDS: dict[type, tuple[type[np.integer], type[np.integer]]] = {
    np.float32: (np.int32, np.uint32),
    np.float64: (np.int64, np.uint64),
}


def pad_levels(rows: Iterable[NDArray]) -> NDArray:
    """Return the distinct levels of each feature (f, L) in order; short rows repeat their last."""
    if isinstance(rows, np.ndarray):
        # Rows that ascend, and rows of one level, are as they should be.
        ascends = np.diff(rows, axis=1) > 0
        if ascends.any() and (ascends.all(axis=1) | ~ascends.any(axis=1)).all():
            return rows
    rows = [np.unique(row) for row in rows]
    place = np.arange(max(map(len, rows)))
    return np.array([row[np.minimum(place, len(row) - 1)] for row in rows])


class Codebook:
    """The sorted levels of each feature, and the codes of values.

    With ``window=1`` the code of a value is the number of its nearest level. In general it stands
    for its ``window`` nearest levels: neighbours on a line, so the number of the first names them
    all. A value halfway between two codes has the larger one; with equally spaced levels, where
    the code is computed and not searched for, a value within rounding of halfway may have either,
    but the same one in every dtype.

    The ``levels`` (f, L) ascend, f is 1 when all features share them, and a feature with fewer
    repeats its last; values beyond ``low`` and ``high`` (f,) are clamped and counted, except those
    of the features ``unweighted``, which a model leaves out. ``counts`` (f,) says how many levels
    each feature has, ``n_codes`` (f,) how many codes, ``counts - window + 1`` or one, and ``bits``
    what a code needs.
    """

    def __init__(
        self,
        levels: NDArray,
        low: NDArray,
        high: NDArray,
        window: int = 1,
        unweighted: NDArray[np.intp] | None = None,
    ):
        self.levels = np.asarray(levels, float)
        self.low = np.asarray(low, float)
        self.high = np.asarray(high, float)
        self.counts = 1 + (np.diff(self.levels) > 0).sum(axis=1)
        self.window = window
        self.unweighted = np.empty(0, np.intp) if unweighted is None else unweighted
        self.n_codes = np.maximum(self.counts - window + 1, 1)
        self.bits = int(self.n_codes.max() - 1).bit_length()
        self._searches: dict[np.dtype, _Uniform | _Bucketed | _Sorted] = {}

    @property
    def shared(self) -> bool:
        """Whether all features have the same levels."""
        return len(self.levels) == 1

    def encode(self, values: NDArray, features: NDArray, codes: NDArray) -> int:
        """Fill ``codes`` (uint8) for ``values`` (n, m) of the m ``features``.

        Returns how many values lie outside the range or are not finite.
        """
        if values.dtype == np.uint8:
            values = values.astype(np.float32)
        search = self._searches.get(values.dtype)
        if search is None:
            search = self._searches[values.dtype] = self.fastest_search(values.dtype.type)
        return search(values, features, codes)

    def codes_in_library(self, x: Any) -> Any:
        """Return the codes of finite values (n, d), as integers of the library of ``x``.

        They are computed by the functions of that library: those of NumPy alone for its arrays of
        float32 or float64. `to_codes` gives the same codes by compiled loops.
        """
        single = x.dtype == namespace(x).float32
        search = self._search(np.float32 if single else np.float64)
        return search.in_library(x, np.arange(x.shape[1]))

    def codes(self, x: NDArray, feature: NDArray) -> NDArray:
        """Return the codes of float64 ``x``, each value of its ``feature``.

        For an array of another library they are integers there; all values are of one column.
        """
        if not isinstance(x, np.ndarray):
            single = x.dtype == namespace(x).float32
            return self._search(np.float32 if single else np.float64).in_library(x, feature)
        x, feature = np.broadcast_arrays(x, feature)
        codes = np.empty((1, x.size), np.uint8)
        self.encode(np.asarray(x, float).reshape(1, -1), feature.ravel(), codes)
        return codes.reshape(x.shape)

    def count_outside(self, x: Any) -> int:
        """Return how many values (n, d), of any library, lie outside the range."""
        low = self.low
        high = self.high
        if isinstance(x, np.ndarray):
            low = _as(x.dtype.type, low)
            high = _as(x.dtype.type, high)
        outside = (x < like(x, low)) | (x > like(x, high))
        counted = int(namespace(x).count_nonzero(outside))
        if len(self.unweighted):
            counted -= int(namespace(x).count_nonzero(outside[:, self.unweighted]))
        return counted

    def _count_unweighted(self, X: AnyMatrix) -> int:
        """Return how many values of the features that are left out lie outside the range."""
        if not len(self.unweighted):
            return 0
        values = X[:, self.unweighted]
        values = as_float(values.toarray() if issparse(values) else values)
        rows = 0 if self.shared else self.unweighted
        low = _as(values.dtype.type, self.low)[rows]
        high = _as(values.dtype.type, self.high)[rows]
        return int(np.count_nonzero((values < low) | (values > high)))

    def to_codes(self, X: AnyMatrix, whom: str, unsigned: bool = False) -> AnyMatrix:
        """Return the codes of a dense or CSR matrix, in blocks, in parallel."""
        if issparse(X):
            return self._sparse_codes(summed(X), whom, unsigned)
        codes, outside = self._code(as_float(X), np.arange(X.shape[1]), whom, unsigned)
        warn_outside(outside - self._count_unweighted(X), X.size, whom, stacklevel=4)
        return codes

    def _sparse_codes(self, X: AnyMatrix, whom: str, unsigned: bool) -> AnyMatrix:
        features = np.arange(X.shape[1])
        code_of_zero = self.codes(np.zeros(len(features)), features)
        if code_of_zero.any():
            j = int(code_of_zero.argmax())
            raise InputError(
                f"{whom} gives zero the code {code_of_zero[j]} in feature {j}, so sparse input "
                "would give dense codes: pass a dense array (X.toarray())"
            )
        codes, outside = self._code(as_float(X.data)[None, :], X.indices, whom, unsigned)
        zero_outside = np.broadcast_to((self.low > 0) | (self.high < 0), X.shape[1])
        if zero_outside.any():
            not_stored = X.shape[0] - np.bincount(X.indices, minlength=X.shape[1])
            outside += int(not_stored[zero_outside].sum())
        outside -= self._count_unweighted(X)
        warn_outside(outside, X.shape[0] * X.shape[1], whom, stacklevel=5)
        return type(X)((codes[0], X.indices, X.indptr), shape=X.shape)

    def _code(
        self, values: NDArray, features: NDArray, whom: str, unsigned: bool
    ) -> tuple[NDArray, int]:
        codes = np.empty(values.shape, np.uint8)

        def encode_part(rows: slice, columns: slice) -> int:
            return self.encode(values[rows, columns], features[columns], codes[rows, columns])

        outside = sum(for_parts(encode_part, values.shape, _BLOCK_VALUES))
        if outside:
            refuse_not_finite(values)
            if unsigned:
                refuse_negative(values, whom)
        return codes, outside

    def add_to_graph(self, graph: "Graph", x: "Tensor") -> "Tensor":
        """Return the codes of values (n, d) in an ONNX graph, as whole numbers."""
        x = graph.floats(x)
        search = self._search(x.dtype.type)
        if isinstance(search, _Sorted):
            return graph.search(x, search.edges)
        codes, _ = graph.divide(x, search.origin, [search.per_unit], search.offset, search.last)
        return codes

    def fastest_search(self, dtype: type) -> "_Uniform | _Bucketed | _Sorted":
        """Return the fastest search by compiled loops."""
        search = self._search(dtype)
        if isinstance(search, _Uniform):
            return search
        return _Bucketed.from_edges(search) or search

    def _search(self, dtype: type) -> "_Uniform | _Sorted":
        """Compute codes where the levels are equally spaced, search for them elsewhere."""
        first = self.levels[:, 0]
        last = self.levels[:, -1]
        with np.errstate(all="ignore"):
            per_unit = np.where(last > first, (self.counts - 1) / (last - first), 0)
            position = (self.levels - first[:, None]) * per_unit[:, None]
        ideal = np.minimum(np.arange(self.levels.shape[1]), self.counts[:, None] - 1)
        # False also where the spacing is too small or too large to compute with.
        if np.abs(position - ideal).max() < 1e-6:
            return _Uniform(self, per_unit, dtype)
        return _Sorted(self, dtype)


class _FeatureData:
    """Arrays with a number for each feature, as the loops need them for the features of values."""

    def __init__(self, *arrays: NDArray):
        self._arrays = arrays
        self._all_features = np.arange(len(arrays[0]))

    def select(self, features: NDArray) -> tuple:
        """Return the numbers of some features: arrays, or single ones that all features share."""
        if len(self._all_features) == 1:
            return tuple(array[0] for array in self._arrays)
        if np.array_equal(features, self._all_features):
            return tuple(read_only(array) for array in self._arrays)
        return tuple(read_only(array[features]) for array in self._arrays)


class _Uniform:
    """The codes of equally spaced levels, which are computed."""

    def __init__(self, book: Codebook, per_unit: NDArray, dtype: type):
        self.origin = book.levels[:, 0].copy()
        self.per_unit = per_unit
        low = _as(dtype, book.low)
        high = _as(dtype, book.high)
        self._data = _FeatureData(low, high, self.origin, per_unit)
        # One number where that will do, which saves reading it for each value. A feature with a
        # single level stays at zero without.
        last = np.where(per_unit > 0, book.n_codes, book.n_codes.max()) - 1.0
        self.last = last[:1] if (last == last[0]).all() else last
        self.offset = 1 - book.window / 2

    def __call__(self, values: NDArray, features: NDArray, codes: NDArray) -> int:
        from kmaps._loops.codes import nearest_uniform

        low, high, origin, per_unit = self._data.select(features)
        last = read_only(self.last[features]) if len(self.last) > 1 else self.last[0]
        return nearest_uniform(
            read_only(values), low, high, origin, per_unit, last, self.offset, codes
        )

    def in_library(self, x: Any, feature: NDArray) -> Any:
        """Return the codes of an array by the functions of its library."""
        row = feature if len(self.origin) > 1 else 0
        wide = in_double(x)
        origin = like(wide, self.origin[row])
        per_unit = like(wide, self.per_unit[row])
        last = like(wide, self.last[row if len(self.last) > 1 else 0])
        xp = namespace(x)
        position = xp.floor((wide - origin) * per_unit + self.offset)
        return whole(xp.minimum(xp.clip(position, 0.0, None), last))


class _Sorted:
    """The search among the sorted edges between the codes of a feature."""

    def __init__(self, book: Codebook, dtype: type):
        self.low = _as(dtype, book.low)
        self.high = _as(dtype, book.high)
        window = min(book.window, book.levels.shape[1])
        # The window moves once the level that it gains is nearer than the one that it loses.
        edges = book.levels[:, :-window] / 2 + book.levels[:, window:] / 2
        edges = np.where(np.arange(edges.shape[1]) < book.n_codes[:, None] - 1, edges, np.inf)
        self.width = 1 << edges.shape[1].bit_length()
        self.edges = np.full((len(edges), self.width), np.inf, dtype)
        self.signed, self.unsigned = _WORDS[dtype]
        rounded = _as(dtype, edges)
        # Rounded up, so that a float32 value has the code it would have as a float64.
        up = np.nextafter(rounded, dtype(np.inf))
        self.edges[:, : edges.shape[1]] = np.where(rounded < edges, up, rounded)

    def __call__(self, values: NDArray, features: NDArray, codes: NDArray) -> int:
        from kmaps._loops.codes import nearest_sorted

        rows = np.zeros_like(features) if len(self.low) == 1 else features
        start = (rows * self.width).astype(np.uint32)
        edges = read_only(self.edges.reshape(-1))
        half = self.width // 2
        return nearest_sorted(
            read_only(values), self.low[rows], self.high[rows], start, edges, half, codes
        )

    def in_library(self, x: Any, feature: NDArray) -> Any:
        """Return the codes of an array by the functions of its library; the search of the loop."""
        xp = namespace(x)
        edges = self.edges.reshape(-1)
        start = integers_like(x, feature * self.width if len(self.low) > 1 else 0 * feature)
        place = whole(xp.zeros_like(x)) + start
        step = self.width // 2
        while step:
            later = place + step
            place = xp.where(looked_up(x, edges, later - 1) <= x, later, place)
            step //= 2
        return place - start


class _Bucketed:
    """The search where all edges are positive and none is too close to the next of its feature.

    The exponent and the leading bits of the mantissa are the bucket of a value. None has more than
    one edge, so that one number of it, added to the rest of the bits, is the code: see the loop.
    """

    def __init__(self, search: _Sorted, bits: list[NDArray], shift: int):
        signed = search.signed
        # From a bucket below the first edge, where what lies before it counts as its first value.
        begin = np.array([(edges[0] >> shift) - 1 if len(edges) else 0 for edges in bits])
        end = np.array([(edges[-1] >> shift) + 2 if len(edges) else 1 for edges in bits])
        starts = np.r_[0, np.cumsum(end - begin)]  # of each feature's buckets among all
        carries = np.zeros(starts[-1], np.int64)
        for j, edges in enumerate(bits):
            buckets = np.arange(begin[j], end[j])
            buckets_of_edges = edges >> shift
            own_carries = carries[starts[j] : starts[j + 1]]
            own_carries[:] = np.searchsorted(buckets_of_edges, buckets) << shift
            own_carries[buckets_of_edges - begin[j]] += (buckets_of_edges + 1 << shift) - edges
        first: NDArray = (begin << shift).astype(signed)
        last: NDArray = ((end << shift) - 1).astype(signed)
        base = (starts[:-1] - begin).astype(signed)
        self._data = _FeatureData(search.low, search.high, first, last, base)
        self._signed = signed
        self._shift = signed(shift)
        self._carries: NDArray = carries.astype(search.unsigned)

    @classmethod
    def from_edges(cls, search: _Sorted) -> "_Bucketed | None":
        """Return the faster form of a search if it has one."""
        edges = [row[np.isfinite(row)] for row in search.edges]
        if not any(map(len, edges)) or min(row[0] for row in edges if len(row)) <= 0:
            return None
        bits = [row.view(search.signed).astype(np.int64) for row in edges]
        most_buckets = min(_MOST_BUCKETS * len(bits), _ALL_BUCKETS)
        for shift in range(np.finfo(search.edges.dtype).nmant, -1, -1):
            buckets = [row >> shift for row in bits if len(row)]
            if sum(int(row[-1] - row[0]) for row in buckets) >= most_buckets:
                return None
            if all((np.diff(row) > 0).all() for row in buckets):
                return cls(search, bits, shift)
        return None

    def __call__(self, values: NDArray, features: NDArray, codes: NDArray) -> int:
        from kmaps._loops.codes import nearest_bucketed

        low, high, first, last, base = self._data.select(features)
        values = read_only(values)
        return nearest_bucketed(
            values,
            values.view(self._signed),
            low,
            high,
            first,
            last,
            base,
            self._shift,
            read_only(self._carries),
            codes,
        )


def _as(dtype: type, values: NDArray) -> NDArray:
    with np.errstate(over="ignore"):  # values beyond float32 become infinite: no float32 lies there
        return values.astype(dtype)
