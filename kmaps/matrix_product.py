"""The product of two matrices, with the same bits on any number of threads."""

import numpy as np
from numpy.typing import NDArray

# The largest sizes of a product for which BLAS takes one thread.
_ROWS = 32
_COLUMNS = 64
_TERMS = 128
_PADDED = 8  # the number of columns becomes a multiple of it: a sum has the same place among them


def product(X: NDArray, B: NDArray) -> NDArray:
    """Return X (n, k) @ B (k, m) with the same bits on any number of threads of BLAS.

    That number is of the process, and a thread cannot count on its limit. BLAS cuts products as
    many ways as it has threads, unless they are small, and without AVX-512 the bits of a sum depend
    on its place among the rows and columns (OpenBLAS 0.3.31 and 0.3.34).
    """
    n, k = X.shape
    m = B.shape[1]
    B = np.pad(B, ((0, 0), (0, -m % _PADDED)))
    out = np.empty((n, m), np.result_type(X, B))
    # Blocks of _ROWS rows, and the rows that are left, filled up with zeros.
    n_full = n - n % _ROWS
    full_blocks = X[:n_full].reshape(-1, _ROWS, k)
    last_block = np.zeros((1, _ROWS, k), X.dtype)
    last_block[0, : n - n_full] = X[n_full:]
    for left in range(0, m, _COLUMNS):
        factors = B[:, left : left + _COLUMNS]
        columns = slice(left, left + _COLUMNS)
        for first, blocks in ((0, full_blocks), (n_full, last_block)):
            sums = blocks[..., :_TERMS] @ factors[:_TERMS]
            terms = np.empty_like(sums)  # one for all: new pages cost a third of what sums cost
            for i in range(_TERMS, k, _TERMS):
                np.matmul(blocks[..., i : i + _TERMS], factors[i : i + _TERMS], out=terms)
                sums += terms
            rows = sums.reshape(-1, factors.shape[1])
            target = out[first : first + len(rows), columns]
            target[:] = rows[: len(target), : target.shape[1]]
    return out
