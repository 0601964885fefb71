"""Dual coordinate descent on codes (Hsieh et al., ICML 2008, algorithm 3).

The dual of a two-class problem with the features φ (the constant one, ``bias``, among them) is

    min over a:  |w(a)|² / 2 + Σ ridge_i a_i² / 2 - Σ a_i,   0 <= a_i <= upper_i,
    w(a) = Σ a_i y_i φ(x_i),

with upper_i = C and ridge_i = 0 for the hinge, upper_i infinite and ridge_i = 1 / (2C) for its
square. Weights and features are float32, whatever is added up over the rows is float64.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, uint64

from kmaps._loops.forms import approach, change, evaluate


class Task(NamedTuple):
    """A two-class problem. ``upper`` and ``ridge`` (2,) belong to the signs -1 and 1."""

    members: np.ndarray  # int64 (n,): the rows that take part
    signs: np.ndarray  # int8 (n,)
    norms: np.ndarray  # float64 (n,): |φ(x_i)|²
    upper: np.ndarray  # float64
    ridge: np.ndarray  # float64
    bias: float


@njit(cache=True, nogil=True)
def rebuild(rows, form, task, alpha, weights):
    """Set the weights to w(alpha); return that of the constant feature."""
    weights[:] = 0
    constant = 0.0
    for i in range(len(alpha)):
        if alpha[i] > 0:
            step = alpha[i] * task.signs[i]
            change(rows, task.members[i], form, step, weights)
            constant += step * task.bias
    return constant


@njit(cache=True, nogil=True)
def margins(rows, form, task, weights, constant, out):
    """Fill ``out`` with y_i f(x_i) for the members of a task."""
    for i in range(len(out)):
        value = evaluate(rows, task.members[i], form, weights)
        out[i] = task.signs[i] * (value + constant * task.bias)


# A row of zeros without bias has no curvature: its step is infinite, and cut at the bound.
@njit(cache=True, nogil=True, error_model="numpy")
def descend(rows, form, task, alpha, weights, order, state, goal, budget):
    """Go through the active members in random order, again and again.

    The first places of ``order`` are the active members. One whose variable is at a bound, and
    would be pushed further out by more than any other was pushed in the pass before (``rise`` at
    zero, ``fall`` at the upper bound), moves behind them. Stops after a pass when the duality gap,
    added up during the pass, is at most ``goal`` times the primal objective, when no member is
    active, or after ``budget`` evaluations.

    ``state`` is (active members, rise, fall, dual objective, weight of the constant feature, state
    of the random numbers). Returns the next one, the gap, and the number of evaluations.
    """
    n_active, rise, fall, dual, constant, random = state
    spent = 0
    while True:
        random = _shuffle(order, n_active, random)
        gap, next_rise, next_fall, k = 0.0, 0.0, 0.0, 0
        while k < n_active:
            i = order[k]
            if k + 1 < n_active:
                approach(rows.codes, rows.bounds, rows.features, task.members[order[k + 1]])
            spent += 1
            side = 1 if task.signs[i] > 0 else 0
            upper, ridge, old = task.upper[side], task.ridge[side], alpha[i]
            value = evaluate(rows, task.members[i], form, weights) + constant * task.bias
            excess = task.signs[i] * value - 1
            gap += _gap(excess, old, upper, ridge)
            gradient = excess + ridge * old
            if (old == 0 and gradient > rise) or (old == upper and gradient < fall):
                n_active -= 1
                order[k], order[n_active] = order[n_active], i
                continue
            k += 1
            curvature = task.norms[i] + ridge
            new = min(max(old - gradient / curvature, 0.0), upper)
            if new == old:
                continue
            next_rise, next_fall = max(next_rise, gradient), min(next_fall, gradient)
            alpha[i] = new
            step = (new - old) * task.signs[i]
            change(rows, task.members[i], form, step, weights)
            constant += step * task.bias
            dual -= (new - old) * (gradient + curvature * (new - old) / 2)
        rise = next_rise if next_rise > 0 else np.inf
        fall = next_fall if next_fall < 0 else -np.inf
        if gap <= goal * (dual + gap) or n_active == 0 or spent >= budget:
            return (n_active, rise, fall, dual, constant, random), gap, spent


@njit(cache=True, nogil=True, error_model="numpy")
def _gap(excess, alpha, upper, ridge):
    """Return a member's part of the duality gap; ``excess`` is its margin minus one."""
    short = max(-excess, 0.0)
    loss = short * upper if ridge == 0 else short * short / (2 * ridge)
    return loss + alpha * (excess + ridge * alpha / 2)


@njit(cache=True, nogil=True)
def _shuffle(order, n, random):
    """Shuffle the first n places; return the next state of the generator (xorshift64*)."""
    for k in range(n - 1, 0, -1):
        random ^= random >> uint64(12)
        random ^= random << uint64(25)
        random ^= random >> uint64(27)
        high = (random * uint64(0x2545F4914F6CDD1D)) >> uint64(32)
        j = (high * uint64(k + 1)) >> uint64(32)
        order[k], order[j] = order[j], order[k]
    return random
