"""Products of pairs of samples that are codes."""

import numpy as np
from numba import njit

from kmaps._loops.compiling import loop

_CACHED = 1 << 16  # codes of columns, five bytes each, that stay in a cache


@loop()
def fill_products(rows, columns, table, usual, scale, first, out):
    """Fill ``out`` (n, m) with the products of n samples and m others.

    A code stands for its outputs in ``table`` (1 or d, r, L), less the outputs of the feature's
    ``usual`` code; their products are multiplied by ``scale`` (d,). ``rows`` are (bounds, features,
    codes) of the samples, in order of features, and ``columns`` (bounds, samples, codes) of the
    others, feature by feature: of the codes that are not usual. With ``first`` from 0 on, sample i
    is number ``first + i`` of the others; its products with later ones are left zero.
    """
    bounds, features, codes = rows
    starts, numbers, others = columns
    n = len(out)
    d = len(usual)
    n_levels = table.shape[2]
    # Features that share a table and a usual code share the products of codes too.
    sums = np.zeros(out.shape)
    products = np.empty((n_levels, n_levels))
    made_for = np.full(n_levels, -1)
    nexts = bounds[:-1].copy()
    stops = starts[:-1].copy()
    end = 0
    while end < d:
        # All rows read some columns before any row reads the next: these columns stay in a cache.
        begin = end
        end = end + 1
        while end < d and starts[end + 1] - starts[begin] <= _CACHED:
            end += 1
        for i in range(n):
            own = sums[i]
            n_own = out.shape[1] if first < 0 else first + i + 1
            k = nexts[i]
            while k < bounds[i + 1] and features[k] < end:
                j = features[k]
                of_table = j if len(table) > 1 else 0
                products_key = of_table * n_levels + usual[j]
                factor = scale[j]
                with_code = products[codes[k]]
                if made_for[codes[k]] != products_key:
                    _products_with(table[of_table], codes[k], usual[j], with_code)
                    made_for[codes[k]] = products_key
                # From ``first`` on, each row has one product more: the ends only move on.
                while stops[j] < starts[j + 1] and numbers[stops[j]] < n_own:
                    stops[j] += 1
                for other in range(starts[j], stops[j]):
                    own[numbers[other]] += factor * with_code[others[other]]
                k += 1
            nexts[i] = k
    for i in range(n):
        for j in range(out.shape[1]):
            out[i, j] = sums[i, j]


@njit(inline="always")
def _products_with(table, code, usual, products):
    """Fill the products of one code with each, both less the usual one; ``table`` is (r, L)."""
    products[:] = 0
    for q in range(len(table)):
        values = table[q]
        difference = np.float64(values[code]) - np.float64(values[usual])
        for c in range(len(products)):
            products[c] += difference * (values[c] - values[usual])
