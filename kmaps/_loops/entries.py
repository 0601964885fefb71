"""The non-zeros of blocks of rows, as the sums of Gram matrices and of distances take them.

The non-zeros of one block are walked one at a time, and each is set against :data:`LANES` rows of
another at once, held transposed in a small tile so that one vector operation serves them all. The
features are cut into chunks, so that a tile stays in a core's own cache.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmaps._loops.compiling import inner, loop

LANES = 64  # rows that a tile holds
CHI2 = 0
INTERSECTION = 1
JS = 2
SQUARES = 3  # of differences: Euclidean, or hellinger if powers replace the values


# numpy's error model divides without a branch on zero, and "contract" makes a·b + c one operation:
# without them, nothing below is vectorised, or it is half as fast.
COMPILED = {"error_model": "numpy", "fastmath": {"contract"}}


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


@inner(**COMPILED)
def _close(index, value, begin, end, width):
    """Make the number of entries since `begin` even; return the new end."""
    if (end - begin) % 2:
        index[end] = width
        value[end] = 1
        end += 1
    return end


@loop(**COMPILED)
def pack_dense(rows, width, smallest, signed):
    """Return index, value and bounds (see Entries) of the values of at least `smallest`.

    With `signed` values of at most ``-smallest`` count too.
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


@loop(**COMPILED)
def pack_csr(indptr, indices, data, n_features, width, smallest, signed):
    """Pack the rows of a CSR matrix in canonical form as `pack_dense` packs dense rows."""
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


@inner(**COMPILED)
def spread(rows, values, first, chunk, tile):
    """Write one chunk of up to LANES rows, from row `first` on, into the columns of a tile."""
    bounds = rows.bounds[chunk]
    for lane in range(min(LANES, bounds.size - 1 - first)):
        for e in range(bounds[first + lane], bounds[first + lane + 1]):
            tile[rows.index[e], lane] = values[e]
