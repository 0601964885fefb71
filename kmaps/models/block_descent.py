"""Linear models on outputs that need not all be in memory, by blocks of the dual.

Yu, Hsieh, Chang and Lin, KDD 2010: some passes descend on the variables of one block's rows while
all other variables stay; then comes the next block. All binary problems
of a reduction are solved on a block while it is there.

Where classes overlap, descent creeps. When the passes that seem to be left take longer than
Newton's method on the primal (`kmaps.svm.newton`), it goes on from there, problem by problem.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import outputs as loops
from kmaps._loops.train import Task
from kmaps.models.mapped_rows import MappedRows
from kmaps.models.output_design import OutputDesign
from kmaps.progress import ProgressReporter, solved_fraction
from kmaps.svm.losses import LOSSES, Hinge, Loss
from kmaps.svm.newton import (
    NewtonBlock,
    NewtonResult,
    OwnRows,
    direction_ns,
    kind_of,
    minimise,
    single_threaded_blas,
)
from kmaps.svm.reduction import BinaryProblem
from kmaps.thread_pool import for_blocks

_VISITS = 10  # at most, of a row while its outputs are in memory
_HINGE_STEPS, _SMOOTH_STEPS = 20, 5  # of Newton's method, about
_VALUE_NS = 2.0  # of an output in a pass of descent, with its visits
_SUM_NS = 1.0  # of an output in a sum over rows


@dataclass
class BlockProblem:
    """A binary problem with the hinge or its square, and where its variables are."""

    loss: Loss
    places: NDArray[np.intp]  # for all rows: the number among the problem's rows, or -1
    signs: NDArray[np.float64]  # for the rows of the problem, like costs and alpha
    costs: NDArray[np.float64]
    alpha: NDArray[np.float64]
    weights: NDArray[np.float64]  # (r + 1,): the last belongs to the constant feature
    gap: float = np.inf  # the relative duality gap
    cost: float = 0.0  # of the rows that a pass has visited

    @property
    def square(self) -> float:
        """The squared norm of the weights."""
        return float(np.sum(self.weights**2))

    @property
    def dual(self) -> float:
        """The dual objective."""
        taken = self.loss.conjugate(self.alpha, self.costs)
        return float(np.sum(self.alpha - taken)) - self.square / 2

    def set_gap(self) -> None:
        """Take the cost of a whole pass for the cost of the weights."""
        primal = self.square / 2 + self.cost
        self.gap = (primal - self.dual) / primal if primal > 0 else 0.0


class Learnt(NamedTuple):
    """The result of training in blocks, for P problems with r outputs."""

    coef: NDArray[np.float32]  # (P, r)
    intercept: NDArray[np.float32]  # (P,)
    gaps: NDArray[np.float64]  # (P,): the relative duality gaps
    passes: NDArray[np.intp]  # (P,): passes over all rows, without passes that only measure the gap
    states: list[BlockProblem]  # training at a larger C may start from them


def train_in_blocks(
    rows: MappedRows,
    problems: Sequence[BinaryProblem],
    *,
    C: float,
    loss: str,
    bias: float,
    tol: float,
    max_iter: int,
    seed: int,
    progress: ProgressReporter,
    before: Sequence[BlockProblem] = (),
) -> Learnt:
    """Train until the relative duality gap of every problem is at most ``tol``, for the hinges.

    The variables start from the solution of the problems ``before``, at a smaller C. The function
    prints its progress.
    """
    rows = rows.in_single()
    norms = np.empty(len(rows))
    states = [_begun(problem, rows, C, LOSSES[loss]()) for problem in problems]
    for state, earlier in zip(states, before, strict=False):
        state.alpha, state.weights = earlier.alpha.copy(), earlier.weights.copy()
    newton_passes = _expected_passes(rows, loss)
    solutions: dict[int, NewtonResult] = {}
    passes, measured, progress_fraction = 0, np.full(len(states), np.inf), 0.0
    estimates: list[float] = []
    while passes < max_iter and measured.max() > tol:
        if _creeps(estimates, tol, newton_passes):
            budget = _VISITS * (max_iter - passes)
            solutions = _by_newton(rows, states, norms, bias, tol, budget, progress)
            measured = _gaps(states)
            passes += max(int(np.ceil(result.passes / _VISITS)) for result in solutions.values())
            break
        passes += 1
        _descend(rows, states, norms, bias, (seed, passes), progress if passes == 1 else None)
        # The weights moved between the losses: this is an estimate, checked when it is small.
        gap = _gaps(states).max()
        estimates.append(gap)
        progress_fraction = max(progress_fraction, solved_fraction(gap, tol))
        progress.report(progress_fraction, f"{passes} passes, a gap of {gap:.1e}")
        if gap <= tol or passes == max_iter:
            _measure(rows, states, bias)
            measured = _gaps(states)
    final = [state.weights for state in states]
    for k, solution in solutions.items():
        final[k] = solution.weights
    weights = np.stack(final).astype(np.float32)
    coef, constant = np.ascontiguousarray(weights[:, :-1]), weights[:, -1]
    counts = np.full(len(states), passes)
    return Learnt(coef, constant * np.float32(bias), measured, counts, states)


def _gaps(states: list[BlockProblem]) -> NDArray[np.float64]:
    return np.array([state.gap for state in states])


def _expected_passes(rows: MappedRows, loss: str) -> float:
    """Return about how many passes take as long as Newton's method, from the sizes alone."""
    n, m = len(rows), rows.map.n_outputs_
    hinge = loss == Hinge.name
    n_curved = n // 5 if hinge else n // 2
    moments_ns = OutputDesign(rows, np.arange(n)).moments_ns(n_curved)
    step_ns = direction_ns(n_curved, m, moments_ns) + 2 * n * m * _SUM_NS
    return (_HINGE_STEPS if hinge else _SMOOTH_STEPS) * step_ns / (n * m * _VALUE_NS)


def _creeps(gaps: list[float], tol: float, newton_passes: float) -> bool:
    """Return whether the passes that seem to be left take longer than Newton's method."""
    if len(gaps) < 2:
        return False
    half = gaps[len(gaps) // 2 - 1]
    if not tol < gaps[-1] < half:
        return gaps[-1] > tol and len(gaps) > newton_passes
    gained = np.log(half / gaps[-1]) / (len(gaps) - len(gaps) // 2)
    return bool(np.log(gaps[-1] / tol) / gained > newton_passes)


def _by_newton(
    rows: MappedRows,
    states: list[BlockProblem],
    norms: NDArray[np.float64],
    bias: float,
    tol: float,
    most_passes: float,
    progress: ProgressReporter,
) -> dict[int, NewtonResult]:
    """Solve the problems whose gap is above ``tol``; return what was found, by their numbers."""
    left = [k for k, state in enumerate(states) if not state.gap <= tol]
    n_solved = len(states) - len(left)

    def solve(start: int, _: int) -> NewtonResult:
        state = states[left[start]]
        result = _newton_on_outputs(rows, state, norms, bias, tol, most_passes)
        said = f"{n_solved + start + 1} of {len(states)} problems by Newton's method"
        progress.report((n_solved + start + 1) / len(states), said)
        return result

    with single_threaded_blas():
        return dict(zip(left, for_blocks(solve, len(left), 1), strict=True))


def _newton_on_outputs(
    rows: MappedRows,
    state: BlockProblem,
    norms: NDArray[np.float64],
    bias: float,
    tol: float,
    most_passes: float,
) -> NewtonResult:
    """Go on from a problem's variables; leave in it the best ones, their weights, and the gap."""
    members = np.flatnonzero(state.places >= 0)
    order = np.argsort(state.places[members])
    members = members[order]
    task = Task(
        members=members,
        signs=state.signs.astype(np.int8),
        norms=norms[members],
        targets=np.ones(len(members)),
        upper=state.loss.high(state.costs),
        ridge=state.loss.ridge(state.costs),
        epsilon=0.0,
        bias=float(bias),
        two_sided=False,
        logistic=False,
    )
    block = NewtonBlock(OutputDesign(rows, members), task, state.alpha)
    result = minimise(
        OwnRows(block),
        state.weights,
        loss_kind=kind_of(task),
        tol=tol,
        most_passes=most_passes,
    )
    state.alpha = block.best_alpha
    state.weights = block.weights_of_duals(block.best_alpha)
    state.gap = result.gap
    return result


def _begun(problem: BinaryProblem, rows: MappedRows, C: float, loss: Loss) -> BlockProblem:
    n = len(problem.rows)
    places = np.full(len(rows), -1)
    places[problem.rows] = np.arange(n)
    weights = np.zeros(rows.map.n_outputs_ + 1)
    return BlockProblem(loss, places, problem.signs, C * problem.factors, np.zeros(n), weights)


def _descend(
    rows: MappedRows,
    states: list[BlockProblem],
    norms: NDArray[np.float64],
    bias: float,
    seed: tuple[int, ...],
    progress: ProgressReporter | None,
) -> None:
    """Visit all rows; set the gaps by the losses on the way.

    ``norms`` are the squared norms of the outputs and the bias, which the first pass sets; it is
    the one with ``progress``.
    """
    seen = 0
    for state in states:
        state.cost = 0.0
    for chunk, (found, outputs) in enumerate(rows.chunks(np.random.default_rng(seed))):
        if progress is not None:
            norms[found] = np.einsum("ij,ij->i", outputs, outputs, dtype=np.float64) + bias**2
        visit = partial(_visit, states, found, outputs, norms[found], bias, (*seed, chunk))
        for_blocks(visit, len(states), 1)
        seen += len(found)
        if progress is not None:
            said = f"{seen:,} of {len(rows):,} rows in the first pass"
            progress.report(seen / len(rows), said, "the first pass")
    for state in states:
        state.set_gap()


def _visit(
    states: list[BlockProblem],
    found: NDArray[np.intp],
    outputs: NDArray[np.float32],
    norms: NDArray[np.float64],
    bias: float,
    seed: tuple[int, ...],
    k: int,
    _: int,
) -> None:
    """Let one problem descend on the rows ``found``, which have these outputs."""
    state = states[k]
    places = state.places[found]
    members, random = np.flatnonzero(places >= 0), np.random.default_rng((*seed, k))
    state.cost += loops.descend_rows(
        outputs,
        np.stack([random.permutation(members) for _ in range(_VISITS)]),
        places,
        state.signs,
        norms,
        state.loss.high(state.costs),
        state.loss.ridge(state.costs),
        float(bias),
        state.alpha,
        state.weights,
    )


def _measure(rows: MappedRows, states: list[BlockProblem], bias: float) -> None:
    """Score all rows with the weights as they are, and set the gaps by that."""
    weights = np.stack([state.weights for state in states])
    for state in states:
        state.cost = 0.0
    for places, outputs in rows.chunks():
        scores = outputs @ weights[:, :-1].T + bias * weights[:, -1]
        for k, state in enumerate(states):
            counts = state.places[places] >= 0
            members = state.places[places[counts]]
            excess = state.signs[members] * scores[counts, k] - 1
            state.cost += float(np.sum(state.loss.cost(excess, state.costs[members])))
    for state in states:
        state.set_gap()
