"""Signs of random projections, summed in the order of the features.

The order is fixed, so the signs depend neither on how the work is cut nor on whether the samples
are dense or sparse: zeros add nothing. Dividing a row by its largest value changes no sign and
keeps the sums finite.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _add(sums, weight, direction):
    for c in range(len(sums)):
        sums[c] += weight * direction[c]


@njit(cache=True, nogil=True)
def signs_dense(X, directions, positive):
    """Set ``positive`` (n, m) where ``X @ directions`` (n, d) @ (d, m) is not negative."""
    n, d = X.shape
    sums = np.empty(directions.shape[1], directions.dtype)
    for i in range(n):
        sums[:] = 0
        largest = X[i].max()
        for j in range(d):
            if X[i, j] != 0:
                _add(sums, X[i, j] / largest, directions[j])
        for c in range(len(sums)):
            positive[i, c] = sums[c] >= 0


@njit(cache=True, nogil=True)
def signs_sparse(data, indices, indptr, directions, positive):
    """As `signs_dense`, of the rows of a CSR matrix without duplicates, in order of columns."""
    sums = np.empty(directions.shape[1], directions.dtype)
    for i in range(len(indptr) - 1):
        sums[:] = 0
        row = slice(indptr[i], indptr[i + 1])
        largest = data.dtype.type(0)
        for value in data[row]:
            largest = max(largest, value)
        for k in range(row.start, row.stop):
            if data[k] != 0:
                _add(sums, data[k] / largest, directions[indices[k]])
        for c in range(len(sums)):
            positive[i, c] = sums[c] >= 0
