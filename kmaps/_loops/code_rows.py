"""Codes from one form into another."""

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
    for i in range(len(codes)):
        row = codes[i]
        k, stop = bounds[i], bounds[i + 1]
        # Written always and kept by going on: no branch that cannot be foreseen.
        j = 0
        while k < stop:
            listed[k] = row[j]
            features[k] = j
            k += row[j] != usual
            j += 1
