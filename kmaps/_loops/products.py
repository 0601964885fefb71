"""Terms of the additive kernels, summed over a row's entries against the rows of a tile.

The weights of a kernel of another degree than 1 are x and v to (gamma - 1) / 2.
"""

import numpy as np

from kmaps._loops.compiling import inner
from kmaps._loops.entries import CHI2, COMPILED, INTERSECTION, LANES

# log2((1 + w) / (1 - w)) / w as a polynomial in w², for w in [0, 1/3], to 4e-9 relative: the
# interpolant in Chebyshev's points of [0, 1/9].
LOG2_RATIO = (2.8853900929, 0.9617917163, 0.5774328505, 0.4034519442, 0.4062308710)
_R0, _R1, _R2, _R3, _R4 = (np.float32(c) for c in LOG2_RATIO)


@inner(**COMPILED)
def _min(x, v):
    # Unlike min(), a comparison is one operation of the processor.
    return x if x < v else v


@inner(**COMPILED)
def twice_js(x, v, log_x, log_v):
    # (x+v)·log2(1 + low/high) + low·log2(high/low): both are positive, so nothing cancels, as it
    # would in h(x+v) - h(x) - h(v) with h(t) = t·log2 t.
    low = _min(x, v)
    total = x + v
    w = low / (total + (total - low))  # 1 + low/high = (1 + w) / (1 - w)
    z = w * w
    ratio = w * (_R0 + z * (_R1 + z * (_R2 + z * (_R3 + z * _R4))))
    return total * ratio + low * abs(log_x - log_v)


@inner(**COMPILED)
def add_pairs(kernel, sums, tile, walk, begin, end):
    # Two at a time, because each addition to memory waits for the previous one.
    for e in range(begin, end, 2):
        x = tile[walk.index[e]]
        v = walk.value[e]
        y = tile[walk.index[e + 1]]
        w = walk.value[e + 1]
        if kernel == CHI2:  # division is what costs: two terms share one
            for lane in range(LANES):
                a = x[lane] + v
                b = y[lane] + w
                sums[lane] += (x[lane] * v * b + y[lane] * w * a) / (a * b)
        elif kernel == INTERSECTION:
            for lane in range(LANES):
                sums[lane] += _min(x[lane], v) + _min(y[lane], w)
        else:
            for lane in range(LANES):
                sums[lane] += x[lane] * v + y[lane] * w


@inner(**COMPILED)
def add_js(sums, tile, logs, walk, begin, end):
    for e in range(begin, end):
        x = tile[walk.index[e]]
        v = walk.value[e]
        log_x = logs[walk.index[e]]
        log_v = walk.log[e]
        for lane in range(LANES):
            sums[lane] += twice_js(x[lane], v, log_x[lane], log_v)


@inner(**COMPILED)
def add_weighted(kernel, sums, tile, logs, weights, walk, begin, end):
    for e in range(begin, end):
        x = tile[walk.index[e]]
        v = walk.value[e]
        p = weights[walk.index[e]]
        q = walk.weight[e]
        if kernel == CHI2:
            for lane in range(LANES):
                sums[lane] += x[lane] * (v / (x[lane] + v)) * p[lane] * q
        elif kernel == INTERSECTION:
            for lane in range(LANES):
                sums[lane] += _min(x[lane], v) * p[lane] * q
        else:
            log_x = logs[walk.index[e]]
            log_v = walk.log[e]
            for lane in range(LANES):
                sums[lane] += twice_js(x[lane], v, log_x[lane], log_v) * p[lane] * q
