"""What one block of a problem's rows does in a turn: all blocks do the same, at the same time.

Ma et al., ICML 2015 (CoCoA+). With the variables of all other blocks where they are, a block moves
its own, a_k, by what is best for its share of a bound on the dual,

    Σ target_i a_i - cost_i(a_i)  -  w'A_k Δ  -  σ / 2 |A_k Δ|²    over its rows i, Δ the change,

and the changes of all blocks are added. With σ the number of blocks the dual grows by at least the
sum of the shares, whatever the rows. In the variables σ a_i this is the problem of the block alone
with σ C in place of C, begun at the common weights w: so `kmaps._loops.train.descend` solves it.

Each step here takes a block, its state and ``total``, the sum of the tables of weights that all
blocks returned last. It returns the next state and leaves the given one as it was; a table of
weights, or None; and numbers, of which those of all blocks are added up. What the rows are never
leaves the block.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import train as loops
from kmaps._loops.forms import Form, Rows
from kmaps._loops.vectors import aligned_zeros
from kmaps.svm.coded.descent import random_state, starting_point
from kmaps.svm.coded.rounding import apart, is_close

_SAMPLE = 64  # members of a block at least, by whose change the length of a step is found

Table = NDArray[np.float32]


class Block(NamedTuple):
    """Some rows, what they do to the weights, and the problem's members among them."""

    rows: Rows
    form: Form
    task: loops.Task
    n_weights: int


@dataclass(frozen=True, eq=False)
class Climb:
    """Conjugate gradients on the variables at no bound: see `kmaps.svm.coded.block_climb`."""

    free: NDArray[np.intp]
    ridge: NDArray[np.float64]
    diagonal: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    margins: NDArray[np.float64]
    rest: NDArray[np.float64]
    direction: NDArray[np.float64]
    curved: NDArray[np.float64]
    step: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class State:
    """Where a block is.

    Attributes
    ----------
    alpha : ndarray of float64
        The variables of its members.
    weights : ndarray of float32
        Those of all blocks together.
    order : ndarray of int64
        The members, those that are not settled first.
    n_active, rise, fall, random
        As the state of `kmaps._loops.train.descend`.
    proposed : ndarray of float64, or None
        Where the variables would be after a whole step.
    margins : ndarray of float64
        Of the members, when they were scored last.
    climb : Climb or None
    """

    alpha: NDArray[np.float64]
    weights: Table
    order: NDArray[np.int64]
    n_active: int
    rise: float
    fall: float
    random: np.uint64
    proposed: NDArray[np.float64] | None
    margins: NDArray[np.float64]
    climb: Climb | None


class Result(NamedTuple):
    """What a step returns."""

    state: State
    table: Table | None
    numbers: tuple[float, ...]


def begin(
    task: loops.Task, n_weights: int, seed: tuple[int, ...], alpha: NDArray[np.float64] | None
) -> State:
    """Return the state before the first turn, from given variables or the least ones."""
    n = len(task.members)
    return State(
        alpha=starting_point(task, alpha),
        weights=aligned_zeros(n_weights),
        order=np.arange(n),
        n_active=n,
        rise=np.inf,
        fall=-np.inf,
        random=random_state(seed),
        proposed=None,
        margins=np.zeros(n),
        climb=None,
    )


def part_of(task: loops.Task, chosen: NDArray) -> loops.Task:
    """Return the problem of some of a task's members."""
    return task._replace(
        members=task.members[chosen],
        signs=task.signs[chosen],
        norms=task.norms[chosen],
        targets=task.targets[chosen],
        upper=task.upper[chosen],
        ridge=task.ridge[chosen],
    )


def moved(state: State, total: Table | None, step: float) -> State:
    """Go so much of the way to what all blocks proposed, of which ``total`` are the weights."""
    if step == 0 or state.proposed is None or total is None:
        return replace(state, proposed=None, climb=None)
    alpha = state.proposed
    if step < 1:
        alpha = state.alpha + step * (state.proposed - state.alpha)
    weights = aligned_zeros(len(state.weights))
    np.multiply(total, np.float32(step), out=weights)
    weights += state.weights
    return replace(state, alpha=alpha, weights=weights, proposed=None, climb=None)


def descend(
    block: Block,
    state: State,
    total: Table | None,
    step: float,
    constant: float,
    factor: float,
    dual: float,
    goal: float,
    n_passes: int,
) -> Result:
    """Move, then propose the change that is best for the block's share, with σ = ``factor``.

    ``dual`` is the dual objective, a block's part of it. Numbers: the change of the constant
    feature's weight, the gap that was added up, evaluations, active members.
    """
    state = moved(state, total, step)
    task = block.task
    if state.n_active == 0:
        idle = replace(state, proposed=state.alpha)
        return Result(idle, np.zeros(block.n_weights, np.float32), (0.0, 0.0, 0.0, 0.0))
    upper = factor * task.upper
    alpha, order = factor * state.alpha, state.order.copy()
    weights = aligned_zeros(block.n_weights)
    weights[:] = state.weights
    told = (state.n_active, state.rise, state.fall, factor * dual, constant, state.random)
    scaled = task._replace(upper=upper, ridge=task.ridge / factor)
    budget = (n_passes - 1) * state.n_active + 1  # it ends after the pass that reaches it
    told, gap, spent = loops.descend(
        block.rows, block.form, scaled, alpha, weights, order, told, goal, budget, None
    )
    n_active, rise, fall, _, new_constant, random = told
    weights -= state.weights
    weights /= np.float32(factor)
    state = replace(
        state,
        order=order,
        n_active=n_active,
        rise=rise,
        fall=fall,
        random=np.uint64(random),
        # At a bound is exactly there.
        proposed=np.where(alpha >= upper, task.upper, alpha / factor),
    )
    numbers = ((new_constant - constant) / factor, gap / factor, spent, n_active)
    return Result(state, weights, numbers)


def measure(block: Block, state: State, total: Table, constant: float, change: float) -> Result:
    """Tell how the dual rises at the beginning and at the end of the step that all propose.

    By some of the members that it moves: they are many where it matters. Numbers: the slope at the
    beginning, at the end, evaluations.
    """
    assert state.proposed is not None
    moving = np.flatnonzero(state.proposed != state.alpha)
    if not len(moving):
        return Result(state, None, (0.0, 0.0, 0.0))
    some = moving[:: max(1, len(moving) // _SAMPLE)]
    task = part_of(block.task, some)
    before, after = state.alpha[some], state.proposed[some]
    margins, by_step = np.empty(len(some)), np.empty(len(some))
    loops.margins(block.rows, block.form, task, state.weights, constant, margins)
    loops.margins(block.rows, block.form, task, total, change, by_step)
    part = len(moving) / len(some)
    first = np.sum((after - before) * slopes(task, before, margins))
    last = np.sum((after - before) * slopes(task, after, margins + by_step))
    return Result(state, None, (part * float(first), part * float(last), 2 * len(some)))


def slopes(task: loops.Task, alpha: NDArray, margins: NDArray) -> NDArray[np.float64]:
    """Return the derivatives of the dual."""
    found = task.targets - margins - task.ridge * alpha
    return found - np.log(alpha / (task.upper - alpha)) if task.logistic else found


def rebuild(block: Block, state: State, total: Table | None, step: float) -> Result:
    """Move, then return the weights of the block's variables, built anew.

    Numbers: the weight of the constant feature.
    """
    state = moved(state, total, step)
    weights = aligned_zeros(block.n_weights)
    constant = loops.rebuild(block.rows, block.form, block.task, state.alpha, weights, None)
    return Result(state, weights, (constant,))


def score(
    block: Block, state: State, total: Table, constant: float, rebuilt: float, tol: float
) -> Result:
    """Score all members, and see which of them are settled.

    ``total`` are the weights of all variables, built anew, and ``rebuilt`` is the constant
    feature's. They take the place of the weights that the steps have left unless these are close.

    Numbers: Σ a_i m_i; the loss; the dual without |w(a)|² / 2. And three of which every block
    returns the same: whether the weights stay, |W - w(a)|² and |w(a)|².
    """
    task, margins = block.task, np.empty(len(state.alpha))
    difference, square = apart(block.form, state.weights, constant, total, rebuilt)
    stay = is_close(difference, square, tol)
    weights, constant = (state.weights, constant) if stay else (total, rebuilt)
    loops.margins(block.rows, block.form, task, weights, constant, margins)
    order = state.order.copy()
    n_active = loops.set_active(task, state.alpha, margins, order, state.rise, state.fall)
    state = replace(state, weights=weights, margins=margins, order=order, n_active=n_active)
    product = float(np.sum(state.alpha * margins))
    value = loops.dual_value(task, state.alpha)
    numbers = product, loops.total_loss(task, margins), value, float(stay), difference, square
    return Result(state, None, numbers)
