"""Codes from one form into another."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def recode(codes, cells):
    """Replace every code of a dense matrix by ``cells[feature, code]``, of (1 or d, L)."""
    n, d = codes.shape
    own = len(cells) > 1
    for i in range(n):
        row = codes[i]
        for j in range(d):
            row[j] = cells[j if own else 0, row[j]]


@njit(cache=True, nogil=True)
def recode_stored(codes, features, cells):
    """Replace every stored code of a sparse matrix by ``cells[feature, code]``."""
    own = len(cells) > 1
    for k in range(len(codes)):
        codes[k] = cells[features[k] if own else 0, codes[k]]


@njit(cache=True, nogil=True)
def count_others(codes, usual, counts):
    """Fill ``counts`` with how many codes of each row are not the usual one."""
    n, d = codes.shape
    for i in range(n):
        row = codes[i]
        count = 0
        for j in range(d):
            count += row[j] != usual
        counts[i] = count


@njit(cache=True, nogil=True)
def list_others(codes, usual, bounds, listed, features):
    """Write the codes that are not the usual one, and their features, row after row."""
    n, d = codes.shape
    for i in range(n):
        row = codes[i]
        k, stop = bounds[i], bounds[i + 1]
        j = 0
        # What is usual comes in runs: four at a time are left out.
        while k + 4 <= stop and j + 4 <= d:
            others = 0
            for t in range(j, j + 4):
                others |= row[t] ^ usual
            if others:
                for t in range(j, j + 4):
                    k = _list_other(row, t, usual, listed, features, k)
            j += 4
        while k < stop:
            k = _list_other(row, j, usual, listed, features, k)
            j += 1


@njit(inline="always")
def _list_other(row, j, usual, listed, features, k):
    """Write a code and its feature at k; return where the next one goes."""
    # Written always and kept by going on: no branch that cannot be foreseen.
    listed[k] = row[j]
    features[k] = j
    return k + (row[j] != usual)


@njit(cache=True, nogil=True)
def count_codes(codes, bounds, features, members, weights, counts):
    """Add the weight of each row to ``counts[feature, code]`` of all its codes."""
    for i in range(len(members)):
        start = bounds[members[i]]
        for k in range(start, bounds[members[i] + 1]):
            j = k - start if features is None else np.int64(features[k])
            counts[j, codes[k]] += weights[i]
