"""Encoding loops: find the cell of each value, then look its outputs up.

A value array is (n, m): n rows of m values. ``features`` names the feature of each of the m
positions, or is None when all features share one table; so a dense matrix passes its columns, and
the stored values of a CSR matrix pass as one long row. ``outputs`` comes from `unrolled`: a tuple
of length r whose only use is that length, which is part of the compiled type and lets the compiler
unroll the innermost loop; or None for many outputs, where a loop is as good.

Interpolated tables are (f, cells, 2r): the r outputs at the cell's left end, then their slopes.
"""

from math import isfinite

from numba import njit
from numpy import float32, int64, uint32

_MAGNITUDE = 0x7FFFFFFF
_INFINITY = 0x7F800000


def unrolled(r):
    """Return the ``outputs`` argument of the loops below for r outputs."""
    return (0,) * r if r <= 16 else None


@njit(cache=True, nogil=True)
def interpolate_log(bits, features, shift, table, out, outputs):
    """Encode float32 values given as their ``bits`` (uint32); return whether one is not finite.

    The sign, the exponent and the leading mantissa bits are the cell, the remaining ``shift`` bits
    the fraction. The table has a cell for every bit pattern, so nothing needs clamping.
    """
    n, m = bits.shape
    r = table.shape[2] // 2 if outputs is None else len(outputs)
    mask = uint32((1 << shift) - 1)
    largest = uint32(0)
    for i in range(n):
        row = bits[i]
        encoded = out[i]
        for j in range(m):
            largest = max(largest, row[j] & uint32(_MAGNITUDE))
            cell = row[j] >> shift
            fraction = float32(row[j] & mask)
            f = 0 if features is None else features[j]
            for c in range(r):
                encoded[j * r + c] = table[f, cell, c] + fraction * table[f, cell, r + c]
    return largest >= _INFINITY


@njit(cache=True, nogil=True)
def interpolate_uniform(values, features, low, per_unit, table, out, outputs):
    """Encode float32 values on one uniform grid per table.

    ``low`` and ``per_unit`` are (f,): the left end of the grid and its cells per unit. Values
    outside the grid are clamped to its ends. Returns whether one is not finite, and how many were
    clamped.
    """
    n, m = values.shape
    r = table.shape[2] // 2 if outputs is None else len(outputs)
    n_cells = table.shape[1]
    end = float32(n_cells)
    outside = 0
    not_finite = False
    for i in range(n):
        row = values[i]
        encoded = out[i]
        for j in range(m):
            f = 0 if features is None else features[j]
            position = (row[j] - low[f]) * per_unit[f]
            if not isfinite(position):
                not_finite = True
                position = float32(0)
            clamped = min(max(position, float32(0)), end)
            outside += position != clamped
            cell = min(int64(clamped), n_cells - 1)
            fraction = clamped - float32(cell)
            for c in range(r):
                encoded[j * r + c] = table[f, cell, c] + fraction * table[f, cell, r + c]
    return not_finite, outside


@njit(cache=True, nogil=True)
def take(codes, features, table, out, outputs):
    """Encode codes: each is a row of its feature's (L, r) table."""
    n, m = codes.shape
    r = table.shape[2] if outputs is None else len(outputs)
    for i in range(n):
        row = codes[i]
        encoded = out[i]
        for j in range(m):
            f = 0 if features is None else features[j]
            for c in range(r):
                encoded[j * r + c] = table[f, row[j], c]
