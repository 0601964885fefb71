"""Sums of a scalar kernel, or of its squared distances, over pairs of sparse rows.

Every additive kernel has k(0, y) = 0, so one loop serves dense and sparse input. Single precision
runs no further than a chunk of features; the sums of the chunks are added in double precision.
Where single precision cannot hold the range of the values, the loop takes double precision.

All values are positive, but for squares: the caller splits signed data into its positive and
negative parts.
"""

import numpy as np

from kmaps._loops import distances, products
from kmaps._loops.compiling import inner, loop
from kmaps._loops.distances import distance_of, n_own, own, spread_own
from kmaps._loops.entries import COMPILED, JS, LANES, spread


@loop(**COMPILED)
def add_sums(kernel, walk, others, zeros, skip, out):
    """Add sums over the features of each pair of two blocks of rows to a matrix.

    ``kernel`` is CHI2 (adds half the kernel), INTERSECTION, JS (adds twice the kernel), or SQUARES,
    whose kernel is the linear one, without weights. Distances are added as they are: with
    ``zeros``, which `pack_zeros` returns of ``walk``; without, kernels. ``walk`` and ``others`` are
    `Entries` of the same features and chunks, both with logarithms (JS) and both with or both
    without weights. With the tile of ``others`` that starts at row ``t``, only rows from ``t +
    skip`` on are walked; ``-len(others)`` or less walks everything. ``out`` is float64, (n_walk,
    n_others).
    """
    width = walk.width
    weighted = walk.weight.size > 0
    kind = walk.value.dtype
    tile = _tile(width + 1, kind)
    logs = _tile(width + 1 if kernel == JS else 1, kind)
    weights = _tile(width + 1 if weighted else 1, kind)
    if zeros is not None:
        nodes, ends = zeros
        own_sums = _tile(n_own(width), kind)
    sums = _tile(1, kind)[0]
    for first in range(0, out.shape[1], LANES):
        n_lanes = min(LANES, out.shape[1] - first)
        for chunk in range(walk.bounds.shape[0]):
            tile[:] = 0
            spread(others, others.value, first, chunk, tile)
            # An entry that fills up an odd number has no kernel, or no distance.
            tile[width] = zeros is not None
            if kernel == JS:  # a lane without a value keeps an old one without effect
                spread(others, others.log, first, chunk, logs)
            if weighted:
                weights[:] = 0
                spread(others, others.weight, first, chunk, weights)
                weights[width] = 1
            if zeros is not None:
                spread_own(kernel, others, first, chunk, own_sums)
            for r in range(max(0, first + skip), out.shape[0]):
                begin = walk.bounds[chunk, r]
                end = walk.bounds[chunk, r + 1]
                sums[:] = 0
                # Not in functions of their own: LLVM then sees that these branches are the same for
                # all rows, and the loops are faster.
                if zeros is None:
                    if weighted:
                        products.add_weighted(kernel, sums, tile, logs, weights, walk, begin, end)
                    elif kernel == JS:
                        products.add_js(sums, tile, logs, walk, begin, end)
                    else:
                        products.add_pairs(kernel, sums, tile, walk, begin, end)
                else:
                    if weighted:
                        distances.add_weighted(kernel, sums, tile, logs, weights, walk, begin, end)
                    elif kernel == JS:
                        distances.add_js(sums, tile, logs, walk, begin, end)
                    else:
                        distances.add_pairs(kernel, sums, tile, walk, begin, end)
                    for z in range(ends[chunk, r], ends[chunk, r + 1]):
                        row = own_sums[nodes[z]]
                        for lane in range(LANES):
                            sums[lane] += row[lane]
                for lane in range(n_lanes):
                    out[r, first + lane] += sums[lane]


@inner(**COMPILED)
def _tile(n, kind):
    """Return zeros for n features of LANES rows, from where vectors of 64 bytes begin."""
    room = np.zeros((n + 1) * LANES, kind)
    begin = -room.ctypes.data % 64 // room.itemsize
    return room[begin : begin + n * LANES].reshape(n, LANES)


@inner(**COMPILED)
def _entries_of(rows, chunk, r):
    """Return where the entries of a chunk of a row begin and end, without one that fills up."""
    begin = rows.bounds[chunk, r]
    end = rows.bounds[chunk, r + 1]
    return begin, end - (begin < end and rows.index[end - 1] == rows.width)


@loop(**COMPILED)
def distances_of_pairs(kernel, walk, others, rows, columns):
    """Return the distances of rows ``rows[i]`` of a block from ``columns[i]`` of another.

    The blocks are as `add_sums` takes them.
    """
    out = np.zeros(len(rows))
    for i in range(len(rows)):
        for chunk in range(walk.bounds.shape[0]):
            a, a_end = _entries_of(walk, chunk, rows[i])
            b, b_end = _entries_of(others, chunk, columns[i])
            while a < a_end and b < b_end:
                first = walk.index[a]
                second = others.index[b]
                if first == second:
                    out[i] += distance_of(kernel, others, b, walk, a)
                elif first < second:
                    out[i] += own(kernel, walk, a)
                else:
                    out[i] += own(kernel, others, b)
                a += first <= second
                b += second <= first
            for e in range(a, a_end):
                out[i] += own(kernel, walk, e)
            for e in range(b, b_end):
                out[i] += own(kernel, others, e)
    return out


@loop(**COMPILED)
def subtract(common, factor, own, others_own, enough, skip):
    """Replace sums S(x, y) by K(x, x) + K(y, y) - factor·S(x, y), or NaN; return how many are NaN.

    NaN are the pairs of which less than `enough` times K(x, x) + K(y, y) is left: digits are lost.
    With a `skip`, those on the diagonal and above it do not count.
    """
    n_lost = 0
    for i in range(common.shape[0]):
        for j in range(common.shape[1]):
            total = own[i] + others_own[j]
            left = total - factor * common[i, j]
            lost = (left < enough * total) & (i > j + skip)
            n_lost += lost
            common[i, j] = np.nan if lost else left
    return n_lost


@loop(**COMPILED)
def exponents(squared, unit, sigma):
    """Return -D²/2σ² in single precision, of squared distances in a unit: from -200 to 0."""
    out = np.empty(squared.shape, np.float32)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            # One division after the other: the square of a tiny sigma is zero.
            exponent = squared[i, j] * unit / sigma / (-2 * sigma)
            exponent = exponent if exponent > -200 else -200.0  # whose exponential is zero
            out[i, j] = exponent if exponent < 0 else 0.0
    return out
