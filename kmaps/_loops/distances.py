"""Sums of squared distances over the rows of two blocks, feature by feature.

A distance taken as k(x, x) + k(y, y) - 2 k(x, y) cancels where rows are near each other. Here the
distance of each pair of values is a formula that does not, and all terms are positive, so the sums
are as exact as those of :mod:`kmaps._loops.gram`, whose tiles, chunks and entries serve here too.

A feature where the walked row is zero adds what the other row has there. These are sums over the
tile alone: those of 8 and of 64 neighbouring features are made once a tile, and a row of few
non-zeros needs few of them.
"""

from math import sqrt

import numpy as np
from numba import njit

from kmaps._loops.gram import CHI2, COMPILED, INTERSECTION, JS, LANES, spread, twice_js

SQUARES = 3  # of the difference: Euclidean, and with powers in the place of values hellinger

# ((1 + w)·log2(1 + w) + (1 - w)·log2(1 - w)) / (2 w²) as a polynomial in w², for w² up to NEAR, to
# 1e-8 relative: the interpolant in Chebyshev's points of [0, NEAR].
NEAR = 0.36
JS_RATIO = (
    *(0.7213475222, 0.1202240999, 0.0481111419, 0.0254179522),
    *(0.0186222102, 0.0013262608, 0.0238208990),
)
_P0, _P1, _P2, _P3, _P4, _P5, _P6 = (np.float32(c) for c in JS_RATIO)
_NEAR = np.float32(NEAR)
_SMALL, _LARGE = 8, 64  # features whose sums are kept


@njit(**COMPILED)
def _add_zeros(index, begin, end, n_features, width, nodes, stored, keep):
    """Write which sums of a tile cover the features between the entries of a row."""
    j = 0
    for e in range(begin, end + 1):
        # An entry that fills up an odd number has the index `width`.
        entry = min(index[e], n_features) if e < end else n_features
        while j < entry:
            if j % _LARGE == 0 and (j + _LARGE <= entry or entry == n_features):
                node, step = width + 1 + -(-width // _SMALL) + j // _LARGE, _LARGE
            elif j % _SMALL == 0 and (j + _SMALL <= entry or entry == n_features):
                node, step = width + 1 + j // _SMALL, _SMALL
            else:
                node, step = j, 1
            if keep:
                nodes[stored] = node
            stored += 1
            j += step
        j = max(j, entry + 1)
    return stored


@njit(**COMPILED)
def pack_zeros(index, bounds, n_features, width):
    """Return for each row of each chunk the sums of a tile that cover its zeros, and their bounds.

    They are rows of the tile that `_spread_own` fills: a feature, or the sum of 8 or 64 of them.
    """
    n_chunks, n_rows = bounds.shape[0], bounds.shape[1] - 1
    ends = np.zeros((n_chunks, n_rows + 1), np.int64)
    nodes = np.empty(0, np.uint16)
    for keep in (False, True):  # counted first: a row of few zeros has few
        stored = 0
        for c in range(n_chunks):
            inside = min(width, n_features - c * width)
            for r in range(n_rows):
                ends[c, r] = stored
                begin, end = bounds[c, r], bounds[c, r + 1]
                stored = _add_zeros(index, begin, end, inside, width, nodes, stored, keep)
            ends[c, n_rows] = stored
        if not keep:
            nodes = np.empty(stored, np.uint16)
    return nodes, ends


@njit(**COMPILED)
def _spread_own(kernel, rows, first, chunk, own):
    """Write the distances of one chunk's values from zero into a tile, and sums of neighbours."""
    own[:] = 0
    bounds, width = rows.bounds[chunk], rows.width
    weighted = rows.weight.size > 0
    for lane in range(min(LANES, bounds.size - 1 - first)):
        for e in range(bounds[first + lane], bounds[first + lane + 1]):
            value = rows.value[e]
            if kernel == SQUARES:
                value *= value
            elif weighted:
                value *= rows.weight[e] * rows.weight[e]
            own[rows.index[e], lane] = value
    own[width] = 0
    small = width + 1
    large = small + -(-width // _SMALL)
    for j in range(width):
        for lane in range(LANES):
            own[small + j // _SMALL, lane] += own[j, lane]
    for j in range(large - small):
        for lane in range(LANES):
            own[large + j // (_LARGE // _SMALL), lane] += own[small + j, lane]


@njit(**COMPILED)
def _add_chi2(sums, tile, walk, begin, end):
    # Division is what costs: two terms share one.
    for e in range(begin, end, 2):
        x, v = tile[walk.index[e]], walk.value[e]
        y, w = tile[walk.index[e + 1]], walk.value[e + 1]
        for lane in range(LANES):
            a = x[lane] + v
            b = y[lane] + w
            c = x[lane] - v
            d = y[lane] - w
            sums[lane] += (c * c * b + d * d * a) / (a * b)


@njit(**COMPILED)
def _add_intersection(sums, tile, walk, begin, end):
    for e in range(begin, end, 2):
        x, v = tile[walk.index[e]], walk.value[e]
        y, w = tile[walk.index[e + 1]], walk.value[e + 1]
        for lane in range(LANES):
            sums[lane] += abs(x[lane] - v) + abs(y[lane] - w)


@njit(**COMPILED)
def _add_squares(sums, tile, walk, begin, end):
    for e in range(begin, end, 2):
        x, v = tile[walk.index[e]], walk.value[e]
        y, w = tile[walk.index[e + 1]], walk.value[e + 1]
        for lane in range(LANES):
            c = x[lane] - v
            d = y[lane] - w
            sums[lane] += c * c + d * d


@njit(**COMPILED)
def _js(x, v, log_x, log_v):
    # With w = (x-v)/(x+v): (x+v)/2·((1+w)·log2(1+w) + (1-w)·log2(1-w)). The difference on the other
    # side of NEAR loses less than two bits.
    total = x + v
    w = (x - v) / total
    z = w * w
    near = total * z * (_P0 + z * (_P1 + z * (_P2 + z * (_P3 + z * (_P4 + z * (_P5 + z * _P6))))))
    far = total - twice_js(x, v, log_x, log_v)
    return near if z < _NEAR else far


@njit(**COMPILED)
def _add_js(sums, tile, logs, walk, begin, end):
    for e in range(begin, end):
        x, v = tile[walk.index[e]], walk.value[e]
        log_x, log_v = logs[walk.index[e]], walk.log[e]
        for lane in range(LANES):
            sums[lane] += _js(x[lane], v, log_x[lane], log_v)


@njit(**COMPILED)
def _add_weighted(kernel, sums, tile, logs, weights, walk, begin, end):
    """Add (p - q)² + p·q·(2 - 2κ), where p and q are x and v to γ/2 and κ is k(x, v) / √(xv).

    The weights are x and v to (γ - 1)/2, so that p is √x times its weight.
    """
    for e in range(begin, end):
        x, v = tile[walk.index[e]], walk.value[e]
        p, q = weights[walk.index[e]], walk.weight[e]
        log_x, log_v = logs[walk.index[e] if kernel == JS else 0], 0.0
        if kernel == JS:
            log_v = walk.log[e]
        t = sqrt(v)
        for lane in range(LANES):
            s = sqrt(x[lane])
            roots = (x[lane] - v) / (s + t)
            if kernel == CHI2:
                rest = 2 * s * t * roots * roots / (x[lane] + v)
            elif kernel == INTERSECTION:
                rest = 2 * min(s, t) * abs(roots)
            else:
                rest = max(_js(x[lane], v, log_x[lane], log_v) - roots * roots, 0.0)
            powers = s * p[lane] - t * q
            sums[lane] += powers * powers + rest * p[lane] * q


@njit(**COMPILED)
def add_distances(kernel, walk, others, skip, out):
    """Add the squared distances of two blocks of rows to a matrix.

    Parameters
    ----------
    kernel : int
        CHI2, INTERSECTION, JS or SQUARES, which has no weights.
    walk, others : Entries
        As `add_products` takes them; those of `walk` with zeros, and with SQUARES of any sign.
    skip : int
        As `add_products` takes it.
    out : float64 array of shape (n_walk, n_others)
        Changed in place.
    """
    width, weighted = walk.width, walk.weight.size > 0
    kind = walk.value.dtype
    tile = np.zeros((width + 1, LANES), kind)
    logs = np.zeros((width + 1 if kernel == JS else 1, LANES), kind)
    weights = np.zeros((width + 1 if weighted else 1, LANES), kind)
    n_own = width + 1 + -(-width // _SMALL) + -(-width // _LARGE)
    own = np.zeros((n_own if walk.zeros.size else 1, LANES), kind)
    sums = np.empty(LANES, kind)
    for first in range(0, out.shape[1], LANES):
        n_lanes = min(LANES, out.shape[1] - first)
        for chunk in range(walk.bounds.shape[0]):
            tile[:] = 0
            spread(others, others.value, first, chunk, tile)
            tile[width] = 1  # as the entry that fills up an odd number: no distance
            if kernel == JS:
                spread(others, others.log, first, chunk, logs)
            if weighted:
                weights[:] = 0
                spread(others, others.weight, first, chunk, weights)
                weights[width] = 1
            if walk.zeros.size:
                _spread_own(kernel, others, first, chunk, own)
            for r in range(max(0, first + skip), out.shape[0]):
                begin, end = walk.bounds[chunk, r], walk.bounds[chunk, r + 1]
                sums[:] = 0
                if weighted:
                    _add_weighted(kernel, sums, tile, logs, weights, walk, begin, end)
                elif kernel == CHI2:
                    _add_chi2(sums, tile, walk, begin, end)
                elif kernel == INTERSECTION:
                    _add_intersection(sums, tile, walk, begin, end)
                elif kernel == JS:
                    _add_js(sums, tile, logs, walk, begin, end)
                else:
                    _add_squares(sums, tile, walk, begin, end)
                for z in range(walk.zero_bounds[chunk, r], walk.zero_bounds[chunk, r + 1]):
                    row = own[walk.zeros[z]]
                    for lane in range(LANES):
                        sums[lane] += row[lane]
                for lane in range(n_lanes):
                    out[r, first + lane] += sums[lane]
