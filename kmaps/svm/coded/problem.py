"""One problem on codes, stated for the compiled loops, its solution, and what rounding did to it.

Steps leave float32 weights W that differ from w(a), the weights of the variables a, by the rounding
of all steps. Descent sees the margins of W, so these are right at the end. The margins of w(a) are
not, and with a large C the loss of support vectors that are short of 1 by a rounding is large.
But the dual at a bounds the primal at any weights. Where weights are sums of features,

    P(W) - D(a)  =  |W - w(a)|² / 2  +  Σ (loss_i + cost_i + a_i (margin_i - target_i)),

with the margins of W: the sum that descent makes small, and next to nothing.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import train as loops
from kmaps._loops.codes import count_codes
from kmaps._loops.forms import (
    CodeRows,
    Form,
    add_up_rows,
    change_by_codes,
    count_stored,
    evaluate_rows,
    sum_in_order,
)
from kmaps._loops.vectors import aligned_zeros
from kmaps.svm.coded.forms import Layout
from kmaps.svm.losses import Floats, Loss
from kmaps.svm.reduction import Places

_FIRST = 1e-6  # part of C at which the variables of the logistic loss start
_MULTIPLES = 0.5, 2.0  # multiples of weights that are tried
_WIDE = 32  # values that a code stands for, from which sums over levels take less time
_VALUES_A_SUM = 4  # values for each sum over a level from which such sums take less time
_PART = 0.01  # the most of |W - w(a)|² / |w(a)|², as a part of the tolerance


class CodedSolution(NamedTuple):
    """Weights (d · size,), the constant feature's, and how good they are."""

    weights: NDArray[np.float32]
    constant: float
    alpha: Floats
    margins: Floats
    primal: float
    dual: float
    passes: float

    @property
    def gap(self) -> float:
        """The duality gap, as a part of the primal objective."""
        return (self.primal - self.dual) / self.primal if self.primal > 0 else 0.0


class CodedProblem(NamedTuple):
    """A problem to solve: a task, its rows of codes, and the effect of codes on weights."""

    rows: CodeRows
    layout: Layout
    task: loops.Task
    n_weights: int

    @property
    def form(self) -> Form:
        """The effect of codes on weights, for the loops."""
        return self.layout.form

    def rebuild(self, alpha: Floats, weights: NDArray[np.float32]) -> float:
        """Set the weights to w(alpha); return the weight of the constant feature."""
        factors = alpha * self.task.signs
        _add_up(self.rows, self.task.members, factors, self.form, weights)
        return float(sum_in_order(factors) * self.task.bias)

    def margins(self, weights: NDArray[np.float32], constant: float) -> Floats:
        """Return s_i f(x_i) for the members of the task."""
        margins = np.empty(len(self.task.members))
        evaluate_rows(self.rows, self.task.members, self.form, weights, margins)
        margins += constant * self.task.bias
        margins *= self.task.signs
        return margins

    def part(self, chosen: NDArray) -> "CodedProblem":
        """Return the problem of some of the members."""
        arrays = ("members", "signs", "norms", "targets", "upper", "ridge")
        values = {name: getattr(self.task, name)[chosen] for name in arrays}
        return self._replace(task=self.task._replace(**values))


def _add_up(
    rows: CodeRows, members: Places, factors: Floats, form: Form, weights: NDArray[np.float32]
) -> None:
    """Set the weights to the sum of the features of the members' rows, each times its factor.

    Where a code stands for many values, and codes outnumber the levels of all features, the factors
    are added up for each level first, which takes one addition for each code.
    """
    n_features = len(weights) // form.size
    n_sums = n_features * form.n_codes
    if form.width <= _WIDE or count_stored(rows.bounds, members, factors) <= _VALUES_A_SUM * n_sums:
        add_up_rows(rows, members, factors, form, weights)
        return
    of_codes = np.zeros((n_features, form.n_codes))
    count_codes(rows.codes, rows.bounds, rows.features, members, factors, of_codes)
    sums = aligned_zeros(len(weights), np.float64)
    change_by_codes(of_codes, form, sums)
    weights[:] = sums


def make_task(
    members: Places, y: Floats, norms: Floats, costs: Floats, loss: Loss, bias: float
) -> loops.Task:
    """State a problem for labels ±1, or for targets, as the loss takes them.

    ``costs`` are the C of each member, ``norms`` the square norms of all rows.
    """
    signs, targets = loss.stated(y)
    return loops.Task(
        members=members.astype(np.int64),
        signs=signs.astype(np.int8),
        norms=norms[members] + bias**2,
        targets=targets.astype(np.float64),
        upper=loss.high(costs).astype(np.float64),
        ridge=loss.ridge(costs),
        epsilon=float(loss.epsilon),
        bias=float(bias),
        two_sided=loss.two_sided,
        logistic=loss.logistic,
    )


def starting_point(task: loops.Task, alpha: Floats | None) -> Floats:
    """Return where to start: given variables inside the bounds of a task, or the least ones."""
    least = _FIRST * task.upper if task.logistic else np.zeros(len(task.members))
    if alpha is None:
        return least
    if task.logistic:
        inside = loops.INSIDE * task.upper
        return np.clip(alpha, inside, task.upper - inside)
    return np.clip(alpha, -task.upper if task.two_sided else 0, task.upper)


def longest_step(step: NDArray, alpha: NDArray, low: NDArray, high: NDArray) -> float:
    """Return how far a step goes at most, as a multiple of the way to the bound."""
    return float(np.max(np.abs(step) / np.where(step > 0, high - alpha, alpha - low), initial=0.0))


def rescaled(task: loops.Task, solution: CodedSolution) -> CodedSolution:
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


def distance(
    form: Form,
    weights: NDArray[np.float32],
    constant: float,
    rebuilt: NDArray[np.float32],
    rebuilt_constant: float,
) -> tuple[float, float]:
    """Return |W - w(a)|² and |w(a)|², or infinity and zero where the form has no features.

    The weights of the constant feature come last.
    """
    if form.rows is not form.basis:
        return np.inf, 0.0
    difference = _square(form, weights - rebuilt) + (constant - rebuilt_constant) ** 2
    return difference, _square(form, rebuilt) + rebuilt_constant**2


def is_close(difference: float, square: float, tol: float) -> bool:
    """Return whether weights may stay as they are, for a gap of ``tol``."""
    return difference <= _PART * tol * square


def _square(form: Form, weights: NDArray[np.float32]) -> float:
    """Return the square of the norm in the space of the features."""
    squares = np.sum(np.square(weights, dtype=np.float64).reshape(-1, form.size), axis=1)
    factors = np.broadcast_to(form.scale, squares.shape)
    used = factors > 0
    return float(np.sum(squares[used] / factors[used]))
