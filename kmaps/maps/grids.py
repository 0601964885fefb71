"""Where a curve is tabulated for float32 input, and how a value finds its cell.

Between the knots of a grid the encoder interpolates linearly. float64 input is not tabulated: it
is encoded by the curve itself.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import encode as loops

Curve = Callable[[NDArray, NDArray], NDArray]


class LogGrid:
    """Every float32, cut by its own exponent and ``mantissa_bits`` leading bits of its mantissa.

    The cells of an octave are equally wide, so the relative spacing of the knots is between
    2^-(b+1) and 2^-b over the whole range of float32, and no range has to be fitted. It serves
    curves shared by all features.

    Parameters
    ----------
    curve : callable
        ``curve(x, feature)`` with shape ``x.shape + (r,)``; called with float64 values and
        feature 0.
    mantissa_bits : int
        b; linear interpolation errs by at most 2^-2b / 8 · x² |ψ''(x)|.
    """

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
        """Fill ``out`` (n, m·r) from float32 ``values`` (n, m).

        Returns whether a value is not finite, and how many lie outside the grid: none.
        """
        outputs = loops.unrolled(self.table.shape[2] // 2)
        bits = values.view(np.uint32)
        return loops.interpolate_log(bits, None, self.shift, self.table, out, outputs), 0


class UniformGrid:
    """Equal cells between the two ends of each feature's range; values outside are clamped.

    Parameters
    ----------
    curve : callable
        ``curve(x, feature)`` with shape ``x.shape + (r,)``.
    low, high : ndarray (f,)
        The ends of each range, ``low < high``; f is 1 when all features share one curve.
    n_cells : int
        Cells of each range. A curve that is linear between knots of the grid is encoded exactly.
    """

    def __init__(self, curve: Curve, low: NDArray, high: NDArray, n_cells: int):
        self.low = np.asarray(low, np.float32)
        self.per_unit = (n_cells / (np.asarray(high) - low)).astype(np.float32)
        knots = np.linspace(low, high, n_cells + 1, axis=1)
        at_knots = curve(knots, np.arange(len(knots))[:, None])
        steps = np.diff(at_knots, axis=1)
        self.table = np.concatenate([at_knots[:, :-1], steps], axis=2, dtype=np.float32)

    def encode(self, values: NDArray, features: NDArray, out: NDArray) -> tuple[bool, int]:
        """Fill ``out`` (n, m·r) from float32 ``values`` (n, m) of the m ``features``.

        Returns whether a value is not finite, and how many lay outside and were clamped.
        """
        outputs = loops.unrolled(self.table.shape[2] // 2)
        own = features if len(self.table) > 1 else None
        return loops.interpolate_uniform(
            values, own, self.low, self.per_unit, self.table, out, outputs
        )
