"""One two-class problem on codes, solved until its duality gap is small."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from kmaps._loops import train as loops
from kmaps._loops.forms import Form, Rows
from kmaps._loops.vectors import aligned_zeros

_MARGIN = 0.8
_PASSES_A_CALL = 5  # between two reports of progress
_PASSES_A_REBUILD = 25  # of changes to float32 weights, whose rounding adds up


class Solution(NamedTuple):
    """Weights (d · size,), the constant feature's, and how good they are."""

    weights: NDArray[np.float32]
    constant: float
    alpha: NDArray[np.float64]
    margins: NDArray[np.float64]
    primal: float
    dual: float
    passes: float

    @property
    def gap(self) -> float:
        """The duality gap, as a part of the primal objective."""
        return (self.primal - self.dual) / self.primal if self.primal > 0 else 0.0


def make_task(
    members: NDArray[np.intp],
    signs: NDArray[np.float64],
    norms: NDArray[np.float64],
    costs: tuple[float, float],
    loss: str,
    bias: float,
) -> loops.Task:
    """State a problem with the ``costs`` C of the signs -1 and 1; ``norms`` are those of all rows.

    Its loss is ``"hinge"`` or ``"squared_hinge"``.
    """
    upper, ridge = np.array(costs, float), np.zeros(2)
    if loss == "squared_hinge":
        upper, ridge = np.full(2, np.inf), 1 / (2 * upper)
    own = norms[members] + bias**2
    return loops.Task(members.astype(np.int64), signs.astype(np.int8), own, upper, ridge, bias)


def solve(
    rows: Rows,
    form: Form,
    task: loops.Task,
    n_weights: int,
    *,
    tol: float,
    max_iter: int,
    seed: tuple[int, ...],
    alpha: NDArray[np.float64] | None = None,
    report: Callable[[float, float], None] | None = None,
) -> Solution:
    """Descend until the gap is at most ``tol`` of the primal objective.

    A pass evaluates as many rows as there are, however often each: after ``max_iter`` passes the
    solution is returned as it is. ``alpha`` is where to start: at its best multiple. ``report`` is
    told the number of passes and the gap of the last one.

    After each descent, and during long ones, the weights are built anew from the variables, without
    the rounding of all the steps, and every row is scored: the gap is exact, and a descent that
    stopped too early goes on from the members that are not settled, towards a lower goal. Weights
    that miss ``tol`` are returned at the multiple that is best for the primal.
    """
    n, report = len(task.members), report or (lambda passes, gap: None)
    alpha = np.zeros(n) if alpha is None else np.minimum(alpha, task.upper[_sides(task)])
    weights, order, margins = aligned_zeros(n_weights), np.arange(n), np.zeros(n)
    goal, spent, rise, fall, random = _MARGIN * tol, 0, np.inf, -np.inf, _random_state(seed)
    reached = False
    while True:
        constant = 0.0
        if alpha.any():
            constant = loops.rebuild(rows, form, task, alpha, weights)
            loops.margins(rows, form, task, weights, constant, margins)
            spent += n
            if spent == n:  # nothing but the start
                constant *= _stretch(task, alpha, margins, weights)
        solution = _assess(task, weights, constant, alpha, margins, spent / n)
        if solution.gap > tol:
            solution = _rescaled(task, solution)
        report(solution.passes, solution.gap)
        if solution.gap <= tol or spent >= max_iter * n:
            return solution
        if reached:
            # The gap added up during a pass is an estimate: aim lower where it was wrong.
            goal *= min(max(_MARGIN * tol / solution.gap, 0.1), _MARGIN)
        n_active = _set_active(task, alpha, margins, order, rise, fall)
        state = n_active, rise, fall, solution.dual, constant, random
        last = min(spent + _PASSES_A_REBUILD * n, max_iter * n)
        while True:
            budget = min(_PASSES_A_CALL * n, last - spent)
            state, gap, evaluations = loops.descend(
                rows, form, task, alpha, weights, order, state, goal, budget
            )
            n_active, rise, fall, dual, constant, random = state
            random = np.uint64(random)  # which has come back as an int
            state = *state[:-1], random
            spent += evaluations
            report(spent / n, gap / (dual + gap))
            reached = n_active == 0 or gap <= goal * (dual + gap)
            if reached or spent >= last:
                break


def _stretch(task: loops.Task, alpha: NDArray, margins: NDArray, weights: NDArray) -> float:
    """Multiply all by the factor, which is returned, that is best for the dual and allowed."""
    side = _sides(task)
    best = alpha.sum() / np.sum(alpha * margins + task.ridge[side] * alpha**2)
    used = alpha > 0
    factor = min(float(best), float((task.upper[side][used] / alpha[used]).min()))
    for values in (alpha, margins, weights):
        values *= factor
    return factor


def _assess(
    task: loops.Task,
    weights: NDArray,
    constant: float,
    alpha: NDArray,
    margins: NDArray,
    passes: float,
) -> Solution:
    # Not by BLAS, whose threads take longer to start than this does.
    square = np.sum(alpha * margins)  # |w|²
    dual = np.sum(alpha - task.ridge[_sides(task)] * alpha**2 / 2) - square / 2
    primal = square / 2 + _loss(task, margins)
    return Solution(weights, constant, alpha, margins, float(primal), float(dual), passes)


def _loss(task: loops.Task, margins: NDArray) -> float:
    side, short = _sides(task), np.maximum(1 - margins, 0)
    if task.ridge.any():
        return float(np.sum(short**2 / (2 * task.ridge[side])))
    return float(np.sum(task.upper[side] * short))


def _rescaled(task: loops.Task, solution: Solution) -> Solution:
    """Return the multiple of a solution that is best for the primal.

    With a large C, support vectors that are short of the margin by a rounding are dear; a little
    longer weights are cheap.
    """
    square = np.sum(solution.alpha * solution.margins)

    def primal(factor: float) -> float:
        return factor**2 * square / 2 + _loss(task, factor * solution.margins)

    best = minimize_scalar(primal, bounds=(0.5, 2), method="bounded", options={"xatol": 1e-8})
    if not best.fun < solution.primal:
        return solution
    return solution._replace(
        weights=(best.x * solution.weights).astype(np.float32),
        constant=best.x * solution.constant,
        margins=best.x * solution.margins,
        primal=float(best.fun),
    )


def _set_active(
    task: loops.Task, alpha: NDArray, margins: NDArray, order: NDArray, rise: float, fall: float
) -> int:
    """Put the members that are not settled first in ``order``; return how many there are."""
    side = _sides(task)
    gradient = margins - 1 + task.ridge[side] * alpha
    settled = (alpha == 0) & (gradient > rise) | (alpha == task.upper[side]) & (gradient < fall)
    if settled.all():
        settled[:] = False
    order[:] = np.argsort(settled, kind="stable")
    return len(order) - int(settled.sum())


def _sides(task: loops.Task) -> NDArray[np.intp]:
    """Return which of the two sides' costs each member has."""
    return (task.signs > 0).astype(np.intp)


def _random_state(seed: tuple[int, ...]) -> np.uint64:
    """Return a state of the generator, which must not be zero."""
    return np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] | np.uint64(1)
