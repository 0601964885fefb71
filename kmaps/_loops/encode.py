"""Encoding loops: find the cell of each value, then look its outputs up.

A value array is (n, m): n rows of m values. ``features`` names the feature of each of the m
positions, or is None when all features share one table; so a dense matrix passes its columns, and
the stored values of a CSR matrix pass as one long row. ``outputs`` comes from `unrolled`: a tuple
of length r whose only use is that length, which is part of the compiled type and lets the compiler
unroll the innermost loop; or None for many outputs, where a loop over vectors is faster.
"""

from math import isfinite

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy import float32, float64, floor, int64, uint32, uint64

from kmaps._loops.compiling import inner, loop

_MAGNITUDE = 0x7FFFFFFF
_INFINITY = 0x7F800000


def unrolled(r):
    """Return the ``outputs`` argument of the loops below for r outputs."""
    return (0,) * r if r < 8 else None


@loop()
def interpolate_log(bits, features, shift, table, out, outputs):
    """Encode float32 values given as their ``bits`` (uint32); return whether one is not finite.

    The sign, the exponent and the leading mantissa bits are the cell, the remaining ``shift`` bits
    the fraction. The table is (1, cells, 2r): the outputs at the cell's left end, then the slopes.
    It has a cell for every bit pattern, so nothing needs clamping.
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


@inner()
def _locate(x, low, high, per_width, n_cells):
    """Return the cell of x, how far into it x lies, whether x is finite, and whether clamped.

    All in float64: a float32 far into many cells would have few digits left for the fraction.
    """
    finite = isfinite(x)
    inside = min(max(x, low), high) if finite else low
    position = (inside - low) * per_width * n_cells
    cell = min(floor(position), n_cells - 1)
    return int64(cell), position - cell, finite, finite and inside != x


@loop()
def interpolate_pieces(values, features, ranges, pieces, out, outputs, powers):
    """Encode float32 or float64 values by polynomials on equal cells of each feature's range.

    ``ranges`` is (f, 4), float64: the ends of the range, one over its width, a factor of outputs.
    ``pieces`` is (1 or f, cells, p+1, r): the coefficients of the powers of the position in the
    cell, from 0 to 1. ``powers`` is a tuple of length p. Values outside their range are clamped.
    Returns whether one is not finite, and how many were clamped.
    """
    n, m = values.shape
    r = pieces.shape[3] if outputs is None else len(outputs)
    p = len(powers)
    n_cells = float64(pieces.shape[1])
    outside = 0
    all_finite = True
    for i in range(n):
        row = values[i]
        encoded = out[i]
        for j in range(m):
            f = 0 if features is None else features[j]
            cell, fraction, finite, clamped = _locate(
                row[j], ranges[f, 0], ranges[f, 1], ranges[f, 2], n_cells
            )
            all_finite &= finite
            outside += clamped
            piece = pieces[f if len(pieces) > 1 else 0, cell]
            t = out.dtype.type(fraction)
            factor = out.dtype.type(ranges[f, 3])
            for c in range(r):
                value = piece[p, c]
                for q in range(p - 1, -1, -1):
                    value = value * t + piece[q, c]
                encoded[j * r + c] = factor * value
    return not all_finite, outside


@loop()
def local_pieces(values, features, ranges, n_cells, pieces, data, columns, neighbours):
    """Encode values by a basis of which only p+1 neighbours are not zero, as parts of a CSR.

    ``pieces`` is (p+1, p+1): the coefficients of the powers for each of the neighbours, alike in
    every cell; the first neighbour has the number of the cell, of n_cells + p in all. ``data`` and
    ``columns`` (n, m·(p+1)) receive the values and columns; ``neighbours`` is a tuple of length
    p+1. Otherwise as `interpolate_pieces`.
    """
    n, m = values.shape
    width = len(neighbours)
    r = n_cells + width - 1
    outside = 0
    all_finite = True
    for i in range(n):
        for j in range(m):
            f = features[j]
            cell, fraction, finite, clamped = _locate(
                values[i, j], ranges[f, 0], ranges[f, 1], ranges[f, 2], float64(n_cells)
            )
            all_finite &= finite
            outside += clamped
            t = data.dtype.type(fraction)
            factor = data.dtype.type(ranges[f, 3])
            for c in range(width):
                value = pieces[width - 1, c]
                for q in range(width - 2, -1, -1):
                    value = value * t + pieces[q, c]
                data[i, j * width + c] = factor * value
                columns[i, j * width + c] = f * r + cell + c
    return not all_finite, outside


@intrinsic
def _copy(typing, into, at, source, start, outputs):
    """Copy as many consecutive numbers as ``outputs`` is long, in as few moves as they need.

    Number by number, the compiler must expect each to overwrite the next that it is to read.
    """

    def generate(context, builder, signature, arguments):
        ends = []
        for kind, array, index in zip(
            signature.args[::2], arguments[::2], arguments[1::2], strict=False
        ):
            data = context.make_array(kind)(context, builder, array).data
            ends.append(builder.gep(data, [index]))
        n = len(outputs)
        size = context.get_abi_sizeof(context.get_data_type(into.dtype))
        cgutils.raw_memcpy(builder, *ends, context.get_constant(types.intp, n), size)
        return context.get_dummy_value()

    return types.void(into, at, source, start, outputs), generate


@loop()
def take(codes, features, table, out, outputs):
    """Encode codes: each is a row of its feature's (L, r) table.

    Without ``features`` the positions are the features, which saves looking them up.
    """
    n, m = codes.shape
    n_codes = table.shape[1]
    r = table.shape[2] if outputs is None else len(outputs)
    flat = table.reshape(-1)  # indices without a sign need no check whether they count backwards
    step = uint64(n_codes * r if table.shape[0] > 1 else 0)
    for i in range(n):
        row = codes[i]
        encoded = out[i]
        for j in range(m):
            f = uint64(j) if features is None else uint64(features[j])
            first = f * step + uint64(row[j]) * uint64(r)
            if outputs is None:
                for c in range(r):
                    encoded[j * r + c] = flat[first + uint64(c)]
            else:
                _copy(encoded, j * r, flat, first, outputs)
