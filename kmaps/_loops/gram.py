"""Sums of a scalar kernel over the non-zero values of sparse rows.

Every additive kernel has k(0, y) = 0, so one loop serves dense and sparse input: the non-zeros of
one set of rows are walked one at a time, and each is set against :data:`LANES` rows of the other
set at once, held transposed in a small tile so that one vector operation serves them all. The
features are cut into chunks, so that a tile stays in a core's own cache; single precision runs no
further than a chunk, the sums of the chunks are added in double precision. Where single precision
cannot hold the range of the values, all of it is in double: a loop takes either.

All values are positive: the caller splits signed data into its positive and negative parts.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

LANES = 64
CHI2, INTERSECTION, JS = 0, 1, 2


# log2((1 + w) / (1 - w)) / w as a polynomial in w², for w in [0, 1/3], to 4e-9 relative: the
# interpolant in Chebyshev's points of [0, 1/9].
LOG2_RATIO = (2.8853900929, 0.9617917163, 0.5774328505, 0.4034519442, 0.4062308710)
_R0, _R1, _R2, _R3, _R4 = (np.float32(c) for c in LOG2_RATIO)

# numpy's error model divides without a branch on zero, and "contract" lets a·b + c be one
# operation: without the two nothing below is vectorised, or half as fast.
COMPILED = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"contract"}}


class Entries(NamedTuple):
    """The non-zeros of a block of rows, chunk by chunk and, within a chunk, row by row.

    Each chunk of a row has an even number of entries; an entry of index ``width`` and value 1
    fills up an odd one and meets zeros only.
    """

    index: NDArray[np.uint16]  # feature, counted from the first one of its chunk
    value: NDArray  # float32 or float64, as all that follows from it
    log: NDArray  # log2 of the value; empty where the kernel has no use for it
    weight: NDArray  # the value to (gamma - 1) / 2; empty when gamma is 1
    bounds: NDArray[np.int64]  # (n_chunks, n_rows + 1): where each row of each chunk starts
    width: int  # features in a chunk
    zeros: NDArray[np.uint16]  # sums of a tile that cover a row's zeros; empty but for distances
    zero_bounds: NDArray[np.int64]  # as bounds, of the zeros


@njit(**COMPILED)
def _close(index, value, begin, end, width):
    """Make the number of entries since `begin` even; return the new end."""
    if (end - begin) % 2:
        index[end] = width
        value[end] = 1
        end += 1
    return end


@njit(**COMPILED)
def pack_dense(rows, width, smallest, signed):
    """Return index, value and bounds (see Entries) of the values of at least `smallest`.

    With `signed` also of those of at most ``-smallest``.
    """
    n_rows, n_features = rows.shape
    n_chunks = (n_features + width - 1) // width
    index = np.empty(n_rows * (n_features + n_chunks), np.uint16)
    value = np.empty(index.size, rows.dtype)
    bounds = np.empty((n_chunks, n_rows + 1), np.int64)
    end = 0
    for c in range(n_chunks):
        for r in range(n_rows):
            bounds[c, r] = begin = end
            for j in range(c * width, min((c + 1) * width, n_features)):
                # Written always, kept by moving on: no branch to mispredict.
                index[end] = j - c * width
                value[end] = rows[r, j]
                end += (rows[r, j] >= smallest) | (signed & (rows[r, j] <= -smallest))
            end = _close(index, value, begin, end, width)
        bounds[c, n_rows] = end
    return index[:end], value[:end], bounds


@njit(**COMPILED)
def pack_csr(indptr, indices, data, n_features, width, smallest, signed):
    """Do what `pack_dense` does for the rows of a CSR matrix in canonical form."""
    n_rows = indptr.size - 1
    n_chunks = (n_features + width - 1) // width
    index = np.empty(data.size + n_rows * n_chunks, np.uint16)
    value = np.empty(index.size, data.dtype)
    bounds = np.empty((n_chunks, n_rows + 1), np.int64)
    unread = indptr[:-1].copy()
    end = 0
    for c in range(n_chunks):
        for r in range(n_rows):
            bounds[c, r] = begin = end
            k = unread[r]
            while k < indptr[r + 1] and indices[k] < (c + 1) * width:
                if data[k] >= smallest or (signed and data[k] <= -smallest):
                    index[end] = indices[k] - c * width
                    value[end] = data[k]
                    end += 1
                k += 1
            unread[r] = k
            end = _close(index, value, begin, end, width)
        bounds[c, n_rows] = end
    return index[:end], value[:end], bounds


@njit(**COMPILED)
def spread(rows, values, first, chunk, tile):
    """Write one chunk of up to LANES rows, from row `first` on, into the columns of a tile."""
    bounds = rows.bounds[chunk]
    for lane in range(min(LANES, bounds.size - 1 - first)):
        for e in range(bounds[first + lane], bounds[first + lane + 1]):
            tile[rows.index[e], lane] = values[e]


@njit(**COMPILED)
def _half_chi2(x, v):
    return x * (v / (x + v))


@njit(**COMPILED)
def _min(x, v):
    # A comparison, unlike min(), is one machine operation.
    return x if x < v else v


@njit(**COMPILED)
def twice_js(x, v, log_x, log_v):
    # (x+v)·log2(1 + low/high) + low·log2(high/low): both are positive, so nothing cancels, as it
    # would in h(x+v) - h(x) - h(v) with h(t) = t·log2 t.
    low = _min(x, v)
    total = x + v
    w = low / (total + (total - low))  # 1 + low/high = (1 + w) / (1 - w)
    z = w * w
    ratio = w * (_R0 + z * (_R1 + z * (_R2 + z * (_R3 + z * _R4))))
    return total * ratio + low * abs(log_x - log_v)


@njit(**COMPILED)
def _add_chi2(sums, tile, walk, begin, end):
    # Division is what costs: two terms share one.
    for e in range(begin, end, 2):
        x, v = tile[walk.index[e]], walk.value[e]
        y, w = tile[walk.index[e + 1]], walk.value[e + 1]
        for lane in range(LANES):
            a = x[lane] + v
            b = y[lane] + w
            sums[lane] += (x[lane] * v * b + y[lane] * w * a) / (a * b)


@njit(**COMPILED)
def _add_intersection(sums, tile, walk, begin, end):
    # Two at a time, because each addition to memory waits for the last.
    for e in range(begin, end, 2):
        x, v = tile[walk.index[e]], walk.value[e]
        y, w = tile[walk.index[e + 1]], walk.value[e + 1]
        for lane in range(LANES):
            sums[lane] += _min(x[lane], v) + _min(y[lane], w)


@njit(**COMPILED)
def _add_js(sums, tile, logs, walk, begin, end):
    for e in range(begin, end):
        x, v = tile[walk.index[e]], walk.value[e]
        log_x, log_v = logs[walk.index[e]], walk.log[e]
        for lane in range(LANES):
            sums[lane] += twice_js(x[lane], v, log_x[lane], log_v)


@njit(**COMPILED)
def _add_weighted(kernel, sums, tile, logs, weights, walk, begin, end):
    for e in range(begin, end):
        x, v = tile[walk.index[e]], walk.value[e]
        p, q = weights[walk.index[e]], walk.weight[e]
        if kernel == CHI2:
            for lane in range(LANES):
                sums[lane] += _half_chi2(x[lane], v) * p[lane] * q
        elif kernel == INTERSECTION:
            for lane in range(LANES):
                sums[lane] += _min(x[lane], v) * p[lane] * q
        else:
            log_x, log_v = logs[walk.index[e]], walk.log[e]
            for lane in range(LANES):
                sums[lane] += twice_js(x[lane], v, log_x[lane], log_v) * p[lane] * q


@njit(**COMPILED)
def add_products(kernel, walk, others, skip, out):
    """Add the kernel sums of two blocks of rows to a matrix.

    Parameters
    ----------
    kernel : int
        CHI2 (adds half the kernel), INTERSECTION, or JS (adds twice the kernel).
    walk, others : Entries
        Two blocks of the same features and chunks, both with logarithms (JS) and both with or
        both without weights.
    skip : int
        With the tile of `others` that starts at row `t`, walk only from row ``t + skip`` on;
        ``-len(others)`` or less walks everything.
    out : float64 array of shape (n_walk, n_others)
        Changed in place.
    """
    width, weighted = walk.width, walk.weight.size > 0
    kind = walk.value.dtype
    tile = np.zeros((width + 1, LANES), kind)
    # A lane without a value keeps an old logarithm and weight; both meet a kernel of zero.
    logs = np.zeros((width + 1 if kernel == JS else 1, LANES), kind)
    weights = np.zeros((width + 1 if weighted else 1, LANES), kind)
    sums = np.empty(LANES, kind)
    for first in range(0, out.shape[1], LANES):
        n_lanes = min(LANES, out.shape[1] - first)
        for chunk in range(walk.bounds.shape[0]):
            tile[:] = 0
            spread(others, others.value, first, chunk, tile)
            tile[width] = 0
            if kernel == JS:
                spread(others, others.log, first, chunk, logs)
            if weighted:
                spread(others, others.weight, first, chunk, weights)
            for r in range(max(0, first + skip), out.shape[0]):
                begin, end = walk.bounds[chunk, r], walk.bounds[chunk, r + 1]
                sums[:] = 0
                if weighted:
                    _add_weighted(kernel, sums, tile, logs, weights, walk, begin, end)
                elif kernel == CHI2:
                    _add_chi2(sums, tile, walk, begin, end)
                elif kernel == INTERSECTION:
                    _add_intersection(sums, tile, walk, begin, end)
                else:
                    _add_js(sums, tile, logs, walk, begin, end)
                for lane in range(n_lanes):
                    out[r, first + lane] += sums[lane]
