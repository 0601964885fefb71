"""Compiled loops on values and their codes: distinct values, levels, codes, lists of codes."""

import numpy as np
from numba import float64, int32, njit, types, uint8, uint32, uint64
from numba.extending import overload

from kmaps._loops.compiling import inner, loop

_PLACES = 32  # per value: the table is so sparse that nearly all values lie at their first place


@loop()
def widen(values, low, high):
    """Widen the ends of each column by the values (n, m); NaN changes nothing."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            value = values[i, j]
            low[j] = low[j] if low[j] <= value or low[j] != low[j] else value
            high[j] = high[j] if high[j] >= value or high[j] != high[j] else value


def empty_table(most):
    """Return the table in which `collect` finds at most so many values."""
    return np.full(_PLACES << int(most).bit_length(), np.nan)


@loop()
def collect(values, distinct, n_distinct, table):
    """Add the values (n,) that are not in ``distinct[:n_distinct]`` to it, until it is full.

    ``table`` is `empty_table` at first; a place is a value, or nothing: not a number. Returns the
    new ``n_distinct``.
    """
    if n_distinct == len(distinct):
        return n_distinct
    mask = uint64(len(table) - 1)
    for i in range(len(values)):
        value = values[i] + 0.0  # minus zero is zero
        mixed = np.float64(value).view(np.uint64) * uint64(0x9E3779B97F4A7C15)
        place = mixed >> uint64(50) & mask
        while table[place] != value:
            if np.isnan(table[place]):
                table[place] = value
                distinct[n_distinct] = value
                n_distinct += 1
                break
            place = (place + uint64(1)) & mask
        if n_distinct == len(distinct):
            return n_distinct
    return n_distinct


N_SIZES = 2048  # bins of sizes: the exponent and three more bits of a float32
N_DISTINCT = 4  # different values of a column that are noted


@loop()
def count_sizes(bits, counts, distinct):
    """Count values of each column by size, in ``counts`` (m, N_SIZES), without zeros.

    ``bits`` (n, m) are the values, float32, as uint32. ``distinct`` (m, N_DISTINCT) gets those of
    the first different ones of each column; 0 is an empty place.
    """
    for i in range(bits.shape[0]):
        for j in range(bits.shape[1]):
            size = bits[i, j] & uint32(0x7FFFFFFF)
            if size == 0:
                continue
            counts[j, size >> uint32(20)] += uint32(1)
            if distinct[j, N_DISTINCT - 1] == 0:
                for k in range(N_DISTINCT):
                    if distinct[j, k] == bits[i, j]:
                        break
                    if distinct[j, k] == 0:
                        distinct[j, k] = bits[i, j]
                        break


def _at(numbers, j):
    """Return the value for position j, or the one for all positions."""
    return numbers if np.ndim(numbers) == 0 else numbers[j]


@overload(_at, inline="always")
def _compiled_at(numbers, j):
    if isinstance(numbers, types.Array):
        return lambda numbers, j: numbers[j]
    return lambda numbers, j: numbers


@inner()
def _code(x, origin, per_unit, offset, last):
    # Not a number fails both comparisons, and ends at zero.
    position = (float64(x) - origin) * per_unit + offset
    position = position if position > 0.0 else 0.0
    position = position if position < last else last
    return uint8(int32(position))


@loop()
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


@loop()
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


@loop()
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
    bucket = np.empty(m, np.uint32)
    rest = np.empty(m, carries.dtype)
    for i in range(n):
        row = values[i]
        own = bits[i]
        coded = codes[i]
        reached = int32(0)  # as narrow as the buckets, so that one vector holds both
        for j in range(m):
            reached += int32((row[j] >= _at(low, j)) & (row[j] <= _at(high, j)))
            number = min(max(own[j], _at(first, j)), _at(last, j))
            bucket[j] = uint32((number >> shift) + _at(base, j))
            rest[j] = number & mask
        for j in range(m):
            coded[j] = uint8((carries[uint64(bucket[j])] + rest[j]) >> carries.dtype.type(shift))
        inside += reached
    return n * m - inside


@loop()
def recode(codes, cells):
    """Replace every code of a dense matrix by ``cells[feature, code]``, of (1 or d, L)."""
    n, d = codes.shape
    own = len(cells) > 1
    for i in range(n):
        row = codes[i]
        for j in range(d):
            row[j] = cells[j if own else 0, row[j]]


@loop()
def recode_stored(codes, features, cells):
    """Replace every stored code of a sparse matrix by ``cells[feature, code]``."""
    own = len(cells) > 1
    for k in range(len(codes)):
        codes[k] = cells[features[k] if own else 0, codes[k]]


@loop()
def count_others(codes, usual, counts):
    """Fill ``counts`` with how many codes of each row are not the usual one."""
    n, d = codes.shape
    for i in range(n):
        row = codes[i]
        count = 0
        for j in range(d):
            count += row[j] != usual
        counts[i] = count


@loop()
def list_others(codes, usual, bounds, listed, features):
    """Write the codes that are not the usual one, and their features, row after row."""
    n, d = codes.shape
    for i in range(n):
        row = codes[i]
        k = bounds[i]
        stop = bounds[i + 1]
        j = 0
        # Usual codes come in runs, so four at a time are skipped.
        while k + 4 <= stop and j + 4 <= d:
            others = 0
            for t in range(j, j + 4):
                others |= row[t] ^ usual
            if others:
                for t in range(j, j + 4):
                    k = _list_other(row, t, usual, listed, features, k)
            j += 4
        while k < stop:
            k = _list_other(row, j, usual, listed, features, k)
            j += 1


@njit(inline="always")
def _list_other(row, j, usual, listed, features, k):
    """Write a code and its feature at k; return where the next one goes."""
    # Always written, and kept by moving on: no branch to mispredict.
    listed[k] = row[j]
    features[k] = j
    return k + (row[j] != usual)


@loop()
def count_codes(codes, bounds, features, members, weights, counts):
    """Add the weight of each row to ``counts[feature, code]`` of all its codes."""
    for i in range(len(members)):
        if weights[i] == 0:
            continue
        start = bounds[members[i]]
        for k in range(start, bounds[members[i] + 1]):
            j = k - start if features is None else np.int64(features[k])
            counts[j, codes[k]] += weights[i]
