"""The product of two matrices, with the same bits on any number of threads."""

import numpy as np
from numpy.typing import NDArray

# The largest sizes of a product for which BLAS takes one thread.
_ROWS = 32
_COLUMNS = 64
_TERMS = 128


def product(X: NDArray, B: NDArray) -> NDArray:
    """Return X (n, k) @ B (k, m) with the same bits on any number of threads of BLAS.

    That number is of the process, and a thread cannot count on its limit. BLAS cuts products as
    many ways as it has threads, unless they are small, and without AVX-512 the bits of a sum depend
    on its place among the rows and columns (OpenBLAS 0.3.31 and 0.3.34).
    """
    (n, k), m = X.shape, B.shape[1]
    B, full = np.pad(B, ((0, 0), (0, -m % 8))), n - n % _ROWS
    out, rest = np.empty((n, m), np.result_type(X, B)), np.zeros((1, _ROWS, k), X.dtype)
    rest[0, : n - full] = X[full:]
    for left in range(0, m, _COLUMNS):
        b, columns = B[:, left : left + _COLUMNS], slice(left, left + _COLUMNS)
        for first, rows in ((0, X[:full].reshape(-1, _ROWS, k)), (full, rest)):
            sums = rows[..., :_TERMS] @ b[:_TERMS]
            part = np.empty_like(sums)  # one for all: new pages cost a third of what sums cost
            for i in range(_TERMS, k, _TERMS):
                sums += np.matmul(rows[..., i : i + _TERMS], b[i : i + _TERMS], out=part)
            there = out[first : first + sums.size // b.shape[1], columns]
            there[:] = sums.reshape(-1, b.shape[1])[: len(there), : there.shape[1]]
    return out
