"""Dual coordinate descent on codes, with conjugate gradients on the variables at no bound.

Between two changes of which variables are at a bound, the dual is a parabola in the others. Its
maximum is where coordinate descent goes, in as many passes as the parabola is long and narrow: at a
large C it creeps. Conjugate gradients take the square root of that. The step that they find is cut
at the bounds, and shortened until the dual grows (Moré and Toraldo, SIAM J. Optimization 1991).

Where classes overlap and rows outnumber weights, descent creeps all the same. Then it hands over
its variables to Newton's method on the primal (`kmaps.svm.newton`): when the passes that seem to be
left would take longer, or at once where that takes no longer than the first passes.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import train as loops
from kmaps._loops.vectors import aligned_zeros
from kmaps.svm.coded import problem as problems
from kmaps.svm.coded.code_design import design_of, expected_passes, laid_out
from kmaps.svm.newton import NewtonBlock, OwnRows, kind_of, minimise

Report = Callable[[float, float], None]

MARGIN = 0.8  # part of the tolerance at which the estimated gap is checked
_PASSES_A_CALL = 5  # passes between two reports of progress
PASSES_A_REBUILD = 25  # passes until float32 weights are rebuilt, because rounding adds up

AFTER = 10  # passes of coordinate descent, which finds the variables at bounds
_PAUSE, COSTS = 5, 2  # passes, and costs, after a climb that gained less than descent would have
STEPS = 12  # of conjugate gradients
ENOUGH = 1e-2  # of the first residual
FLAT = float(np.finfo(np.float32).eps)  # least curvature, per size: a step up to the bounds
CUT = 0.05  # of a step's square that the bounds may take; a longer one would not do what it says
TRIALS = 4  # of a step
_MOST = STEPS + TRIALS + 1  # evaluations of a free member

_SOON = 20  # passes that Newton's method may take to begin at once
# Times the passes that Newton's method takes: more that are left hand over. On histograms that
# separate (C = 100) up to 9 times as many seem to be left before conjugate gradients find the end;
# where classes overlap, 15 to 100,000 times.
_MANY_LEFT = 10
# The same once as many passes were taken as Newton's method takes: handing over then makes at most
# twice the passes of the better of both.
_LEFT_IN_VAIN = 0.5
# Newton's method gets what is left of all passes, where descent is not there after so many: on few
# rows its steps take longer than passes, and are fewer.
_LAST_PART, _FEWEST_PASSES, _MOST_WEIGHTS = 0.75, 100, 1 << 15
_LEAST_PART = 0.25  # of the passes that Newton's method takes: fewer say too little


def solve(
    problem: problems.CodedProblem,
    *,
    tol: float,
    max_iter: int,
    seed: tuple[int, ...],
    alpha: NDArray[np.float64] | None = None,
    report: Report | None = None,
) -> problems.CodedSolution:
    """Descend until the gap is at most ``tol`` of the primal objective.

    A pass evaluates as many rows as there are, however often each: after ``max_iter`` passes the
    solution is returned as it is. ``alpha`` is where to start: at its best multiple. ``report`` is
    called with the number of passes and the last gap.

    After each descent, and during long ones, the weights are rebuilt from the variables, to see
    what the rounding of all steps did (`distance`), and every row is scored: the gap is exact, and
    a descent that stopped too early goes on from the members that are not settled, towards a lower
    goal. Weights that miss ``tol`` are taken at the multiple that is best for the primal.
    """
    return _CodedDescent(problem, tol, max_iter, seed, alpha, report).solve()


class _CodedDescent:
    """A problem on its way to a small gap: variables, weights, and the effort so far."""

    def __init__(
        self,
        problem: problems.CodedProblem,
        tol: float,
        max_iter: int,
        seed: tuple[int, ...],
        alpha: NDArray[np.float64] | None,
        report: Report | None,
    ):
        self.problem, self.task, self.n = problem, problem.task, len(problem.task.members)
        self.tol, self.most = tol, max_iter * self.n
        self.report = report or (lambda passes, gap: None)
        self.alpha = problems.starting_point(self.task, alpha)
        self.weights, self.constant = aligned_zeros(problem.n_weights), 0.0
        self.rebuilt = aligned_zeros(problem.n_weights)
        self.margins, self.order = np.zeros(self.n), np.arange(self.n)
        self.spent, self.goal = 0, MARGIN * tol
        self.rise, self.fall, self.random = np.inf, -np.inf, problems.random_state(seed)
        self.climb_due = AFTER * self.n
        self.newton_passes = expected_passes(problem)
        self.creeps = self.newton_passes <= _SOON
        self.gaps: list[tuple[float, float]] = []
        self.distance = 0.0, 0.0

    def solve(self) -> problems.CodedSolution:
        reached = False
        while True:
            solution = self._certified()
            if solution.gap > self.tol and self.spent:
                solution = problems.rescaled(self.task, solution)
            self.report(solution.passes, solution.gap)
            if solution.gap <= self.tol or self.spent >= self.most:
                return solution
            passes_end = solution.passes >= max(_LAST_PART * self.most / self.n, _FEWEST_PASSES)
            if self.creeps or (passes_end and self.problem.n_weights <= _MOST_WEIGHTS):
                return self._by_newton(solution)
            if reached:
                self.goal *= goal_factor(self.tol, solution.gap)
            reached = self._descend(solution.dual)

    def _certified(self) -> problems.CodedSolution:
        """Rebuild the weights, to compare, and score all rows."""
        if self.alpha.any():
            constant = self.problem.rebuild(self.alpha, self.rebuilt)
            self.distance = problems.distance(
                self.problem.form, self.weights, self.constant, self.rebuilt, constant
            )
            if not problems.is_close(*self.distance, self.tol):
                self.weights[:] = self.rebuilt
                self.constant = constant
                self.distance = 0.0, 0.0
            self.margins = self.problem.margins(self.weights, self.constant)
            self.spent += self.n
            if self.spent == self.n:  # only the start was computed
                self.constant *= _stretch(self.task, self.alpha, self.margins, self.weights)
        # Without BLAS, whose threads take longer to start than this sum.
        product = np.sum(self.alpha * self.margins)  # of W and w(a)
        difference, square = self.distance
        square = square or product
        dual = float(loops.dual_value(self.task, self.alpha) - square / 2)
        loss = loops.total_loss(self.task, self.margins)
        primal = float((2 * product - square + difference) / 2 + loss)
        state = self.weights, self.constant, self.alpha, self.margins
        return problems.CodedSolution(*state, primal, dual, self.spent / self.n)

    def _descend(self, dual: float) -> bool:
        """Descend until the gap seems small or it is time to look; return whether it does."""
        rows, form, task = self.problem.rows, self.problem.form, self.task
        n_active = loops.set_active(
            task, self.alpha, self.margins, self.order, self.rise, self.fall
        )
        last = min(self.spent + PASSES_A_REBUILD * self.n, self.most)
        while True:
            before, budget = dual, min(_PASSES_A_CALL * self.n, last - self.spent)
            state = n_active, self.rise, self.fall, dual, self.constant, self.random
            state, gap, evaluations = loops.descend(
                rows, form, task, self.alpha, self.weights, self.order, state, self.goal, budget
            )
            n_active, self.rise, self.fall, dual, self.constant, random = state
            self.random = np.uint64(random)  # the compiled loop returns an int
            self.spent += evaluations
            self.report(self.spent / self.n, gap / (dual + gap))
            reached = n_active == 0 or gap <= self.goal * (dual + gap)
            self.creeps = not reached and self._seems_to_creep(gap / (dual + gap))
            if reached or self.creeps or self.spent >= last:
                return bool(reached)
            dual += self._climb((dual - before) / max(evaluations, 1))

    def _seems_to_creep(self, gap: float) -> bool:
        """Return whether the passes that seem to be left take longer than Newton's method."""
        passes = self.spent / self.n
        lowest = min(gap, self.gaps[-1][1]) if self.gaps else gap
        self.gaps.append((passes, lowest))
        if passes < max(AFTER, _LEAST_PART * self.newton_passes):
            return False
        # What half of all passes gained says more than the last ones: the gap goes up and down.
        half, before = next(
            measurement for measurement in self.gaps if measurement[0] >= passes / 2
        )
        if not 0 < lowest < before:
            return half < passes and passes > self.newton_passes
        left = np.log(lowest / self.goal) * (passes - half) / np.log(before / lowest)
        most_left = _LEFT_IN_VAIN if passes > self.newton_passes else _MANY_LEFT
        return bool(left > most_left * self.newton_passes)

    def _by_newton(self, before: problems.CodedSolution) -> problems.CodedSolution:
        """Go on from the variables by Newton's method; return what is better in the end."""
        design_and_rotations = design_of(self.problem)
        self.creeps = False
        if design_and_rotations is None:
            return before
        design, rotations = design_and_rotations
        block = NewtonBlock(design, self.task, self.alpha)
        passes = self.spent / self.n
        result = minimise(
            OwnRows(block),
            block.weights_of_duals(self.alpha),
            loss_kind=kind_of(self.task),
            tol=MARGIN * self.tol,
            most_passes=self.most / self.n - passes,
            report=lambda newton_passes, gap: self.report(passes + newton_passes, gap),
        )
        weights = laid_out(self.problem.layout, rotations, result.weights[:-1])
        constant = float(result.weights[-1])
        margins = self.problem.margins(weights, constant)
        square = result.weights @ result.weights
        solution = problems.CodedSolution(
            weights,
            constant,
            block.best_alpha,
            margins,
            float(square / 2 + loops.total_loss(self.task, margins)),
            result.dual,
            passes + result.passes,
        )
        if solution.gap > self.tol:
            solution = problems.rescaled(self.task, solution)
        if before.gap < solution.gap:
            return before._replace(passes=solution.passes)
        return solution

    def _climb(self, rate: float) -> float:
        """Climb, if it is time, and return the gain.

        It alternates with descent, which gains ``rate`` per evaluation, while it gains more.
        """
        if self.spent < self.climb_due or self.task.logistic:  # its dual is not quadratic
            return 0.0
        face = Face(self.problem, self.alpha)
        if len(face.free) < 2 or self.spent + _MOST * len(face.free) > self.most:
            return 0.0
        self.constant, gain = face.climb(self.weights, self.constant)
        self.alpha[face.free] = face.alpha
        self.spent += face.evaluations
        good = gain > face.evaluations * rate
        self.climb_due = self.spent
        if not good:
            self.climb_due += max(_PAUSE * self.n, COSTS * face.evaluations)
        self.rise, self.fall = np.inf, -np.inf
        return gain


def goal_factor(tol: float, gap: float) -> float:
    """Return the factor that lowers the goal: the gap added up during a pass is an estimate."""
    return min(max(MARGIN * tol / gap, 0.1), MARGIN)


def step_scales(reach: float) -> tuple[float, ...]:
    """Return the parts of a step to try; the last stays inside the bounds, so that it gains.

    One that is cut loses where only the sum of its changes bends nothing, as on constant rows.
    """
    return 1.0, 1 / 4, 1 / 16, 1 / max(64.0, reach)


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


class Face:
    """The variables ``alpha`` of the members ``free`` of a task, which are at no bound."""

    def __init__(self, problem: problems.CodedProblem, alpha: NDArray[np.float64]):
        self.free = np.flatnonzero((alpha != 0) & (np.abs(alpha) < problem.task.upper))
        self.problem = problem.part(self.free)
        self.task = self.problem.task
        self.alpha = alpha[self.free]
        self.evaluations = 0  # how often rows were evaluated

    def climb(self, weights: NDArray[np.float32], constant: float) -> tuple[float, float]:
        """Move the variables and the weights; return the new constant and the dual's gain."""
        values = self._margins(weights, constant)
        slopes = self.task.targets - values - self.task.ridge * self.alpha
        slopes -= self.task.epsilon * np.sign(self.alpha)
        change = aligned_zeros(len(weights))
        low = np.where(self.alpha > 0, 0, -self.task.upper)
        high = np.where(self.alpha > 0, self.task.upper, 0)
        wanted = self._conjugate_gradients(slopes, change, low, high)
        for scale in step_scales(problems.longest_step(wanted, self.alpha, low, high)):
            step = np.clip(self.alpha + scale * wanted, low, high) - self.alpha
            of_constant, curved = self._product(step, change)
            gain = float(np.sum(step * (slopes - curved / 2)))
            if gain > 0:
                weights += change
                self.alpha += step
                return constant + of_constant, gain
        return constant, 0.0

    def _conjugate_gradients(
        self, slopes: NDArray, change: NDArray, low: NDArray, high: NDArray
    ) -> NDArray[np.float64]:
        """Return roughly the step to the top of the parabola, which heeds no bounds."""
        diagonal = self.task.norms + self.task.ridge
        step, rest = np.zeros(len(slopes)), slopes.copy()
        direction = rest / diagonal
        size = first = float(np.sum(rest * direction))
        for _ in range(STEPS if size > 0 else 0):
            curved = self._product(direction, change)[1]
            length = size / max(float(np.sum(direction * curved)), FLAT * size)
            step += length * direction
            rest -= length * curved
            size, before = float(np.sum(rest**2 / diagonal)), size
            cut = np.clip(self.alpha + step, low, high) - self.alpha - step
            is_cut = np.sum(cut**2 * diagonal) > CUT * np.sum(step**2 * diagonal)
            if is_cut or size <= ENOUGH**2 * first:
                break
            direction = rest / diagonal + size / before * direction
        return step

    def _product(self, step: NDArray, change: NDArray) -> tuple[float, NDArray[np.float64]]:
        """Set ``change`` to the weights of a step; return their constant and the curvature."""
        constant = self.problem.rebuild(step, change)
        return constant, self._margins(change, constant) + self.task.ridge * step

    def _margins(self, weights: NDArray, constant: float) -> NDArray[np.float64]:
        self.evaluations += len(self.free)
        return self.problem.margins(weights, constant)
