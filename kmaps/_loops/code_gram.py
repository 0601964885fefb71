"""Products of pairs of samples that are codes."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def usual_codes(codes, n_levels, usual):
    """Fill ``usual`` with the most frequent code of each column of a dense matrix."""
    n, d = codes.shape
    counts = np.zeros((d, n_levels), np.int64)
    for i in range(n):
        for j in range(d):
            counts[j, codes[i, j]] += 1
    for j in range(d):
        usual[j] = counts[j].argmax()


@njit(cache=True, nogil=True)
def fill_products(rows, columns, table, usual, scale, first, out):
    """Fill ``out`` (n, m) with the products of n samples and m others.

    A code stands for its outputs in ``table`` (1 or d, r, L), less those of the ``usual`` code of
    its feature; their products are multiplied by ``scale`` (d,). ``rows`` are (bounds, features,
    codes) of the samples, and ``columns`` (bounds, samples, codes) of the others, feature by
    feature: of the codes that are not usual. With ``first`` from 0 on, sample i is number
    ``first + i`` of the others, and only its products with those up to itself are filled.
    """
    bounds, features, codes = rows
    starts, numbers, others = columns
    n_levels = table.shape[2]
    sums, products = np.empty(out.shape[1]), np.empty(n_levels)
    for i in range(len(out)):
        n_sums = out.shape[1] if first < 0 else first + i + 1
        sums[:n_sums] = 0
        for k in range(bounds[i], bounds[i + 1]):
            j = features[k]
            own = table[j if len(table) > 1 else 0]
            _products_with(own, codes[k], usual[j], scale[j], products)
            for other in range(starts[j], starts[j + 1]):
                if numbers[other] >= n_sums:
                    break
                sums[numbers[other]] += products[others[other]]
        out[i, :n_sums] = sums[:n_sums]


@njit(inline="always")
def _products_with(table, code, usual, scale, products):
    """Fill the products of one code with each, both less the usual one; ``table`` is (r, L)."""
    products[:] = 0
    for q in range(len(table)):
        values = table[q]
        difference = scale * (np.float64(values[code]) - np.float64(values[usual]))
        for c in range(len(products)):
            products[c] += difference * (values[c] - values[usual])
