"""Quantising loops: the code of each value.

A value array is (n, m): n rows of m values; the codes (uint8) have its shape. What a loop knows of
the levels is given for each of the m positions. Codes are clamped to their ends; not a number gets
a code of no meaning. Both loops return how many values lie outside their range, which is where
anything that is not finite is found.
"""

import numpy as np
from numba import float64, int32, njit, uint8, uint32, uint64


@njit(cache=True, nogil=True)
def _code(x, origin, per_unit, offset, last):
    # Comparisons that not a number fails: it ends at zero.
    position = (float64(x) - origin) * per_unit + offset
    position = position if position > 0.0 else 0.0
    position = position if position < last else last
    return uint8(int32(position))


@njit(cache=True, nogil=True)
def nearest_uniform(values, low, high, origin, per_unit, last, offset, codes):
    """Code a value as ``floor((value - origin) * per_unit + offset)``, between 0 and ``last``.

    ``low, high`` are the range that counts as inside. All of them are (m,) but ``offset``, which is
    a number; ``origin, per_unit, last, offset`` are float64, so that a value has the same code in
    every dtype.
    """
    n, m = values.shape
    inside = 0
    for i in range(n):
        row = values[i]
        coded = codes[i]
        for j in range(m):
            inside += (row[j] >= low[j]) & (row[j] <= high[j])
            coded[j] = _code(row[j], origin[j], per_unit[j], offset, last[j])
    return n * m - inside


@njit(cache=True, nogil=True)
def nearest_uniform_shared(values, low, high, origin, per_unit, last, offset, codes):
    """Do what `nearest_uniform` does where all positions share the levels, given as numbers."""
    n, m = values.shape
    inside = 0
    for i in range(n):
        row = values[i]
        coded = codes[i]
        for j in range(m):
            inside += (row[j] >= low) & (row[j] <= high)
            coded[j] = _code(row[j], origin, per_unit, offset, last)
    return n * m - inside


@njit(cache=True, nogil=True)
def nearest_sorted(values, low, high, start, edges, half, codes):
    """Code a value as how many of its feature's sorted edges it reaches.

    ``low, high`` (m,) are the range that counts as inside. The edges of position j are
    ``edges[start[j] : start[j] + 2 * half]``, the last one infinite; ``half`` is a power of two.
    The search takes the same steps for every value, so a row of them is searched side by side;
    without a sign, an index cannot count from the end, which would take a check.
    """
    n, m = values.shape
    inside = 0
    place = np.empty(m, np.uint32)
    for i in range(n):
        row = values[i]
        coded = codes[i]
        for j in range(m):
            place[j] = start[j]
        step = uint32(half)
        while step > 0:
            for j in range(m):
                ahead = uint32(place[j] + step)
                reached = edges[uint64(uint32(ahead - uint32(1)))] <= row[j]
                place[j] = ahead if reached else place[j]
            step = uint32(step >> uint32(1))
        for j in range(m):
            inside += (row[j] >= low[j]) & (row[j] <= high[j])
            coded[j] = uint8(place[j] - start[j])
    return n * m - inside


@njit(cache=True, nogil=True)
def nearest_bucketed(values, bits, low, high, shift, first, starts, edges, codes):
    """Code a value as how many edges there are up to it, by the leading bits of the value.

    ``bits`` are the values as whole numbers with a sign; ``low, high`` the range that counts as
    inside. The bucket ``(bits >> shift) - first``, or the nearest that there is, has
    ``starts[bucket]`` edges below it and one inside, ``edges[bucket]``, which may be infinite.
    """
    n, m = values.shape
    inside = 0
    last = len(starts) - 1
    for i in range(n):
        row, own_bits, coded = values[i], bits[i], codes[i]
        for j in range(m):
            x = row[j]
            inside += (x >= low) & (x <= high)
            bucket = min(max((own_bits[j] >> shift) - first, 0), last)
            coded[j] = starts[bucket] + (edges[bucket] <= x)
    return n * m - inside
