"""Terms of squared distances, summed over a row's entries against the rows of a tile.

A distance taken as k(x, x) + k(y, y) - 2 k(x, y) cancels where rows are near each other. Here the
distance of each pair of values is a formula without cancellation, and all terms are positive, so
the sums are as exact as the sums of the kernels.

A feature where the walked row is zero adds what the other row has there. These are sums over the
tile alone: sums over 8 and over 64 neighbouring features are made once per tile, and a row of few
non-zeros needs few of them.
"""

from math import sqrt

import numpy as np

from kmaps._loops.compiling import inner, loop
from kmaps._loops.entries import CHI2, COMPILED, INTERSECTION, JS, LANES, SQUARES
from kmaps._loops.products import twice_js

# ((1 + w)·log2(1 + w) + (1 - w)·log2(1 - w)) / (2 w²) as a polynomial in w², for w² up to NEAR, to
# 1e-8 relative: the interpolant in Chebyshev's points of [0, NEAR].
NEAR = 0.36
JS_RATIO = (
    0.7213475222,
    0.1202240999,
    0.0481111419,
    0.0254179522,
    0.0186222102,
    0.0013262608,
    0.0238208990,
)
_P0, _P1, _P2, _P3, _P4, _P5, _P6 = (np.float32(c) for c in JS_RATIO)
_NEAR = np.float32(NEAR)
_SMALL = 8  # features whose sums are kept
_LARGE = 64  # as well


@inner(**COMPILED)
def _add_zeros(index, begin, end, n_features, width, nodes, stored, keep):
    """Write which sums of a tile cover the features between the entries of a row."""
    j = 0
    for e in range(begin, end + 1):
        # An entry that fills up an odd number has the index `width`.
        entry = min(index[e], n_features) if e < end else n_features
        while j < entry:
            if j % _LARGE == 0 and (j + _LARGE <= entry or entry == n_features):
                node = width + 1 + -(-width // _SMALL) + j // _LARGE
                step = _LARGE
            elif j % _SMALL == 0 and (j + _SMALL <= entry or entry == n_features):
                node = width + 1 + j // _SMALL
                step = _SMALL
            else:
                node = j
                step = 1
            if keep:
                nodes[stored] = node
            stored += 1
            j += step
        j = max(j, entry + 1)
    return stored


@loop(**COMPILED)
def pack_zeros(rows, n_features):
    """Return for each row of each chunk the sums of a tile that cover its zeros, and their bounds.

    They are rows of the tile that `spread_own` fills: a feature, or the sum of 8 or 64 of them.
    """
    index = rows.index
    bounds = rows.bounds
    width = rows.width
    n_chunks = bounds.shape[0]
    n_rows = bounds.shape[1] - 1
    ends = np.zeros((n_chunks, n_rows + 1), np.int64)
    nodes = np.empty(0, np.uint16)
    for keep in (False, True):  # the first pass counts: a row of few zeros has few
        stored = 0
        for c in range(n_chunks):
            inside = min(width, n_features - c * width)
            for r in range(n_rows):
                ends[c, r] = stored
                begin = bounds[c, r]
                end = bounds[c, r + 1]
                stored = _add_zeros(index, begin, end, inside, width, nodes, stored, keep)
            ends[c, n_rows] = stored
        if not keep:
            nodes = np.empty(stored, np.uint16)
    return nodes, ends


@inner(**COMPILED)
def _own(kernel, values, weights, e):
    value = values[e]
    if kernel == SQUARES:
        return value * value
    return value * (weights[e] * weights[e]) if weights.size > 0 else value


@inner(**COMPILED)
def own(kernel, rows, e):
    """Return the distance of an entry from zero."""
    return _own(kernel, rows.value, rows.weight, e)


@inner(**COMPILED)
def n_own(width):
    """Return how many rows `spread_own` fills."""
    return width + 1 + -(-width // _SMALL) + -(-width // _LARGE)


@inner(**COMPILED)
def spread_own(kernel, rows, first, chunk, tile):
    """Write the distances of one chunk's values from zero into a tile, and sums of neighbours."""
    tile[:] = 0
    bounds = rows.bounds[chunk]
    width = rows.width
    index = rows.index
    values = rows.value
    weights = rows.weight
    for lane in range(min(LANES, bounds.size - 1 - first)):
        for e in range(bounds[first + lane], bounds[first + lane + 1]):
            tile[index[e], lane] = _own(kernel, values, weights, e)
    tile[width] = 0
    small = width + 1
    large = small + -(-width // _SMALL)
    for j in range(width):
        for lane in range(LANES):
            tile[small + j // _SMALL, lane] += tile[j, lane]
    for j in range(large - small):
        for lane in range(LANES):
            tile[large + j // (_LARGE // _SMALL), lane] += tile[small + j, lane]


@inner(**COMPILED)
def add_pairs(kernel, sums, tile, walk, begin, end):
    for e in range(begin, end, 2):
        x = tile[walk.index[e]]
        v = walk.value[e]
        y = tile[walk.index[e + 1]]
        w = walk.value[e + 1]
        if kernel == CHI2:  # division is what costs: two terms share one
            for lane in range(LANES):
                a = x[lane] + v
                b = y[lane] + w
                c = x[lane] - v
                d = y[lane] - w
                sums[lane] += (c * c * b + d * d * a) / (a * b)
        elif kernel == INTERSECTION:
            for lane in range(LANES):
                sums[lane] += abs(x[lane] - v) + abs(y[lane] - w)
        else:
            for lane in range(LANES):
                c = x[lane] - v
                d = y[lane] - w
                sums[lane] += c * c + d * d


@inner(**COMPILED)
def _js(x, v, log_x, log_v):
    # With w = (x-v)/(x+v): (x+v)/2·((1+w)·log2(1+w) + (1-w)·log2(1-w)). The difference on the other
    # side of NEAR loses less than two bits.
    total = x + v
    w = (x - v) / total
    z = w * w
    near = total * z * (_P0 + z * (_P1 + z * (_P2 + z * (_P3 + z * (_P4 + z * (_P5 + z * _P6))))))
    distant = total - twice_js(x, v, log_x, log_v)
    return near if z < _NEAR else distant


@inner(**COMPILED)
def add_js(sums, tile, logs, walk, begin, end):
    for e in range(begin, end):
        x = tile[walk.index[e]]
        v = walk.value[e]
        log_x = logs[walk.index[e]]
        log_v = walk.log[e]
        for lane in range(LANES):
            sums[lane] += _js(x[lane], v, log_x[lane], log_v)


@inner(**COMPILED)
def _weighted(kernel, x, v, s, t, log_x, log_v, p, q):
    """Return (sp - tq)² + stpq·(2 - 2κ): s and t are √x and √v, p and q weights, κ is k(x, v) / st.

    With the weights x and v to (γ - 1)/2, sp and tq are x and v to γ/2.
    """
    roots = (x - v) / (s + t)
    if kernel == CHI2:
        rest = 2 * s * t * roots * roots / (x + v)
    elif kernel == INTERSECTION:
        rest = 2 * min(s, t) * abs(roots)
    else:
        rest = max(_js(x, v, log_x, log_v) - roots * roots, 0.0)
    powers = s * p - t * q
    return powers * powers + rest * p * q


@inner(**COMPILED)
def add_weighted(kernel, sums, tile, logs, weights, walk, begin, end):
    for e in range(begin, end):
        x = tile[walk.index[e]]
        v = walk.value[e]
        p = weights[walk.index[e]]
        q = walk.weight[e]
        log_x = logs[walk.index[e] if kernel == JS else 0]
        log_v = 0.0
        if kernel == JS:
            log_v = walk.log[e]
        t = sqrt(v)
        for lane in range(LANES):
            sums[lane] += _weighted(
                kernel, x[lane], v, sqrt(x[lane]), t, log_x[lane], log_v, p[lane], q
            )


@inner(**COMPILED)
def distance_of(kernel, rows, e, others, f):
    """Return the distance of two entries of the same feature."""
    x = rows.value[e]
    v = others.value[f]
    log_x = log_v = x
    if kernel == JS:
        log_x = rows.log[e]
        log_v = others.log[f]
    if rows.weight.size > 0:
        p = rows.weight[e]
        q = others.weight[f]
        return _weighted(kernel, x, v, sqrt(x), sqrt(v), log_x, log_v, p, q)
    if kernel == JS:
        return _js(x, v, log_x, log_v)
    difference = abs(x - v)
    if kernel == INTERSECTION:
        return difference
    if kernel == CHI2:
        return difference * difference / (x + v)
    return difference * difference
