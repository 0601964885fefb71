"""One problem on codes, of two classes or of a target, solved until its duality gap is small."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import train as loops
from kmaps._loops.forms import Form, Rows
from kmaps._loops.vectors import aligned_zeros
from kmaps.svm.coded.crew import Crew, Parts, cut
from kmaps.svm.coded.face import Climber
from kmaps.svm.coded.rounding import apart, is_close

_MARGIN = 0.8
_MULTIPLES = 0.5, 2.0  # of weights, that are tried
_FIRST = 1e-6  # part of C at which the variables of the logistic loss start
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
    costs: NDArray[np.float64],
    loss: str,
    bias: float,
) -> loops.Task:
    """State a problem of two classes, with the C of each member; ``norms`` are those of all rows.

    Its loss is one of `kmaps.svm.losses.LOSSES`.
    """
    targets = np.full(len(members), 0.0 if loss == "logistic" else 1.0)
    return _task(members, signs, norms, targets, costs, bias, loss == "squared_hinge")._replace(
        logistic=loss == "logistic"
    )


def make_regression_task(
    members: NDArray[np.intp],
    targets: NDArray[np.float64],
    norms: NDArray[np.float64],
    costs: NDArray[np.float64],
    loss: str,
    epsilon: float,
    bias: float,
) -> loops.Task:
    """State a problem of regression, with the C of each member; ``norms`` are those of all rows.

    Its loss is one of `kmaps.svm.losses.INSENSITIVE`.
    """
    signs, squared = np.ones(len(members)), loss == "squared_epsilon_insensitive"
    return _task(members, signs, norms, targets, costs, bias, squared)._replace(
        epsilon=float(epsilon), two_sided=True
    )


def _task(
    members: NDArray[np.intp],
    signs: NDArray[np.float64],
    norms: NDArray[np.float64],
    targets: NDArray[np.float64],
    costs: NDArray[np.float64],
    bias: float,
    squared: bool,
) -> loops.Task:
    """State a problem whose loss is straight where it is not zero, or ``squared``."""
    return loops.Task(
        members=members.astype(np.int64),
        signs=signs.astype(np.int8),
        norms=norms[members] + bias**2,
        targets=targets.astype(np.float64),
        upper=np.full(len(members), np.inf) if squared else costs.astype(np.float64),
        ridge=1 / (2 * costs) if squared else np.zeros(len(members)),
        epsilon=0.0,
        bias=float(bias),
        two_sided=False,
        logistic=False,
    )


def solve(
    rows: Rows,
    form: Form,
    task: loops.Task,
    n_weights: int,
    *,
    tol: float,
    max_iter: int,
    seed: tuple[int, ...],
    parts: Parts | None = None,
    n_threads: int = 1,
    alpha: NDArray[np.float64] | None = None,
    report: Callable[[float, float], None] | None = None,
) -> Solution:
    """Descend until the gap is at most ``tol`` of the primal objective.

    A pass evaluates as many rows as there are, however often each: after ``max_iter`` passes the
    solution is returned as it is. ``parts`` are those of the rows, where they are known already.
    ``alpha`` is where to start: at its best multiple. ``report`` is told the number of passes and
    the gap of the last one.

    After each descent, and during long ones, the weights are built anew from the variables, to see
    what the rounding of all steps did (`kmaps.svm.coded.rounding`), and every row is scored: the
    gap is exact, and a descent that stopped too early goes on from the members that are not
    settled, towards a lower goal. Weights that miss ``tol`` are taken at the multiple that is best
    for the primal.
    """
    report = report or (lambda passes, gap: None)
    parts = parts or cut(rows, n_weights // form.size)
    with Crew(rows, form, parts, n_threads, len(task.members)) as crew:
        return _solved(crew, task, n_weights, tol, max_iter, seed, alpha, report)


def _solved(
    crew: Crew,
    task: loops.Task,
    n_weights: int,
    tol: float,
    max_iter: int,
    seed: tuple[int, ...],
    alpha: NDArray[np.float64] | None,
    report: Callable[[float, float], None],
) -> Solution:
    """As `solve`, by threads that are there."""
    n = len(task.members)
    alpha = starting_point(task, alpha)
    weights, order, margins = aligned_zeros(n_weights), np.arange(n), np.zeros(n)
    goal, spent, rise, fall, random = _MARGIN * tol, 0, np.inf, -np.inf, random_state(seed)
    reached = False
    climber = Climber(crew, task)
    constant, rebuilt, apart_by = 0.0, aligned_zeros(n_weights), (0.0, 0.0)
    while True:
        if alpha.any():
            own = crew.rebuild(task, alpha, rebuilt)
            apart_by = apart(crew.form, weights, constant, rebuilt, own)
            if not is_close(*apart_by, tol):
                weights[:], constant, apart_by = rebuilt, own, (0.0, 0.0)
            crew.margins(task, weights, constant, margins)
            spent += n
            if spent == n:  # nothing but the start
                constant *= _stretch(task, alpha, margins, weights)
        solution = _assess(task, weights, constant, alpha, margins, spent / n, *apart_by)
        if solution.gap > tol and spent:
            solution = rescaled(task, solution)
        report(solution.passes, solution.gap)
        if solution.gap <= tol or spent >= max_iter * n:
            return solution
        if reached:
            # The gap added up during a pass is an estimate: aim lower where it was wrong.
            goal *= min(max(_MARGIN * tol / solution.gap, 0.1), _MARGIN)
        n_active = loops.set_active(task, alpha, margins, order, rise, fall)
        state = n_active, rise, fall, solution.dual, constant, random
        last = min(spent + _PASSES_A_REBUILD * n, max_iter * n)
        while True:
            before, budget = state[3], min(_PASSES_A_CALL * n, last - spent)
            state, gap, evaluations = crew.descend(task, alpha, weights, order, state, goal, budget)
            n_active, rise, fall, dual, constant, random = state
            random = np.uint64(random)  # which has come back as an int
            state = *state[:-1], random
            spent += evaluations
            report(spent / n, gap / (dual + gap))
            reached = n_active == 0 or gap <= goal * (dual + gap)
            if reached or spent >= last:
                break
            rate = (dual - before) / max(evaluations, 1)
            constant, gain, evaluations = climber.climb(
                spent, max_iter * n, rate, alpha, weights, constant
            )
            if evaluations:
                spent += evaluations
                state = n_active, np.inf, -np.inf, dual + gain, constant, random


def starting_point(task: loops.Task, alpha: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return where to start: given variables inside the bounds of a task, or the least ones."""
    least = _FIRST * task.upper if task.logistic else np.zeros(len(task.members))
    if alpha is None:
        return least
    if task.logistic:
        return np.clip(alpha, least, task.upper - least)
    return np.clip(alpha, -task.upper if task.two_sided else 0, task.upper)


def _stretch(task: loops.Task, alpha: NDArray, margins: NDArray, weights: NDArray) -> float:
    """Multiply all by the factor, which is returned, that is best for the dual and allowed.

    The variables of the logistic loss stay as they are: their cost is no parabola.
    """
    if task.logistic:
        return 1.0
    used = alpha != 0
    gain = np.sum(task.targets * alpha) - task.epsilon * np.sum(np.abs(alpha))
    best = max(gain, 0) / np.sum(alpha * margins + task.ridge * alpha**2)
    factor = min(float(best), float((task.upper[used] / np.abs(alpha[used])).min()))
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
    difference: float,
    square: float,
) -> Solution:
    # Not by BLAS, whose threads take longer to start than this does.
    product = np.sum(alpha * margins)  # of the weights and those of the variables
    square = square or product
    dual = loops.dual_value(task, alpha) - square / 2
    primal = (2 * product - square + difference) / 2 + loops.total_loss(task, margins)
    return Solution(weights, constant, alpha, margins, float(primal), float(dual), passes)


def rescaled(task: loops.Task, solution: Solution) -> Solution:
    """Return the multiple of a solution that is best for the primal.

    With a large C, support vectors that are short of the margin by a rounding are dear; a little
    longer weights are cheap.
    """
    square = 2 * (solution.primal - loops.total_loss(task, solution.margins))
    best = loops.best_multiple(task, solution.margins, square, *_MULTIPLES)
    margins = best * solution.margins
    primal = float(best**2 * square / 2 + loops.total_loss(task, margins))
    if not primal < solution.primal:
        return solution
    return solution._replace(
        weights=(best * solution.weights).astype(np.float32),
        constant=best * solution.constant,
        margins=margins,
        primal=primal,
    )


def random_state(seed: tuple[int, ...]) -> np.uint64:
    """Return a state of the generator, which must not be zero."""
    return np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] | np.uint64(1)
