r"""Newton's method on the primal problem, for rows that outnumber the weights.

With the codes :math:`c_{ij}` of row i and the map :math:`\Psi_j` on the levels of feature j
(L × r_j), a model is :math:`f(x_i) = \sum_j \Psi_j[c_{ij}] w_j + b`, and minimises

.. math:: P(w) = \tfrac12 |w|^2 + \sum_i \ell_i(z_i), \qquad z_i = s_i f(x_i),

the weight of the constant feature among w. All that depends on rows are sums over codes:

- the slopes :math:`s[j, l]`, the sum of :math:`-\ell_i'(z_i) s_i` over the rows with code l of
  feature j: :math:`\nabla P = w - \Psi^\top s`;
- the pair counts :math:`N[(j, l), (k, l')]`, the sum of :math:`D_i = \ell_i''(z_i)` over the rows
  with code l of feature j and l' of feature k: :math:`\nabla^2 P = I + \Psi^\top N \Psi`.

Both are sums over rows: those of threads, folds and machines add up. Counting takes d (d + 1) / 2
additions a row, whatever the levels and the columns; few rows with :math:`D_i > 0` are rather
multiplied as a matrix, or solved for in their own number (`_Step`).

The hinge and the ε-insensitive loss have no second derivative. They are solved by the method of
multipliers (Rockafellar, 1976): with centres :math:`\bar a_i` and a ridge :math:`\tau_i = \delta /
C_i`, the dual gets the price :math:`\tau_i (a_i - \bar a_i)^2 / 2`, which makes the loss smooth,
with :math:`D_i = 1 / \tau_i` on the rows whose variable is at no bound. Its solution gives the next
centres, with a smaller δ: near the end few rows are left in the band, and δ need not go to 0. The
squared losses get the same price where Newton's steps stall: at a huge C they are as sharp.

Certificate: :math:`a_i = -\ell_i'(z_i)` is feasible in the dual of the loss itself, and the gap
P(w) - D(a) is exact.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from threading import Lock
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from threadpoolctl import threadpool_limits

from kmaps._loops import newton as row_loops
from kmaps._loops import train as loops
from kmaps.svm.losses import Floats

MOST_WEIGHTS = 4096  # for which a Hessian matrix is made
_MOST_BAND_VALUES = 1 << 26  # rows times weights that are expanded for a step on the rows
# Nanoseconds, on one core with AVX-512: of a multiply-add of large matrices, of one of a
# factorisation, and of a value that is copied.
LARGE_NS, _FACTOR_NS, COPY_NS = 0.02, 0.04, 1.0

_FIRST_BAND = 4.0  # δ of the hinge, as a multiple of the mean excess at the beginning
_NARROWER = 0.25  # factor on δ from one set of centres to the next
_INEXACT = 0.3  # part of the gap that an inexact solution may leave before the centres move
_LEAST_RIDGE = 1e-12  # of the largest squared norm of a row
_SLOPE_LEFT = 0.05  # part of the slope that a line search may leave
_SEARCHES = 30
_MOST_STEPS = 40  # from the same centres
_WIDER = 64.0  # factor on δ where so many steps do not solve it
_MOST_WIDENED = 4  # how often
_MOST_IDLE = 6  # sets of centres in a row that improve nothing; of a smooth loss, steps
_LEAST_GAIN = 1e-3  # part of the gap
_ROUNDING = 1e-13
_MOST_CONJUGATE = 200  # conjugate gradients of a step
_CONJUGATE_RESIDUAL = 0.05


LossKind = Literal["logistic", "squared", "sharp"]
"""Smooth everywhere; with a second derivative but at a point; or with corners."""

_blas_lock = Lock()
_blas_users: list[threadpool_limits] = []


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread, so that its bits do not depend on their number.

    The limit is of the process: it ends with the last of the blocks that overlap. Of several
    threads, only the one that came first can set it (threadpoolctl ≥ 3.8): whoever starts threads
    enters this block before.
    """
    with _blas_lock:
        _blas_users.append(threadpool_limits(1, "blas"))
    try:
        yield
    finally:
        with _blas_lock:
            # The first one knows the number before.
            _blas_users.pop().restore_original_limits()


class Start(NamedTuple):
    """What the rows are like where a solution begins: sums over them."""

    n_rows: int
    excess: float  # the sum of the absolute excesses
    leverage: float  # the sum of C times the squared norm: what a variable of C adds to its margin
    largest_norm: float  # the largest squared norm of a row


class Objectives(NamedTuple):
    """The sums over rows at some weights: they add up over blocks of rows."""

    loss: float  # of the task itself
    dual: float  # Σ target_i a_i - cost_i(a_i), without |w(a)|² / 2
    dual_weights: Floats  # w(a) = Σ a_i s_i φ(x_i), (m + 1,)
    n_curved: int  # rows with D_i > 0

    def plus(self, other: "Objectives") -> "Objectives":
        """Return the sums over both blocks of rows."""
        return Objectives(
            self.loss + other.loss,
            self.dual + other.dual,
            self.dual_weights + other.dual_weights,
            self.n_curved + other.n_curved,
        )


class Derivatives(NamedTuple):
    """The first and second derivative of the rows' losses along a direction."""

    slope: float
    curvature: float


class Design(Protocol):
    """Rows as vectors of features φ(x_i), however they are stored."""

    @property
    def n_weights(self) -> int:
        """Number of features, without the constant one."""

    def scores(self, weights: Floats, places: NDArray[np.intp] | None = None) -> Floats:
        """Return w·φ(x_i) for some rows, or for all."""

    def weighted_sum(self, factors: Floats, places: NDArray[np.intp] | None = None) -> Floats:
        """Return Σ factor_i φ(x_i) over some rows, or over all."""

    def second_moments(self, factors: Floats, places: NDArray[np.intp]) -> Floats:
        """Return Σ factor_i φ(x_i) φ(x_i)' over some of the rows, right up to the diagonal."""

    def moments_ns(self, n_rows: int) -> float:
        """Return about how long :meth:`second_moments` takes."""

    def expanded(self, places: NDArray[np.intp]) -> Floats:
        """Return the features of some rows."""

    def block_places(self) -> list[NDArray[np.intp]]:
        """Return the weights of each feature: an array (k, r) for the k features with r weights."""

    def block_moments(self, factors: Floats, places: NDArray[np.intp]) -> list[Floats]:
        """Return the diagonal blocks of :meth:`second_moments`, (k, r, r), as `block_places`."""


class NewtonBlock:
    """The rows of a problem that lie in one place, and where their margins are.

    Each method is a step that all blocks take at the same time; what they return is added up.
    Vectors of weights (m + 1,) have the weight of the constant feature last.
    """

    def __init__(self, design: Design, task: loops.Task, alpha: Floats | None = None):
        n = len(task.members)
        self.design = design
        self.task = task
        self.signs = task.signs.astype(np.float64)
        # C of each row: the bound of its variable, but for squared losses, which have none.
        squared = task.ridge > 0
        self.costs = np.where(squared, 1 / (2 * np.where(squared, task.ridge, 1)), task.upper)
        self.ridge = task.ridge
        self.centre = np.zeros(n)
        self.margins = np.zeros(n)
        self.margin_change = np.zeros(n)
        self.curvature = np.zeros(n)
        self.alpha = np.zeros(n) if alpha is None else alpha
        self.best_alpha = self.alpha

    def weights_of_duals(self, alpha: Floats) -> Floats:
        """Return Σ a_i s_i φ(x_i), (m + 1,)."""
        factors = alpha * self.signs
        return np.append(self.design.weighted_sum(factors), factors.sum() * self.task.bias)

    def start(self, weights: Floats) -> Start:
        """Score all rows."""
        task = self.task
        self.margins = self._scored(weights)
        excess = float(np.abs(self.margins - task.targets).sum())
        leverage = float(self.costs @ task.norms)
        return Start(len(self.margins), excess, leverage, float(task.norms.max()))

    def _scored(self, weights: Floats) -> Floats:
        return self.signs * (self.design.scores(weights[:-1]) + weights[-1] * self.task.bias)

    def keep_best(self) -> None:
        """Keep the dual variables: they are the best so far."""
        self.best_alpha = self.alpha.copy()

    def set_centres(self, band: float, least: float, from_best: bool) -> None:
        """Move the centres to the dual variables, or the best ones; the price is ``band / C``.

        With a ridge r of the loss itself, r a² / 2 + τ (a - ā)² / 2 is a parabola around
        ā τ / (r + τ), but for a constant.
        """
        price = np.maximum(band / self.costs, least)
        self.ridge = self.task.ridge + price
        self.centre = (self.best_alpha if from_best else self.alpha) * (price / self.ridge)

    def objectives(self) -> Objectives:
        """Return the sums over the rows where the margins are now."""
        task = self.task
        row_loops.dual_point(
            task, self.ridge, self.centre, self.margins, self.alpha, self.curvature
        )
        return Objectives(
            loops.total_loss(task, self.margins),
            loops.dual_value(task, self.alpha),
            self.weights_of_duals(self.alpha),
            int(np.count_nonzero(self.curvature)),
        )

    def curved(self) -> tuple[Floats, NDArray[np.intp]]:
        """Return D_i and the places of the rows where it is positive."""
        places = np.flatnonzero(self.curvature)
        return self.curvature[places], places

    def hessian(self) -> Floats:
        """Return the rows' part of the Hessian matrix, (m + 1, m + 1), up to the diagonal."""
        factors, places = self.curved()
        m, bias = self.design.n_weights, self.task.bias
        matrix = np.zeros((m + 1, m + 1))
        matrix[:m, :m] = self.design.second_moments(factors, places)
        matrix[m, :m] = bias * self.design.weighted_sum(self.curvature)
        matrix[m, m] = bias**2 * factors.sum()
        return matrix

    def block_places(self) -> list[NDArray[np.intp]]:
        """Return the weights of each block of :meth:`hessian_blocks`, (k, r)."""
        return [*self.design.block_places(), np.array([[self.design.n_weights]])]

    def hessian_blocks(self) -> list[Floats]:
        """Return the diagonal blocks of :meth:`hessian`, (k, r, r); the constant one's comes last.

        Blocks of the same size are together: there may be tens of thousands.
        """
        factors, places = self.curved()
        constant = np.full((1, 1, 1), self.task.bias**2 * factors.sum())
        return [*self.design.block_moments(factors, places), constant]

    def hessian_product(self, weights: Floats) -> Floats:
        """Return the rows' part of the Hessian matrix times a vector."""
        bias = self.task.bias
        curvature, places = self.curved()
        factors = curvature * (self.design.scores(weights[:-1], places) + weights[-1] * bias)
        return np.append(self.design.weighted_sum(factors, places), factors.sum() * bias)

    def set_direction(self, direction: Floats) -> None:
        """Score all rows with the weights of a direction."""
        self.margin_change = self._scored(direction)

    def derivatives(self, step: float) -> Derivatives:
        """Return the derivatives of the loss along the direction, ``step`` of the way."""
        arrays = self.task, self.ridge, self.centre, self.margins, self.margin_change
        return Derivatives(*row_loops.slope_along(*arrays, step))

    def move(self, step: float) -> None:
        """Go ``step`` of the way along the direction."""
        self.margins += step * self.margin_change


@dataclass
class NewtonResult:
    """The best weights (m + 1,), and the objectives of them and of the best dual variables."""

    weights: Floats
    primal: float
    dual: float
    passes: float
    steps: int

    @property
    def gap(self) -> float:
        """The duality gap, as a part of the primal objective."""
        return (self.primal - self.dual) / self.primal if self.primal > 0 else 0.0


class Blocks(Protocol):
    """The rows of a problem: all take a step, and what they return is added up."""

    n_weights: int

    @property
    def single(self) -> NewtonBlock | None:
        """The block, where all rows lie in this process."""

    def run(self, step: str, *shared: object) -> list:
        """Call a method of every `NewtonBlock`; return the results in their order."""


class OwnRows:
    """All rows of a problem in this process."""

    def __init__(self, block: NewtonBlock):
        self.single: NewtonBlock | None = block
        self.n_weights = block.design.n_weights

    def run(self, step: str, *shared: object) -> list:
        """Call a method of the block."""
        return [getattr(self.single, step)(*shared)]


def minimise(
    blocks: Blocks,
    weights: Floats,
    *,
    loss_kind: LossKind,
    tol: float,
    most_passes: float,
    report: Callable[[float, float], None] = lambda passes, gap: None,
) -> NewtonResult:
    """Minimise P from some weights (m + 1,), to a gap of ``tol`` of the objective.

    A pass scores all rows, or adds them up. Ends after ``most_passes``, or when rounding lets
    nothing improve.
    """
    with single_threaded_blas():
        return _Newton(blocks, weights, loss_kind, tol, most_passes, report).run()


class _Newton:
    """Weights on their way to the minimum."""

    def __init__(
        self,
        blocks: Blocks,
        weights: Floats,
        loss_kind: LossKind,
        tol: float,
        most_passes: float,
        report: Callable[[float, float], None],
    ):
        self.blocks = blocks
        self.loss_kind = loss_kind
        self.tol = tol
        self.most_passes = most_passes
        self.report = report
        self.passes = 0.0
        self.steps = 0
        self.weights = self.best_weights = weights
        self.primal, self.dual = np.inf, -np.inf  # the best ones

    def run(self) -> NewtonResult:
        starts = self.blocks.run("start", self.weights)
        self.passes += 1
        self.n_rows = sum(start.n_rows for start in starts)
        leverage = sum(start.leverage for start in starts) / self.n_rows
        least_price = _LEAST_RIDGE * max(start.largest_norm for start in starts)
        band = _FIRST_BAND * sum(start.excess for start in starts) / self.n_rows
        has_centres = self.loss_kind == "sharp"
        if has_centres:
            self.blocks.run("set_centres", band, least_price, False)
        n_idle, n_here, n_widened = 0, 0, 0
        gap_before = np.inf
        while True:
            sums = self._evaluate()
            gap = self.primal - self.dual
            self.report(self.passes, gap / self.primal if self.primal > 0 else 0.0)
            if gap <= self.tol * self.primal or self.passes >= self.most_passes:
                break
            gradient = self.weights - sums.dual_weights
            residual = gradient @ gradient / 2
            is_solved = residual <= _INEXACT * (self.gap_here - residual)
            is_stuck = n_here >= _MOST_STEPS
            if is_solved or is_stuck or not has_centres:
                n_idle = 0 if gap < (1 - _LEAST_GAIN) * gap_before else n_idle + 1
                gap_before = gap
            if n_idle >= _MOST_IDLE or (has_centres and is_stuck):
                # Rows become curved and straight again at every step: a wider band lets few do so.
                if n_widened >= _MOST_WIDENED or self.loss_kind == "logistic":
                    break
                n_widened += 1
                band = min(_WIDER * band, leverage) if has_centres else leverage
                has_centres = True
                n_idle, n_here = 0, 0
                self.blocks.run("set_centres", band, least_price, True)
                continue
            if has_centres and is_solved:
                band *= _NARROWER
                n_here = 0
                self.blocks.run("set_centres", band, least_price, False)
                continue
            self._step(gradient, sums.n_curved)
            n_here += 1
        return NewtonResult(self.best_weights, self.primal, self.dual, self.passes, self.steps)

    def _evaluate(self) -> Objectives:
        """Add up the rows; keep the best weights and dual variables."""
        sums = reduce(Objectives.plus, self.blocks.run("objectives"))
        self.passes += 1
        primal = self.weights @ self.weights / 2 + sums.loss
        dual = sums.dual - sums.dual_weights @ sums.dual_weights / 2
        self.gap_here = primal - dual
        if primal < self.primal:
            self.primal, self.best_weights = primal, self.weights
        if dual > self.dual:
            self.dual = dual
            self.blocks.run("keep_best")
        return sums

    def _step(self, gradient: Floats, n_curved: int) -> None:
        """Go along Newton's direction to where the objective is least."""
        direction = self._direction(-gradient, n_curved)
        self.blocks.run("set_direction", direction)
        self.passes += 1
        linear = self.weights @ direction
        square = direction @ direction
        first_slope = gradient @ direction
        step, low, high = 1.0, 0.0, np.inf
        for _ in range(_SEARCHES):
            derivatives = self.blocks.run("derivatives", step)
            slope = linear + step * square + sum(block.slope for block in derivatives)
            curvature = square + sum(block.curvature for block in derivatives)
            if abs(slope) <= _SLOPE_LEFT * abs(first_slope):
                break
            if slope < 0:
                low = step
            else:
                high = step
            step -= slope / curvature
            if not low < step < high:
                step = (low + high) / 2 if np.isfinite(high) else 2 * low
        self.blocks.run("move", step)
        self.weights = self.weights + step * direction
        self.steps += 1

    def _direction(self, vector: Floats, n_curved: int) -> Floats:
        """Return the inverse of the Hessian matrix times a vector."""
        m, single = self.blocks.n_weights, self.blocks.single
        direction = None
        moments_ns = 0.0 if single is None else single.design.moments_ns(n_curved)
        by_rows_ns = np.inf if single is None else _by_rows_ns(n_curved, m)
        if single is not None and by_rows_ns < _by_matrix_ns(m, moments_ns):
            direction = _by_rows(single, vector)
        elif m <= MOST_WEIGHTS:
            direction = _solved(sum(self.blocks.run("hessian")), vector)
        self.passes += 1
        if direction is None or not direction @ vector > 0:
            direction = self._by_conjugate_gradients(vector, n_curved)
        return direction

    def _by_conjugate_gradients(self, vector: Floats, n_curved: int) -> Floats:
        """Solve by products alone, preconditioned by the block of each feature."""
        preconditioner = _Preconditioner(
            self.blocks.run("block_places")[0], self.blocks.run("hessian_blocks")
        )
        solution, residual = np.zeros(len(vector)), vector.copy()
        preconditioned = preconditioner.solve(residual)
        direction, size = preconditioned, residual @ preconditioned
        first_size = size
        for _ in range(_MOST_CONJUGATE):
            product = direction + sum(self.blocks.run("hessian_product", direction))
            self.passes += 2 * n_curved / self.n_rows
            length = size / (direction @ product)
            solution += length * direction
            residual -= length * product
            preconditioned = preconditioner.solve(residual)
            size_before, size = size, residual @ preconditioned
            if size <= _CONJUGATE_RESIDUAL**2 * first_size:
                break
            direction = preconditioned + size / size_before * direction
        return solution


def kind_of(task: loops.Task) -> LossKind:
    """Return the kind of a task's loss."""
    if task.logistic:
        return "logistic"
    return "squared" if (task.ridge > 0).all() else "sharp"


def direction_ns(n_curved: int, n_weights: int, moments_ns: float) -> float:
    """Return about how long a direction takes, of so many rows with D_i > 0; infinity: too many."""
    return min(_by_matrix_ns(n_weights, moments_ns), _by_rows_ns(n_curved, n_weights))


def _by_matrix_ns(n_weights: int, moments_ns: float) -> float:
    if n_weights > MOST_WEIGHTS:
        return np.inf
    return moments_ns + n_weights**3 / 3 * _FACTOR_NS


def _by_rows_ns(n_curved: int, n_weights: int) -> float:
    if n_curved > MOST_WEIGHTS or n_curved * n_weights > _MOST_BAND_VALUES:
        return np.inf
    products = n_curved * n_weights * (COPY_NS + n_curved * LARGE_NS / 2)
    return products + n_curved**3 / 3 * _FACTOR_NS


def _by_rows(block: NewtonBlock, vector: Floats) -> Floats | None:
    """Solve in the number of the rows with D_i > 0, by the identity of Sherman and Morrison.

    With B the rows' features times √D: (I + B'B)⁻¹ = I - B'(I + BB')⁻¹ B.
    """
    factors, places = block.curved()
    features = np.empty((len(places), len(vector)))
    features[:, :-1] = block.design.expanded(places)
    features[:, -1] = block.task.bias
    features *= np.sqrt(factors)[:, None]
    inner = _solved(features @ features.T, features @ vector)
    return None if inner is None else vector - features.T @ inner


def _solved(matrix: Floats, vector: Floats) -> Floats | None:
    """Return (I + matrix)⁻¹ vector, of the matrix up to its diagonal; None: rounding forbids it."""
    diagonal = np.einsum("ii->i", matrix)
    diagonal += 1 + _ROUNDING * diagonal.max(initial=0)
    try:
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        return cho_solve(factor, vector, check_finite=False)
    except LinAlgError:
        return None


class _Preconditioner:
    """The inverse of I plus diagonal blocks, which are sums over blocks of rows."""

    def __init__(self, places: list[NDArray[np.intp]], summands: list[list[Floats]]):
        self.places = places
        self.inverse_factors: list[Floats] = []  # of Cholesky's, (k, r, r)
        for blocks in zip(*summands, strict=True):
            matrices = sum(blocks[1:], blocks[0].copy())
            diagonal = np.einsum("kii->ki", matrices)
            diagonal += 1 + _ROUNDING * diagonal.sum(axis=1, keepdims=True)
            self.inverse_factors.append(np.linalg.inv(np.linalg.cholesky(matrices)))

    def solve(self, vector: Floats) -> Floats:
        """Return the inverse times a vector."""
        solution = np.empty_like(vector)
        for places, inverse in zip(self.places, self.inverse_factors, strict=True):
            halfway = np.einsum("kij,kj->ki", inverse, vector[places])
            solution[places] = np.einsum("kji,kj->ki", inverse, halfway)
        return solution
