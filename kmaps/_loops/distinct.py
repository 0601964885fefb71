"""Collect distinct values, as long as they are few."""

from math import nan

import numpy as np
from numba import njit, uint64


@njit(cache=True, nogil=True)
def collect(values, found, n_found, slots):
    """Add the values (n, m) that are not in ``found[:n_found]`` to it, until ``found`` is full.

    ``slots`` (int16, a power of two of them, more than twice as many as ``found``) is -1 at first
    and then says where in ``found`` a value is. Returns the new ``n_found``.
    """
    mask = uint64(len(slots) - 1)
    last = nan
    for i in range(values.shape[0]):
        row = values[i]
        for j in range(len(row)):
            value = np.float64(row[j]) + 0.0  # minus zero is zero
            if value == last:
                continue
            last = value
            mixed = np.float64(value).view(np.uint64) * uint64(0x9E3779B97F4A7C15)
            slot = mixed >> uint64(40) & mask
            while slots[slot] >= 0 and found[slots[slot]] != value:
                slot = (slot + uint64(1)) & mask
            if slots[slot] < 0:
                slots[slot] = n_found
                found[n_found] = value
                n_found += 1
                if n_found == len(found):
                    return n_found
    return n_found
