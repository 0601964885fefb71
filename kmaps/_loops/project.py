"""Signs of random projections, summed in the order of the features.

The order is fixed, so the signs depend neither on how the work is cut nor on whether the samples
are dense or sparse: zeros add nothing. Dividing a row by its largest value changes no sign and
keeps the sums finite.
"""

import numpy as np

from kmaps._loops.compiling import inner, loop

_CACHED = 1 << 16  # values of directions that stay in a cache


@inner()
def _add(sums, weight, direction):
    for c in range(len(sums)):
        sums[c] += weight * direction[c]


@loop()
def signs(data, indices, indptr, directions, positive):
    """Set ``positive`` (n, m) where CSR rows times ``directions`` (d, m) are not negative.

    Columns are in order, without duplicates. All rows go through some of them before any goes on:
    so many directions stay in a cache.
    """
    n = len(indptr) - 1
    (d, m) = directions.shape
    sums = np.zeros((n, m), directions.dtype)
    nexts = indptr[:-1].copy()
    largest = np.zeros(n, data.dtype)
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            largest[i] = max(largest[i], data[k])
    columns = max(1, _CACHED // m)
    for end in range(columns, d + columns, columns):
        for i in range(n):
            k = nexts[i]
            own = sums[i]
            while k < indptr[i + 1] and indices[k] < end:
                if data[k] != 0:
                    _add(own, data[k] / largest[i], directions[indices[k]])
                k += 1
            nexts[i] = k
    for i in range(n):
        for c in range(m):
            positive[i, c] = sums[i, c] >= 0
