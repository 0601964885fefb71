"""The steps of one block of a problem's rows; all blocks take the same step at the same time.

Ma et al., ICML 2015 (CoCoA+). With the variables of all other blocks where they are, a block moves
its own, a_k, to maximise its part of a bound on the dual,

    Σ target_i a_i - cost_i(a_i)  -  w'A_k Δ  -  σ / 2 |A_k Δ|²    over its rows i, Δ the change,

and the changes of all blocks are added. With σ the number of blocks the dual grows by at least the
sum of the parts, whatever the rows. In the variables σ a_i this is the problem of the block alone
with σ C in place of C, begun at the common weights w: so `kmaps._loops.train.descend` solves it.

Each step here takes a block, its state and ``total``, the sum of the tables of weights that all
blocks returned last. It returns the next state and leaves the given one as it was; a table of
weights, or None; and numbers, which are added up over all blocks. The rows never leave the block.

Between descents there are conjugate gradients over all blocks, as in `kmaps.svm.coded.descent`. The
logistic loss, whose variables are at no bound, has a touching parabola: a Newton step.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import train as loops
from kmaps._loops.vectors import aligned_zeros
from kmaps.checks import present
from kmaps.svm.coded.problem import (
    CodedProblem,
    distance,
    is_close,
    longest_step,
    random_state,
    starting_point,
)
from kmaps.svm.losses import Floats
from kmaps.svm.reduction import Places

_SAMPLE = 64  # at least so many members of a block decide the length of a step

POWER = 8  # of numbers, whose sum over the blocks is about the power of the largest one
_FARTHEST = 1e30  # whose power is finite

_KEPT = 0.01  # of the distance to a bound that the logistic loss keeps in a climb

Table = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Climb:
    """Conjugate gradients on the variables at no bound (``free``)."""

    free: Places
    ridge: Floats
    diagonal: Floats
    low: Floats
    high: Floats
    margins: Floats
    rest: Floats
    direction: Floats
    curved: Floats
    step: Floats


@dataclass(frozen=True, eq=False)
class State:
    """Where a block is."""

    alpha: Floats  # the variables of the members
    weights: Table  # the weights of all blocks together
    order: NDArray[np.int64]  # the members, unsettled ones first
    # As the state of `kmaps._loops.train.descend`:
    n_active: int
    rise: float
    fall: float
    random: np.uint64
    proposed: Floats | None  # the variables after a whole step
    margins: Floats  # of the members, at the last scoring
    climb: Climb | None


class StepResult(NamedTuple):
    """The result of a step."""

    state: State
    table: Table | None
    numbers: tuple[float, ...]


def begin(task: loops.Task, n_weights: int, seed: tuple[int, ...], alpha: Floats | None) -> State:
    """Return the state before the first step, from given variables or the least ones."""
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


def moved(state: State, total: Table | None, step: float) -> State:
    """Go ``step`` of the way that all blocks proposed, whose weights are ``total``."""
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
    block: CodedProblem,
    state: State,
    total: Table | None,
    step: float,
    constant: float,
    factor: float,
    dual: float,
    goal: float,
    n_passes: int,
) -> StepResult:
    """Move, then propose the change that is best for the block's part, with σ = ``factor``.

    ``dual`` is the block's part of the dual objective. Numbers: the change of the constant
    feature's weight, the gap that was added up, evaluations, active members.
    """
    state = moved(state, total, step)
    task = block.task
    if state.n_active == 0:
        idle = replace(state, proposed=state.alpha)
        return StepResult(idle, np.zeros(block.n_weights, np.float32), (0.0, 0.0, 0.0, 0.0))
    upper = factor * task.upper
    alpha, order = factor * state.alpha, state.order.copy()
    weights = aligned_zeros(block.n_weights)
    weights[:] = state.weights
    begun = (state.n_active, state.rise, state.fall, factor * dual, constant, state.random)
    scaled = task._replace(upper=upper, ridge=task.ridge / factor)
    budget = (n_passes - 1) * int(state.n_active) + 1  # descent ends after the pass that reaches it
    begun, gap, spent = loops.descend(
        block.rows, block.form, scaled, alpha, weights, order, begun, goal, budget
    )
    n_active, rise, fall, _, new_constant, random = begun
    weights -= state.weights
    weights /= np.float32(factor)
    state = replace(
        state,
        order=order,
        n_active=n_active,
        rise=rise,
        fall=fall,
        random=np.uint64(random),
        # Without rounding: a variable at its bound must stay there.
        proposed=np.where(alpha >= upper, task.upper, alpha / factor),
    )
    numbers = ((new_constant - constant) / factor, gap / factor, spent, n_active)
    return StepResult(state, weights, numbers)


def measure(
    block: CodedProblem, state: State, total: Table, constant: float, change: float
) -> StepResult:
    """Measure how the dual rises at the beginning and at the end of the step that all propose.

    By some of the members that it moves: they are many where it matters. Numbers: the slope at the
    beginning, at the end, evaluations.
    """
    proposed = present(state.proposed, "the proposed step")
    moving = np.flatnonzero(proposed != state.alpha)
    if not len(moving):
        return StepResult(state, None, (0.0, 0.0, 0.0))
    sampled = moving[:: max(1, len(moving) // _SAMPLE)]
    sample = block.part(sampled)
    members_each = len(moving) / len(sampled)
    before, after = state.alpha[sampled], proposed[sampled]
    margins, by_step = sample.margins(state.weights, constant), sample.margins(total, change)
    first = np.sum((after - before) * slopes(sample.task, before, margins))
    last = np.sum((after - before) * slopes(sample.task, after, margins + by_step))
    return StepResult(
        state, None, (members_each * float(first), members_each * float(last), 2 * len(sampled))
    )


def slopes(task: loops.Task, alpha: NDArray, margins: NDArray) -> Floats:
    """Return the derivatives of the dual."""
    derivatives = task.targets - margins - task.ridge * alpha
    if task.logistic:
        derivatives -= np.log(alpha / (task.upper - alpha))
    return derivatives


def rebuild(block: CodedProblem, state: State, total: Table | None, step: float) -> StepResult:
    """Move, then rebuild and return the weights of the block's variables.

    Numbers: the weight of the constant feature.
    """
    state = moved(state, total, step)
    weights = aligned_zeros(block.n_weights)
    constant = block.rebuild(state.alpha, weights)
    return StepResult(state, weights, (constant,))


def score(
    block: CodedProblem, state: State, total: Table, constant: float, rebuilt: float, tol: float
) -> StepResult:
    """Score all members, and see which of them are settled.

    ``total`` are the rebuilt weights of all variables, and ``rebuilt`` is the constant
    feature's. They take the place of the weights that the steps have left unless these are close.

    Numbers: Σ a_i m_i; the loss; the dual without |w(a)|² / 2. And three of which every block
    returns the same: whether the weights stay, |W - w(a)|² and |w(a)|².
    """
    task = block.task
    difference, square = distance(block.form, state.weights, constant, total, rebuilt)
    stay = is_close(difference, square, tol)
    weights, constant = (state.weights, constant) if stay else (total, rebuilt)
    margins = block.margins(weights, constant)
    order = state.order.copy()
    n_active = loops.set_active(task, state.alpha, margins, order, state.rise, state.fall)
    state = replace(state, weights=weights, margins=margins, order=order, n_active=n_active)
    product = float(np.sum(state.alpha * margins))
    value = loops.dual_value(task, state.alpha)
    numbers = product, loops.total_loss(task, margins), value, float(stay), difference, square
    return StepResult(state, None, numbers)


def start_climb(
    block: CodedProblem, state: State, total: Table | None, step: float, constant: float
) -> StepResult:
    """Move; then return the weights of the first direction.

    Numbers: free members, the residual's size, the weight of the constant feature.
    """
    state = moved(state, total, step)
    free = np.flatnonzero((state.alpha != 0) & (state.alpha < block.task.upper))
    face = block.part(free)
    task = face.task
    alpha = state.alpha[free]
    margins = face.margins(state.weights, constant)
    rest = slopes(task, alpha, margins)
    ridge, low, high = task.ridge, np.zeros(len(free)), task.upper
    if task.logistic:
        # The logistic cost bends more and more near the bounds, which are never reached.
        ridge = task.upper / (alpha * (task.upper - alpha))
        low, high = _KEPT * alpha, task.upper - _KEPT * (task.upper - alpha)
    diagonal, nothing = task.norms + ridge, np.zeros(len(free))
    climb = Climb(free, ridge, diagonal, low, high, margins, rest, nothing, nothing, nothing)
    state = replace(state, climb=climb)
    size = float(np.sum(rest**2 / diagonal))
    state, table, numbers = turn_direction(block, state, total, 0.0)
    return StepResult(state, table, (len(free), size, *numbers))


def turn_direction(
    block: CodedProblem, state: State, total: Table | None, ratio: float
) -> StepResult:
    """Return the weights of the next direction, which has so much of the last one.

    Numbers: the weight of the constant feature.
    """
    climb = _climb_of(state)
    direction = climb.rest / climb.diagonal + ratio * climb.direction
    state = replace(state, climb=replace(climb, direction=direction))
    return StepResult(state, *_weights(block, climb, direction))


def curve(block: CodedProblem, state: State, total: Table, constant: float) -> StepResult:
    """Measure how the parabola curves in the direction with the weights ``total``.

    Numbers: its curvature.
    """
    climb = _climb_of(state)
    curved = block.part(climb.free).margins(total, constant) + climb.ridge * climb.direction
    state = replace(state, climb=replace(climb, curved=curved))
    return StepResult(state, None, (float(np.sum(climb.direction * curved)),))


def advance(block: CodedProblem, state: State, total: Table, length: float) -> StepResult:
    """Go along the direction.

    Numbers: the size of the residual, the square of the clipped part of the step, its square, and
    how far it goes at most (`longest_step`), to a `POWER`.
    """
    climb = _climb_of(state)
    step, rest = climb.step + length * climb.direction, climb.rest - length * climb.curved
    state = replace(state, climb=replace(climb, step=step, rest=rest))
    alpha = state.alpha[climb.free]
    cut = np.clip(alpha + step, climb.low, climb.high) - (alpha + step)
    reach = min(longest_step(step, alpha, climb.low, climb.high), _FARTHEST) ** POWER
    sizes = rest**2 / climb.diagonal, cut**2 * climb.diagonal, step**2 * climb.diagonal
    return StepResult(state, None, (*(float(np.sum(size)) for size in sizes), reach))


def propose(block: CodedProblem, state: State, total: Table, scale: float) -> StepResult:
    """Propose a part of the step, cut at the bounds, and return its weights.

    Numbers: the weight of the constant feature.
    """
    climb = _climb_of(state)
    proposed = state.alpha.copy()
    wanted = proposed[climb.free] + scale * climb.step
    proposed[climb.free] = np.clip(wanted, climb.low, climb.high)
    # Settled variables may have to move again.
    state = replace(state, proposed=proposed, rise=np.inf, fall=-np.inf)
    return StepResult(state, *_weights(block, climb, (proposed - state.alpha)[climb.free]))


def gain(block: CodedProblem, state: State, total: Table, constant: float) -> StepResult:
    """Return the dual's gain by the proposed step, whose weights are ``total``."""
    climb = _climb_of(state)
    task, alpha = block.part(climb.free).task, state.alpha[climb.free]
    proposed = present(state.proposed, "the proposed step")[climb.free]
    step, by_step = proposed - alpha, block.part(climb.free).margins(total, constant)
    fall = float(np.sum(step * (climb.margins + by_step / 2)))
    return StepResult(
        state, None, (loops.dual_value(task, proposed) - loops.dual_value(task, alpha) - fall,)
    )


def _climb_of(state: State) -> Climb:
    return present(state.climb, "the climb")  # `start_climb` made it


def _weights(block: CodedProblem, climb: Climb, step: Floats) -> tuple[Table, tuple[float]]:
    """Return the weights of a change of the free variables, and the constant feature's."""
    table = aligned_zeros(block.n_weights)
    return table, (block.part(climb.free).rebuild(step, table),)
