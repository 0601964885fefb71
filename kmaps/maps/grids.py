"""Where a curve is tabulated for float32 input, and how a value finds its cell.

Between the knots of a grid a map interpolates. float64 input is not tabulated: it is encoded
by the curve itself, unless the grid is exact.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import encode as loops
from kmaps.array_api import integers_like, looked_up, namespace, whole
from kmaps.codes.codebook import Codebook
from kmaps.matrices import read_only

if TYPE_CHECKING:
    from kmaps.codes.table import LookupTable
    from kmaps.onnx_graph import Graph, Tensor

Curve = Callable[[NDArray, NDArray], NDArray]

_LARGEST_WAVE_ERROR = 5e-6  # of interpolating a wave, as a multiple of x^(gamma/2)
_LARGEST_WAVE_BYTES = 64 << 20  # beyond, computing many harmonics is faster than look-ups


class LogGrid:
    """Every float32, cut by its exponent and b leading bits of its mantissa; for shared curves.

    The cells of an octave are equally wide, so the relative spacing of the knots is between
    2^-(b+1) and 2^-b over the whole range of float32, and no range has to be fitted. Linear
    interpolation errs by at most 2^-2b / 8 · x² |ψ''(x)|.
    """

    dtypes = (np.float32,)

    def __init__(self, curve: Curve, mantissa_bits: int):
        self.shift = np.uint32(23 - mantissa_bits)
        # One cell a bit pattern of sign, exponent and leading mantissa. The knot after the last
        # finite cell is 2^128, which float64 holds; cells of infinity and NaN stay zero.
        n_finite = 255 << mantissa_bits
        magnitudes = np.empty(n_finite + 1)
        patterns = np.arange(n_finite, dtype=np.uint32) << self.shift
        magnitudes[:-1] = patterns.view(np.float32)
        magnitudes[-1] = 2.0**128
        half = 256 << mantissa_bits
        for sign, start in ((1, 0), (-1, half)):
            at_knots = curve(sign * magnitudes, np.zeros(len(magnitudes), int))
            if start == 0:
                r = at_knots.shape[1]
                self.table = np.zeros((1, 2 * half, 2 * r), np.float32)
            cells = self.table[0, start : start + n_finite]
            cells[:, :r] = at_knots[:-1]
            cells[:, r:] = np.diff(at_knots, axis=0) / (1 << int(self.shift))

    @staticmethod
    def table_bytes(mantissa_bits: int, r: int) -> int:
        """Return the size of the table of r outputs."""
        return (512 << mantissa_bits) * 2 * r * 4

    def encode(self, values: NDArray, features: NDArray, out: NDArray) -> tuple[bool, int]:
        """Fill ``out`` (n, m·r) from float32 ``values`` (n, m) of the m ``features``.

        Returns whether a value is not finite, and how many were outside the grid: here none.
        """
        outputs = loops.unrolled(self.table.shape[2] // 2)
        bits = read_only(values.view(np.uint32))
        table = read_only(self.table)
        is_bad = loops.interpolate_log(bits, None, self.shift, table, out, outputs)
        return is_bad, 0

    def add_to_graph(self, graph: "Graph", x: "Tensor") -> "Tensor":
        """Return the outputs (n, d, r) of float32 values in an ONNX graph."""
        n_cells = self.table.shape[1]
        r = self.table.shape[2] // 2
        octaves = (np.arange(255, dtype=np.uint32) << 23).view(np.float32)
        in_octave = n_cells // 512
        per_width = in_octave / np.diff(octaves, append=2.0**128)  # in double precision
        size = graph.node("Abs", x)
        octave = graph.search(size, octaves[None, 1:])
        begin = graph.node("Gather", graph.constant(octaves, np.float64), octave)
        factor = graph.node("Gather", graph.constant(per_width, np.float64), octave)
        place = graph.node("Sub", graph.cast(size, np.float64), begin)
        place = graph.node("Mul", place, factor)
        cell = graph.node("Floor", place)
        negative = graph.cast(graph.node("Less", x, 0.0, dtype=bool), np.int64)
        first = graph.node("Mul", negative, n_cells // 2)
        first = graph.node("Add", first, graph.node("Mul", octave, in_octave))
        number = graph.node("Add", first, graph.cast(cell, np.int64))
        slopes_of_cells = np.array([[1], [1 << int(self.shift)]], np.float32)
        pieces = self.table.reshape(1, n_cells, 2, r) * slopes_of_cells
        return graph.polynomials(number, graph.node("Sub", place, cell), pieces)


def grid_of_waves(curve: Curve, spectrum: NDArray, period: float, gamma: float) -> LogGrid | None:
    """Return the `wave_grid` of the homogeneous map with a discrete spectrum (n+1,)."""
    frequency = np.arange(len(spectrum)) * 2 * np.pi / period
    return wave_grid(curve, frequency, np.sqrt(2 * spectrum), gamma)


def wave_grid(
    curve: Curve, frequency: NDArray, amplitude: NDArray, gamma: float = 1.0
) -> LogGrid | None:
    """Return the grid of waves amplitude · x^(gamma/2) · cos or sin(frequency · log x).

    They are tabulated with an error of at most 5e-6 of x^(gamma/2); None: computing is faster.
    """
    half = gamma / 2
    # The largest x²|ψ''(x)| / x^half of each wave; see LogGrid for the rest.
    curvature = np.hypot(frequency**2 - half * (half - 1), (gamma - 1) * frequency)
    largest_error = (curvature * amplitude).max() / 8  # of a grid with one cell per octave
    bits = max(6, int(np.ceil(np.log2(max(largest_error / _LARGEST_WAVE_ERROR, 1)) / 2)))
    if LogGrid.table_bytes(bits, 2 * len(frequency)) > _LARGEST_WAVE_BYTES:
        return None
    return LogGrid(curve, bits)


class PieceGrid:
    """Polynomials on equal cells of each feature's range; values outside are clamped to it.

    ``pieces`` (1 or f, cells, p+1, r) are the coefficients of the powers 0 … p of the position in
    the cell, from 0 to 1; ``low`` and ``high`` (f,) the ends of each range, where f is 1 when all
    features share one, and a range of no width counts as one of width 1; ``scale`` (f,) is a factor
    of each feature's outputs. ``exact`` polynomials are the curve itself, so that float64 is
    encoded too.
    """

    def __init__(
        self,
        pieces: NDArray,
        low: NDArray,
        high: NDArray,
        scale: NDArray | float = 1.0,
        exact: bool = False,
    ):
        self.dtypes = (np.float32, np.float64) if exact else (np.float32,)
        self.pieces = {dtype: pieces.astype(dtype, copy=False) for dtype in self.dtypes}
        self.ranges = {dtype: _ranges(dtype, low, high, scale) for dtype in self.dtypes}

    def encode(self, values: NDArray, features: NDArray, out: NDArray) -> tuple[bool, int]:
        """Fill ``out`` (n, m·r), as :meth:`LogGrid.encode` does."""
        pieces, ranges = self._tables(values.dtype)
        powers = (0,) * (pieces.shape[2] - 1)  # its length is the degree, for numba to unroll
        # With fewer powers a loop over outputs is as fast, with few outputs up to three times.
        outputs = loops.unrolled(pieces.shape[3]) if len(powers) > 2 else None
        range_numbers = read_only(features) if len(ranges) > 1 else None
        return loops.interpolate_pieces(
            read_only(values), range_numbers, ranges, pieces, out, outputs, powers
        )

    def add_to_graph(self, graph: "Graph", x: "Tensor") -> "Tensor":
        """Return the outputs (n, d, r) of values in an ONNX graph."""
        low, high, per_width, scale = self.ranges[x.dtype.type].T
        pieces = self._dense(self.pieces[x.dtype.type])
        inside = graph.clip(graph.cast(x, np.float64), low, high)
        n_cells = float(pieces.shape[1])
        cell, place = graph.divide(inside, low, [per_width, n_cells], 0.0, n_cells - 1)
        return graph.node("Mul", graph.polynomials(cell, place, pieces), scale[:, None])

    def _dense(self, pieces: NDArray) -> NDArray:
        """Return the coefficients of all outputs of a cell, (1 or f, cells, p + 1, r)."""
        return pieces

    def _tables(self, dtype: np.dtype) -> tuple[NDArray, NDArray]:
        return read_only(self.pieces[dtype.type]), read_only(self.ranges[dtype.type])


class LocalGrid(PieceGrid):
    """A basis of cells + p functions, of which p+1 neighbours are not zero, encoded as CSR.

    ``pieces`` (p+1, p+1) are the coefficients of the powers 0 … p for each of the neighbours, alike
    in every cell; in cell b the outputs b … b+p are not zero.
    """

    def __init__(
        self, pieces: NDArray, n_cells: int, low: NDArray, high: NDArray, scale: NDArray | float
    ):
        super().__init__(pieces, low, high, scale, exact=True)
        self.n_cells = n_cells

    def encode(  # type: ignore[override]  # a CSR has two arrays to fill
        self, values: NDArray, features: NDArray, data: NDArray, columns: NDArray
    ) -> tuple[bool, int]:
        """Fill the parts of a CSR (n, m·(p+1)); return the same as :meth:`LogGrid.encode`."""
        pieces, ranges = self._tables(values.dtype)
        values = read_only(values)
        features = read_only(features)
        neighbours = (0,) * len(pieces)
        return loops.local_pieces(
            values, features, ranges, self.n_cells, pieces, data, columns, neighbours
        )

    def _dense(self, pieces: NDArray) -> NDArray:
        width = len(pieces)
        dense = np.zeros((1, self.n_cells, width, self.n_cells + width - 1), pieces.dtype)
        for cell in range(self.n_cells):
            dense[0, cell, :, cell : cell + width] = pieces
        return dense


class StepGrid:
    """The curve that has the value ``table[f, c]`` wherever feature f has the code c.

    It takes the place of a grid, but is the curve itself, for every dtype.
    """

    dtypes = (np.uint8, np.float32, np.float64)

    def __init__(self, codebook: Codebook, table: "LookupTable"):
        from kmaps.codes.table import LookupTable  # compiled loops

        self.codebook = codebook
        single = LookupTable(table.values.astype(np.float32))
        self.tables = {np.float32: single, np.float64: table}

    def encode(self, values: NDArray, features: NDArray, out: NDArray) -> tuple[bool, int]:
        """Fill ``out`` (n, m·r), as :meth:`LogGrid.encode` does."""
        codes = np.empty(values.shape, np.uint8)
        outside = self.codebook.encode(values, features, codes)
        self.tables[out.dtype.type].fill(codes, features, out)
        return bool(outside) and not np.isfinite(values).all(), outside

    def add_to_graph(self, graph: "Graph", x: "Tensor") -> "Tensor":
        """Return the outputs (n, d, r) of values in an ONNX graph."""
        codes = self.codebook.add_to_graph(graph, x)
        return graph.polynomials(codes, None, self.tables[np.float64].values[:, :, None])

    def curve(self, x: NDArray, feature: NDArray) -> NDArray:
        """Return the curve of each ``feature`` at ``x``: float64, ``x.shape + (r,)``."""
        codes = self.codebook.codes(x, feature)
        table = self.tables[np.float64]
        if isinstance(x, np.ndarray):
            return table.at(codes, feature)
        n_tables, n_codes, r = table.values.shape
        first = integers_like(x, feature * n_codes if n_tables > 1 else 0)
        return looked_up(x, table.values.reshape(-1, r), first + codes)


def _ranges(dtype: type, low: NDArray, high: NDArray, scale: NDArray | float) -> NDArray:
    """Return the ends of each range as ``dtype`` has them, one over the width, and the scale."""
    low = np.asarray(low).astype(dtype).astype(np.float64)
    high = np.asarray(high).astype(dtype).astype(np.float64)
    per_width = 1 / range_width(low, high)[0]
    return np.stack(np.broadcast_arrays(low, high, per_width, scale), axis=-1)


def range_width(low: NDArray, high: NDArray) -> tuple[NDArray, NDArray]:
    """Return the width of each range, or 1 where it has no float32, and whether it has one."""
    width = np.asarray(high) - low
    varies = width > np.finfo(np.float32).tiny
    return np.where(varies, width, 1), varies


def evaluate_pieces(pieces: NDArray, position: NDArray) -> NDArray:
    """Evaluate ``pieces`` (cells, p+1, r) of :class:`PieceGrid` at positions in [0, 1]."""
    xp = namespace(position)
    scaled = position * len(pieces)
    start = xp.clip(xp.floor(scaled), 0.0, len(pieces) - 1.0)
    t = (scaled - start)[..., None]
    cell = whole(start)
    value = looked_up(position, pieces[:, -1], cell)
    for q in range(pieces.shape[1] - 2, -1, -1):
        value = value * t + looked_up(position, pieces[:, q], cell)
    return value


def cubic_pieces(
    curve: Callable[[NDArray], NDArray], tolerance: float = 3e-7, most_values: int = 1 << 20
) -> NDArray | None:
    """Approximate a smooth curve on [0, 1] by cubic polynomials on equal cells, (cells, 4, r).

    The largest error of each output is at most ``tolerance`` times its largest value. None:
    computing is faster.
    """
    nodes = (1 - np.cos(np.pi * (np.arange(4) + 0.5) / 4)) / 2  # Chebyshev's, in [0, 1]
    to_powers = np.linalg.inv(np.vander(nodes, increasing=True))
    n_outputs = curve(np.zeros(1)).shape[1]
    n_cells = 8
    while 4 * n_cells * n_outputs <= most_values:
        cells = np.arange(n_cells)[:, None]
        at_nodes = curve((cells + nodes) / n_cells)
        pieces = to_powers @ at_nodes
        between = (cells + np.linspace(0, 1, 5)) / n_cells
        error = np.abs(evaluate_pieces(pieces, between) - curve(between)).max(axis=(0, 1))
        if (error <= tolerance * np.abs(at_nodes).max(axis=(0, 1))).all():
            return pieces
        n_cells *= 2
    return None
