"""Dual coordinate descent on codes.

Hsieh et al., ICML 2008; Ho and Lin, JMLR 2012, for regression; Yu, Huang and Lin, Machine Learning
2011, for the logistic loss.

The dual of a problem with the features φ (the constant one, ``bias``, among them) is

    max over a:  Σ target_i a_i - Σ cost_i(a_i) - |w(a)|² / 2,   lower_i <= a_i <= upper_i,
    w(a) = Σ a_i s_i φ(x_i),

with s_i the sign of a row's class, 1 in regression. Targets, bounds and costs follow from the loss
(`kmaps.svm.losses`): the cost is ε|a| + ridge a² / 2, or the conjugate of the logistic loss.

Weights and features are float32; sums over rows are float64. `Task` describes each array.
"""

from math import log
from typing import NamedTuple

import numpy as np
from numba import njit, uint64

from kmaps._loops.compiling import inner, loop
from kmaps._loops.forms import approach, change, evaluate
from kmaps._loops.vectors import prefetch

SETTLED = 0.5
"""Part of the strongest push of a pass beyond which a variable at a bound is settled.

LIBLINEAR waits for the whole of it. On 24 problems, of MNIST, Daimler and drawn histograms with C
from 0.1 to 100, half took a sixth fewer evaluations in all, and less than half no fewer than that.
"""

# How many members ahead memory is prefetched, in the order in which one array leads to the next.
# Prefetching more than codes saves 0.4 of the time with a million rows of 100 codes.
_CODES_AHEAD, _BOUNDS_AHEAD, _VARIABLES_AHEAD = 2, 4, 8
_LONG = 512  # codes of a row: two rows ahead save 6 % with 100 codes, and cost 2 % with 981

_NEWTON_STEPS = 100
_FACTOR_DIGITS = 1e-8
INSIDE = 1e-14  # part of C: the distance of the logistic loss's variables from their bounds


class Task(NamedTuple):
    """A problem: the arrays that describe its members, and the loss."""

    members: np.ndarray  # int64 (n,): the rows that take part
    signs: np.ndarray  # int8 (n,)
    norms: np.ndarray  # float64 (n,): |φ(x_i)|²
    targets: np.ndarray  # float64 (n,)
    upper: np.ndarray  # float64 (n,)
    ridge: np.ndarray  # float64 (n,)
    epsilon: float
    bias: float
    two_sided: bool  # whether lower is -upper; else it is 0
    logistic: bool


# A row of zeros without bias has no curvature: its infinite step ends at the bound.
@loop(error_model="numpy")
def descend(rows, form, task, alpha, weights, order, state, goal, budget):
    """Go through the active members in random order, again and again.

    The first places of ``order`` are the active members. One whose variable is at a bound, and
    would be pushed further out by more than `SETTLED` times what any other was pushed in the pass
    before (``rise`` at the lower, ``fall`` at the upper bound), moves behind them. Stops after a
    pass when the duality gap, added up during the pass, is at most ``goal`` times the primal
    objective, when no member is active, or after ``budget`` evaluations.

    ``state`` is (active members, rise, fall, dual objective, weight of the constant feature, state
    of the random numbers). Returns the next one, the gap, and the number of evaluations.
    """
    n_active, rise, fall, dual, constant, random = state
    # Taken from the task once, because each time takes longer to compile.
    members = task.members
    signs = task.signs
    norms = task.norms
    targets = task.targets
    uppers = task.upper
    ridges = task.ridge
    epsilon = task.epsilon
    bias = task.bias
    two_sided = task.two_sided
    logistic = task.logistic
    spent = 0
    codes_ahead = 1 if len(rows.codes) >= _LONG * (len(rows.bounds) - 1) else _CODES_AHEAD
    while True:
        random = _shuffle(order, n_active, random)
        gap, next_rise, next_fall, k = 0.0, 0.0, 0.0, 0
        at_zero = min(rise, -fall) / len(alpha)  # as in LIBLINEAR's problems of regression
        while k < n_active:
            i = order[k]
            # Ask for the memory of members that come soon.
            if k + _BOUNDS_AHEAD < n_active:
                prefetch(rows.bounds, members[order[k + _BOUNDS_AHEAD]])
            if k + codes_ahead < n_active:
                row = members[order[k + codes_ahead]]
                approach(rows.codes, rows.features, rows.bounds[row], rows.bounds[row + 1])
            if k + _VARIABLES_AHEAD < n_active:
                ahead = order[k + _VARIABLES_AHEAD]
                prefetch(alpha, ahead)
                prefetch(members, ahead)
                prefetch(signs, ahead)
                prefetch(norms, ahead)
                prefetch(targets, ahead)
                prefetch(uppers, ahead)
                prefetch(ridges, ahead)
            spent += 1
            row = members[i]
            old = alpha[i]
            upper = uppers[i]
            ridge = ridges[i]
            sign = signs[i]
            norm = norms[i]
            value = np.float64(evaluate(rows, row, form, weights)) + constant * bias
            excess = sign * value - targets[i]
            old_cost = _cost(logistic, epsilon, upper, ridge, old)
            loss = _loss(logistic, two_sided, epsilon, upper, ridge, excess)
            gap += loss + old_cost + old * excess
            if logistic:
                new = _logistic_minimum(excess, old, upper, norm)
            else:
                smooth = excess + ridge * old
                right = smooth + (epsilon if old >= 0 else -epsilon)
                left = smooth - (epsilon if old <= 0 else -epsilon)
                lower = -upper if two_sided else 0.0
                if _is_settled(old, lower, upper, right, left, rise, fall, at_zero):
                    n_active -= 1
                    order[k], order[n_active] = order[n_active], i
                    continue
                new = _minimum(smooth, old, norm + ridge, epsilon)
                new = min(max(new, lower), upper)
                if new != old:
                    next_rise, next_fall = max(next_rise, left), min(next_fall, right)
            k += 1
            if new == old:
                continue
            alpha[i] = new
            step = (new - old) * sign
            change(rows, row, form, step, weights)
            constant += step * bias
            dual -= (new - old) * (excess + norm * (new - old) / 2)
            dual -= _cost(logistic, epsilon, upper, ridge, new) - old_cost
        rise = next_rise if next_rise > 0 else np.inf
        fall = next_fall if next_fall < 0 else -np.inf
        if gap <= goal * (dual + gap) or n_active == 0 or spent >= budget:
            return (n_active, rise, fall, dual, constant, random), gap, spent


@loop()
def set_active(task, alpha, margins, order, rise, fall):
    """Put the members that are not settled first in ``order``; return how many there are.

    Where all are settled, or with the logistic loss, none counts as such.
    """
    n, n_active, at_zero = len(alpha), 0, min(rise, -fall) / len(alpha)
    behind = n
    for i in range(n):
        settled = False
        if not task.logistic:
            old, upper = alpha[i], task.upper[i]
            smooth = margins[i] - task.targets[i] + task.ridge[i] * old
            right = smooth + (task.epsilon if old >= 0 else -task.epsilon)
            left = smooth - (task.epsilon if old <= 0 else -task.epsilon)
            lower = -upper if task.two_sided else 0.0
            settled = _is_settled(old, lower, upper, right, left, rise, fall, at_zero)
        if settled:
            behind -= 1
            order[behind] = i
        else:
            order[n_active] = i
            n_active += 1
    last = n - 1
    while behind < last:  # they were put there from the end on
        order[behind], order[last] = order[last], order[behind]
        behind += 1
        last -= 1
    return n_active if n_active else n


@njit(inline="always")
def _is_settled(old, lower, upper, right, left, rise, fall, at_zero):
    """Return whether a variable is at a bound, or at zero, and would be pushed further there."""
    return (
        (old == lower and right > SETTLED * rise)
        or (old == upper and left < SETTLED * fall)
        or (old == 0 and right > at_zero and left < -at_zero)
    )


@loop()
def dual_value(task, alpha):
    """Return the variables' part of the dual objective, without their weights."""
    total = 0.0
    for i in range(len(alpha)):
        cost = _cost(task.logistic, task.epsilon, task.upper[i], task.ridge[i], alpha[i])
        total += task.targets[i] * alpha[i] - cost
    return total


@loop()
def total_loss(task, margins):
    """Return the loss of all members, each with its C."""
    total = 0.0
    for i in range(len(margins)):
        upper = task.upper[i]
        ridge = task.ridge[i]
        excess = margins[i] - task.targets[i]
        total += _loss(task.logistic, task.two_sided, task.epsilon, upper, ridge, excess)
    return total


@inner()
def _cost(logistic, epsilon, upper, ridge, a):
    """Return the cost of a member's variable in the dual objective."""
    if not logistic:
        return epsilon * abs(a) + ridge * a * a / 2
    if a <= 0 or a >= upper:
        return 0.0
    return a * log(a / upper) + (upper - a) * log((upper - a) / upper)


@inner()
def _loss(logistic, two_sided, epsilon, upper, ridge, excess):
    """Return a member's loss; ``excess`` is its margin minus its target."""
    if logistic:
        return upper * (max(-excess, 0.0) + np.log1p(np.exp(-abs(excess))))
    short = max((abs(excess) if two_sided else -excess) - epsilon, 0.0)
    if short >= ridge * upper:  # the variable is at its bound: the loss is straight
        return (short - ridge * upper / 2) * upper
    return short * short / (2 * ridge)


@loop()
def best_multiple(task, margins, square, low, high):
    """Return the factor on the weights, from low to high, at which their objective is least.

    ``square`` is their squared norm. The sign of the convex objective's slope halves the range.
    """
    while high - low > _FACTOR_DIGITS:
        factor = (low + high) / 2
        slope = factor * square
        for i in range(len(margins)):
            slope += margins[i] * _slope(task, i, factor * margins[i] - task.targets[i])
        if slope > 0:
            high = factor
        else:
            low = factor
    return (low + high) / 2


@inner()
def _slope(task, i, excess):
    """Return the derivative of `_loss` by the margin."""
    if task.logistic:
        return -task.upper[i] / (1 + np.exp(excess))
    short = max((abs(excess) if task.two_sided else -excess) - task.epsilon, 0.0)
    if short == 0:
        return 0.0
    side = 1.0 if task.two_sided and excess > 0 else -1.0
    at_bound = short >= task.ridge[i] * task.upper[i]
    return side * (task.upper[i] if at_bound else short / task.ridge[i])


@inner(error_model="numpy")
def _minimum(slope, old, curvature, epsilon):
    """Return where a parabola, by its slope and curvature at ``old``, plus ε|a| is least."""
    if slope + epsilon < curvature * old:
        return old - (slope + epsilon) / curvature
    if slope - epsilon > curvature * old:
        return old - (slope - epsilon) / curvature
    return 0.0


@inner()
def _logistic_minimum(slope, old, upper, curvature):
    """Return where the cost of the logistic loss plus a parabola is least (Yu et al., Sect. 3.3).

    Newton's method on the nearer side of the range: there the distance z to the bound keeps its
    digits, and steps that leave the range are replaced by a tenth of z.
    """
    mirrored = curvature * (upper / 2 - old) + slope < 0
    if mirrored:
        old, slope = upper - old, -slope
    z = old if old < upper / 2 else upper / 10
    for _ in range(_NEWTON_STEPS):
        gradient = log(z / (upper - z)) + curvature * (z - old) + slope
        if abs(gradient) < 1e-10:
            break
        next_z = z - gradient / (curvature + upper / (z * (upper - z)))
        z = next_z if 0 < next_z < upper else z / 10
        if z < INSIDE * upper:
            z = INSIDE * upper
            break
    return upper - z if mirrored else z


@inner()
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
