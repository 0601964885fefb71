"""Quantising loops: the code of each value.

A value array is (n, m): n rows of m values; the codes (uint8) have its shape. What a loop knows of
the levels is given for each of the m positions, or as numbers where all of them share it. Codes are
clamped to their ends; not a number gets a code of no meaning. All loops return how many values lie
outside their range ``low, high``, which is where anything that is not finite is found.
"""

import numpy as np
from numba import float64, int32, njit, types, uint8, uint32, uint64
from numba.extending import overload


def _at(given, j):
    """Return what is given for position j, or for all of them."""
    return given if np.ndim(given) == 0 else given[j]


@overload(_at, inline="always")
def _compiled_at(given, j):
    if isinstance(given, types.Array):
        return lambda given, j: given[j]
    return lambda given, j: given


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

    ``origin, per_unit, last, offset`` are float64, so that a value has the same code in every
    dtype; ``offset`` is a number.
    """
    n, m = values.shape
    inside = 0
    for i in range(n):
        row = values[i]
        coded = codes[i]
        for j in range(m):
            inside += (row[j] >= _at(low, j)) & (row[j] <= _at(high, j))
            coded[j] = _code(row[j], _at(origin, j), _at(per_unit, j), offset, _at(last, j))
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
def nearest_bucketed(values, bits, low, high, first, last, base, shift, carries, codes):
    """Code a value as how many edges there are up to it, by its bits: a bucket and a rest.

    ``bits`` are the values as whole numbers with a sign, which are in the order of the values from
    zero on. Those beyond ``first`` or ``last`` count as these. ``bits >> shift`` plus ``base`` is
    the bucket, the bits below are the rest. ``carries[bucket]`` is the number of edges below the
    bucket, shifted, plus what a rest needs to carry into it where the rest reaches the bucket's
    only edge.
    """
    n, m = bits.shape
    inside = 0
    mask = bits.dtype.type((1 << shift) - 1)
    bucket, rest = np.empty(m, np.uint32), np.empty(m, carries.dtype)
    for i in range(n):
        row, own, coded = values[i], bits[i], codes[i]
        reached = int32(0)  # of one row: as narrow as the buckets, so that one vector holds both
        for j in range(m):
            reached += int32((row[j] >= _at(low, j)) & (row[j] <= _at(high, j)))
            number = min(max(own[j], _at(first, j)), _at(last, j))
            bucket[j] = uint32((number >> shift) + _at(base, j))
            rest[j] = number & mask
        for j in range(m):
            coded[j] = uint8((carries[uint64(bucket[j])] + rest[j]) >> carries.dtype.type(shift))
        inside += reached
    return n * m - inside
