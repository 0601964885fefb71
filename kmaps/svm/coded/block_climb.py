"""Conjugate gradients over blocks of rows: what a block does in each of their turns.

The mathematics is that of `kmaps.svm.coded.face`, with the sums over all blocks' variables. For the
logistic loss, whose variables are at no bound, the parabola is the one that touches: a Newton step.
A step here is as `kmaps.svm.coded.block` says.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import train as loops
from kmaps._loops.vectors import aligned_zeros
from kmaps.svm.coded.block import Block, Climb, Result, State, Table, moved, part_of, slopes

_KEPT = 0.01  # of the distance to a bound that the logistic loss keeps in a climb


def start(block: Block, state: State, total: Table | None, step: float, constant: float) -> Result:
    """Move; then return the weights of the first direction.

    Numbers: free members, the residual's size, the weight of the constant feature.
    """
    state = moved(state, total, step)
    free = np.flatnonzero((state.alpha != 0) & (state.alpha < block.task.upper))
    task, alpha = part_of(block.task, free), state.alpha[free]
    margins = np.empty(len(free))
    loops.margins(block.rows, block.form, task, state.weights, constant, margins)
    rest = slopes(task, alpha, margins)
    ridge, low, high = task.ridge, np.zeros(len(free)), task.upper
    if task.logistic:
        # Its cost bends more and more towards the bounds, which are never reached.
        ridge = task.upper / (alpha * (task.upper - alpha))
        low, high = _KEPT * alpha, task.upper - _KEPT * (task.upper - alpha)
    diagonal, nothing = task.norms + ridge, np.zeros(len(free))
    climb = Climb(free, ridge, diagonal, low, high, margins, rest, nothing, nothing, nothing)
    state = replace(state, climb=climb)
    size = float(np.sum(rest**2 / diagonal))
    state, table, numbers = turn(block, state, total, 0.0)
    return Result(state, table, (len(free), size, *numbers))


def turn(block: Block, state: State, total: Table | None, ratio: float) -> Result:
    """Return the weights of the next direction, which has so much of the last one.

    Numbers: the weight of the constant feature.
    """
    climb = _climb_of(state)
    direction = climb.rest / climb.diagonal + ratio * climb.direction
    state = replace(state, climb=replace(climb, direction=direction))
    return Result(state, *_weights(block, climb, direction))


def bend(block: Block, state: State, total: Table, constant: float) -> Result:
    """See how the parabola bends in the direction with the weights ``total``.

    Numbers: its curvature.
    """
    climb = _climb_of(state)
    curved = _product(block, climb, total, constant) + climb.ridge * climb.direction
    state = replace(state, climb=replace(climb, curved=curved))
    return Result(state, None, (float(np.sum(climb.direction * curved)),))


def follow(block: Block, state: State, total: Table, length: float) -> Result:
    """Go along the direction.

    Numbers: the size of what remains, the square of what the bounds take from the step, and its
    own.
    """
    climb = _climb_of(state)
    step, rest = climb.step + length * climb.direction, climb.rest - length * climb.curved
    state = replace(state, climb=replace(climb, step=step, rest=rest))
    wanted = state.alpha[climb.free] + step
    cut = np.clip(wanted, climb.low, climb.high) - wanted
    sizes = rest**2 / climb.diagonal, cut**2 * climb.diagonal, step**2 * climb.diagonal
    return Result(state, None, tuple(float(np.sum(size)) for size in sizes))


def propose(block: Block, state: State, total: Table, scale: float) -> Result:
    """Propose a part of the step, cut at the bounds, and return its weights.

    Numbers: the weight of the constant feature.
    """
    climb = _climb_of(state)
    proposed = state.alpha.copy()
    wanted = proposed[climb.free] + scale * climb.step
    proposed[climb.free] = np.clip(wanted, climb.low, climb.high)
    # What was settled may not be any more.
    state = replace(state, proposed=proposed, rise=np.inf, fall=-np.inf)
    return Result(state, *_weights(block, climb, (proposed - state.alpha)[climb.free]))


def gain(block: Block, state: State, total: Table, constant: float) -> Result:
    """Tell what the dual gains by the proposed step, whose weights are ``total``."""
    climb = _climb_of(state)
    assert state.proposed is not None
    task, alpha = part_of(block.task, climb.free), state.alpha[climb.free]
    proposed = state.proposed[climb.free]
    step, by_step = proposed - alpha, _product(block, climb, total, constant)
    bent = float(np.sum(step * (climb.margins + by_step / 2)))
    return Result(
        state, None, (loops.dual_value(task, proposed) - loops.dual_value(task, alpha) - bent,)
    )


def _climb_of(state: State) -> Climb:
    assert state.climb is not None  # begun by `start`
    return state.climb


def _weights(block: Block, climb: Climb, step: NDArray[np.float64]) -> tuple[Table, tuple[float]]:
    """Return the weights of a change of the free variables, and the constant feature's."""
    table, task = aligned_zeros(block.n_weights), part_of(block.task, climb.free)
    return table, (loops.rebuild(block.rows, block.form, task, step, table, None),)


def _product(block: Block, climb: Climb, total: Table, constant: float) -> NDArray[np.float64]:
    """Return what weights add to the margins of the free members."""
    values, task = np.empty(len(climb.free)), part_of(block.task, climb.free)
    loops.margins(block.rows, block.form, task, total, constant, values)
    return values
