"""The ends of columns, and distinct values, as long as they are few."""

import numpy as np
from numba import njit, uint64

_PLACES = 32  # for each value: so sparsely filled that nearly all lie where they are looked for


@njit(cache=True, nogil=True)
def widen(values, low, high):
    """Widen the ends of each column by the values (n, m); what is not a number stays."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            value = values[i, j]
            low[j] = low[j] if low[j] <= value or low[j] != low[j] else value
            high[j] = high[j] if high[j] >= value or high[j] != high[j] else value


def empty_table(most):
    """Return the table in which `collect` finds at most so many values."""
    return np.full(_PLACES << int(most).bit_length(), np.nan)


@njit(cache=True, nogil=True)
def collect(values, found, n_found, table):
    """Add the values (n, m) that are not in ``found[:n_found]`` to it, until ``found`` is full.

    ``table`` is `empty_table` at first; a place is a value, or nothing: not a number. Returns the
    new ``n_found``.
    """
    mask = uint64(len(table) - 1)
    for i in range(values.shape[0]):
        row = values[i]
        for j in range(len(row)):
            value = np.float64(row[j]) + 0.0  # minus zero is zero
            mixed = np.float64(value).view(np.uint64) * uint64(0x9E3779B97F4A7C15)
            place = mixed >> uint64(50) & mask
            while table[place] != value:
                if np.isnan(table[place]):
                    table[place] = value
                    found[n_found] = value
                    n_found += 1
                    break
                place = (place + uint64(1)) & mask
            if n_found == len(found):
                return n_found
    return n_found
