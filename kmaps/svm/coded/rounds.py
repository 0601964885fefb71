"""Problems whose rows lie in blocks: all blocks descend at once, and their changes are added.

In a round every block proposes a change of its own variables (`block.descend`), then all of them
measure how the dual rises along the sum of the changes. From that follow the
length of the step, at most one, and the factor σ of the next round: what the blocks do to each
other is less than the worst case, σ = the number of blocks, allows for. Between the rounds there
are conjugate gradients on the free variables of all blocks, as in `kmaps.svm.coded.descent`. In the
end the weights are rebuilt, to see what rounding did to them (`kmaps.svm.coded.problem`), and every
row is scored, so that the gap holds for the whole problem.

All sums are in the order of the blocks: the model is the same whoever works on them.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kmaps.svm.coded import block as blocks
from kmaps.svm.coded import descent
from kmaps.svm.coded.block import State, StepResult, Table
from kmaps.svm.coded.descent import Report
from kmaps.svm.coded.problem import CodedProblem, CodedSolution, rescaled

EFFORT = 0.15  # part of all members that a round evaluates, about, if rounds are cheap
_SLOWEST, _FASTEST = 2 / 3, 1.5  # changes of the factor from round to round
_THERE = np.empty(0)  # stands for arrays that the workers keep
_PAUSE = 2  # passes after a climb that gained less than descent would

_TWO_BLOCKS = 1 << 24  # codes: with more, a second worker may be worth the additional passes
_MOST_CODES = 1 << 31  # per block: with all that belongs to them, half of a worker's 8 GB


class Workers(Protocol):
    """The interface that runs the steps of all blocks, wherever they are."""

    n_rows: int
    n_blocks: int

    def run(self, step: Callable[..., StepResult], *shared: Any) -> list[float]:
        """Take a step with all blocks and keep their states; return the sums of their numbers.

        The sum of the tables, if there are any, is the ``total`` of the steps that follow.
        """


def count_blocks(n_codes: int) -> int:
    """Return how many blocks a problem is cut into, which follows from its size alone.

    Few: with 200,000 rows of 981 features, two take 1.2 times the passes of one, six 2.5 times.
    """
    return 1 if n_codes < _TWO_BLOCKS else max(2, -(-n_codes // _MOST_CODES))


class Rounds:
    """A problem on its way to a relative duality gap of ``tol``, in at most ``max_iter`` passes.

    ``report`` is called with the passes so far and the gap. ``effort`` is about the part of all
    members that a round evaluates, by passes over those that are active: as many in each block, so
    that none waits long for another.
    """

    def __init__(
        self,
        workers: Workers,
        tol: float,
        max_iter: int,
        report: Report | None = None,
        effort: float = EFFORT,
    ):
        self.effort, self.n_active = effort, float(workers.n_rows)
        self.workers, self.tol, self.most = workers, tol, float(max_iter * workers.n_rows)
        self.report = report or (lambda passes, gap: None)
        self.goal = descent.MARGIN * tol
        self.factor = float(workers.n_blocks)
        self.step = self.constant = self.dual = 0.0
        self.spent = 0.0
        self.climb_due = float(descent.AFTER * workers.n_rows)

    def solve(self, begun: bool) -> CodedSolution:
        """Go on until the gap is small, or the passes are used up; return how good it is.

        ``begun`` says that the variables are not all zero. The workers have the weights, variables
        and margins of the solution.
        """
        if begun:
            self._certified()
        while True:
            reached = self._descend()
            solution = self._certified()
            if solution.gap <= self.tol or self.spent >= self.most:
                return solution
            if reached:
                self.goal *= descent.goal_factor(self.tol, solution.gap)
                # The estimate was wrong because blocks affect each other, which climbing notices.
                self.climb_due = self.spent
                self._climb(0.0)

    def _run_from_here(self, step: Callable[..., StepResult], *shared: Any) -> list[float]:
        """Take a step that begins by moving as far as the last proposal deserved."""
        length, self.step = self.step, 0.0
        return self.workers.run(step, length, *shared)

    def _descend(self) -> bool:
        """Go round until the gap seems small or it is time to look; return whether it does."""
        last = min(self.spent + descent.PASSES_A_REBUILD * self.workers.n_rows, self.most)
        while True:
            gap, gain, evaluations = self._round()
            reached = self.n_active == 0 or gap <= self.goal * (self.dual + gap)
            self.report(self.spent / self.workers.n_rows, gap / (self.dual + gap))
            if reached or self.spent >= last:
                return reached
            self._climb(gain / max(evaluations, 1))

    def _round(self) -> tuple[float, float, float]:
        """Let all blocks descend and take a step; return the gap, the gain and evaluations."""
        before = self.constant
        n_passes = round(self.effort * self.workers.n_rows / max(self.n_active, 1))
        dual = self.dual / self.workers.n_blocks
        change, gap, evaluations, self.n_active = self._run_from_here(
            blocks.descend, before, self.factor, dual, self.goal, max(n_passes, 1)
        )
        first, last, measured = self.workers.run(blocks.measure, before, change)
        self.spent += evaluations + measured
        best = first / (first - last) if first > last else _FASTEST
        self.step = min(1.0, best)
        self.constant += self.step * change
        gain = self.step * first - self.step**2 / 2 * (first - last)
        self.dual += gain
        self.factor /= min(max(best, _SLOWEST), _FASTEST)
        self.factor = min(max(self.factor, 1.0), float(self.workers.n_blocks))
        return gap, gain, evaluations

    def _certified(self) -> CodedSolution:
        """Rebuild the weights, to compare, and score all rows."""
        (rebuilt,) = self._run_from_here(blocks.rebuild)
        product, loss, value, *of_every_block = self.workers.run(
            blocks.score, self.constant, rebuilt, self.tol
        )
        stay, difference, square = (number / self.workers.n_blocks for number in of_every_block)
        if not stay:
            self.constant, difference, square = rebuilt, 0.0, product
        self.spent += self.workers.n_rows
        self.dual = value - square / 2
        passes = self.spent / self.workers.n_rows
        primal = (2 * product - square + difference) / 2 + loss
        solution = CodedSolution(
            _THERE.astype(np.float32), self.constant, _THERE, _THERE, primal, self.dual, passes
        )
        self.report(passes, solution.gap)
        return solution

    def _climb(self, rate: float) -> None:
        """Climb instead of descending, which gains ``rate`` per evaluation, if it is time."""
        if self.spent < self.climb_due:
            return
        n_free, size, constant = self._run_from_here(blocks.start_climb, self.constant)
        before = self.spent
        self.spent += n_free
        if n_free < 2 or size <= 0 or self.spent + self.workers.n_rows > self.most:
            return
        gained = self._proposed(n_free, self._conjugate_gradients(n_free, size, constant))
        good = gained > (self.spent - before) * rate
        pause = max(_PAUSE * self.workers.n_rows, descent.COSTS * (self.spent - before))
        self.climb_due = self.spent + (0 if good else pause)

    def _conjugate_gradients(self, n_free: float, size: float, constant: float) -> float:
        """Find a step; return how far it goes at most, as `longest_step`."""
        run, first = self.workers.run, size
        for _ in range(descent.STEPS):
            (curvature,) = run(blocks.curve, constant)
            self.spent += n_free
            length = size / max(curvature, descent.FLAT * size)
            remaining, cut, square, reach = run(blocks.advance, length)
            if cut > descent.CUT * square or remaining <= descent.ENOUGH**2 * first:
                break
            (constant,) = run(blocks.turn_direction, remaining / size)
            size = remaining
        return reach ** (1 / blocks.POWER)

    def _proposed(self, n_free: float, reach: float) -> float:
        """Take as much of a step as the dual grows by; return by how much."""
        for scale in descent.step_scales(reach):
            (constant,) = self.workers.run(blocks.propose, scale)
            (gained,) = self.workers.run(blocks.gain, constant)
            self.spent += n_free
            if gained > 0:
                self.step = 1.0
                self.constant += constant
                self.dual += gained
                return gained
        return 0.0


class ThreadWorkers:
    """Blocks in this process, which share its memory; ``each`` is ``map``, or a pool's ``map``."""

    def __init__(self, blocks: list[CodedProblem], states: list[State], each: Callable[..., Any]):
        self.blocks, self.states, self.each = blocks, states, each
        self.n_rows = sum(len(block.task.members) for block in blocks)
        self.n_blocks = len(blocks)
        self.total: Table | None = None

    def run(self, step: Callable[..., StepResult], *shared: Any) -> list[float]:
        """Take a step with all blocks, as `Workers` says."""

        def step_of_block(k: int) -> StepResult:
            return step(self.blocks[k], self.states[k], self.total, *shared)

        results = list(self.each(step_of_block, range(self.n_blocks)))
        self.states = [result.state for result in results]
        if results[0].table is not None:
            self.total = added([result.table for result in results])
        return [sum(column) for column in zip(*(r.numbers for r in results), strict=True)]


def added(tables: list[Table]) -> Table:
    """Return the sum of tables, in their order; the first one becomes it."""
    total = tables[0]
    for table in tables[1:]:
        total += table
    return total


def solve_in_blocks(
    problem: CodedProblem,
    *,
    n_blocks: int,
    n_threads: int,
    tol: float,
    max_iter: int,
    seed: tuple[int, ...],
    alpha: NDArray[np.float64] | None = None,
    report: Report | None = None,
) -> CodedSolution:
    """Solve a problem as `kmaps.svm.coded.descent.solve` does, its members drawn into blocks."""
    shuffled = np.random.default_rng(seed).permutation(len(problem.task.members))
    members = [np.sort(places) for places in np.array_split(shuffled, n_blocks)]
    problems = [problem.part(places) for places in members]
    states = [
        blocks.begin(
            block.task, block.n_weights, (*seed, k), None if alpha is None else alpha[places]
        )
        for k, (block, places) in enumerate(zip(problems, members, strict=True))
    ]
    begun = any(state.alpha.any() for state in states)
    with ExitStack() as stack:
        each: Callable[..., Any] = map
        if n_threads > 1:
            each = stack.enter_context(ThreadPoolExecutor(min(n_threads, n_blocks))).map
        workers = ThreadWorkers(problems, states, each)
        certified = Rounds(workers, tol, max_iter, report).solve(begun)
    alpha, margins = np.empty(len(shuffled)), np.empty(len(shuffled))
    for places, state in zip(members, workers.states, strict=True):
        alpha[places] = state.alpha
        margins[places] = state.margins
    weights = workers.states[0].weights
    solution = certified._replace(weights=weights, alpha=alpha, margins=margins)
    return solution if solution.gap <= tol else rescaled(problem.task, solution)
