"""Block coordinate descent on groups of columns: penalties that drop a group as a whole.

The problem is to minimise over w

    sum over groups g of |w_g|  +  sum over rows i of phi_i(m_i),    m_i = sign_i * x_i'w,
    phi_i(m) = max over 0 <= a <= cap_i of  a * (1 - m) - (a - centre_i)^2 / (2 * steep_i),

where |.| is the Euclidean norm. The maximum is at a = centre_i + steep_i * (1 - m), moved into its
range: minus the slope of a rounded hinge. With centre 0, no cap and steep 2C, phi is C times the
squared hinge.
"""

from math import sqrt

import numpy as np
from numba import njit

_FEWEST_GAIN = 0.01  # of the decrease that the slope promises, for a step to be taken
_HALVINGS = 30
_STRAIGHT = 0.05  # of the curvature that a row would have, where its loss is straight: it may bend

_sums = {"reassoc", "nsz", "contract"}  # sums in any order: side by side


@njit(cache=True, nogil=True, fastmath=_sums)
def _slopes(margins, centre, steep, cap, slope, curved):
    """Fill in a, which is minus the slope of each phi, and its curvature: steep inside."""
    for i in range(len(margins)):
        a = centre[i] + steep[i] * (1.0 - margins[i])
        curved[i] = steep[i] if 0.0 < a < cap[i] else _STRAIGHT * steep[i]
        slope[i] = min(max(a, 0.0), cap[i])


@njit(cache=True, nogil=True, fastmath=_sums)
def _loss(margins, step, shift, centre, steep, cap):
    """Return the sum of phi at the margins plus ``step`` times ``shift``."""
    total = 0.0
    for i in range(len(margins)):
        short = 1.0 - margins[i] - step * shift[i]
        a = min(max(centre[i] + steep[i] * short, 0.0), cap[i])
        total += a * short - (a - centre[i]) ** 2 / (2.0 * steep[i])
    return total


@njit(cache=True, nogil=True, fastmath=_sums)
def _direction(columns, signs, weights, slope, curved, change):
    """Fill in the best change of a group's weights by a round model of the loss.

    Returns the decrease that it promises, which is not positive.
    """
    curvature, length = 1e-12, 0.0
    for c in range(len(weights)):
        column, gradient, bend = columns[c], 0.0, 0.0
        for i in range(len(signs)):
            gradient -= slope[i] * signs[i] * column[i]
            bend += curved[i] * column[i] * column[i]
        change[c] = gradient
        curvature += bend
    for c in range(len(weights)):
        length += (weights[c] - change[c] / curvature) ** 2
    length = sqrt(length)
    shrunk = 1.0 - 1.0 / (curvature * length) if curvature * length > 1.0 else 0.0
    promised, old, new = 0.0, 0.0, 0.0
    for c in range(len(weights)):
        after = shrunk * (weights[c] - change[c] / curvature)
        promised += change[c] * (after - weights[c])
        old, new = old + weights[c] ** 2, new + after**2
        change[c] = after - weights[c]
    return promised + sqrt(new) - sqrt(old)


@njit(cache=True, nogil=True)
def _norm(weights, step, change):
    square = 0.0
    for c in range(len(weights)):
        square += (weights[c] + step * change[c]) ** 2
    return sqrt(square)


@njit(cache=True, nogil=True)
def sweep(columns, groups, size, signs, weights, margins, centre, steep, cap):
    """Minimise over one group after the other; return how much that lowered the objective.

    ``columns`` is the transpose of the samples, (d, n); group g has the rows g·size … of it, the
    last one maybe fewer. ``weights`` (d,) and ``margins`` (n,) are brought up to date.
    """
    n = len(margins)
    slope, curved, shift = np.empty(n), np.empty(n), np.empty(n)
    change = np.empty(size)
    _slopes(margins, centre, steep, cap, slope, curved)
    gained = 0.0
    for g in groups:
        first, last = g * size, min((g + 1) * size, len(weights))
        own, part = columns[first:last], weights[first:last]
        promised = _direction(own, signs, part, slope, curved, change)
        if promised >= 0.0:
            continue
        shift[:] = 0.0
        for c in range(last - first):
            for i in range(n):
                shift[i] += signs[i] * change[c] * own[c, i]
        before = _loss(margins, 0.0, shift, centre, steep, cap) + _norm(part, 0.0, change)
        step = 1.0
        for _ in range(_HALVINGS):
            after = _loss(margins, step, shift, centre, steep, cap) + _norm(part, step, change)
            if before - after >= -_FEWEST_GAIN * step * promised:
                gained += before - after
                for i in range(n):
                    margins[i] += step * shift[i]
                for c in range(last - first):
                    part[c] += step * change[c]
                _slopes(margins, centre, steep, cap, slope, curved)
                break
            step /= 2.0
    return gained
