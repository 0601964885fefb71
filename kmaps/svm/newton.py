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
centres, with a smaller δ: near the end few rows are left in the band, and δ need not go to 0.

Certificate: :math:`a_i = -\ell_i'(z_i)` is feasible in the dual of the loss itself, and the gap
P(w) - D(a) is exact.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from threading import Lock
from typing import NamedTuple, Protocol

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
_MOST_IDLE = 6  # sets of centres in a row that improve nothing; of a smooth loss, points
_LEAST_GAIN = 1e-3  # part of the gap
_ROUNDING = 1e-13
_MOST_CONJUGATE = 200  # conjugate gradients of a step
_CONJUGATE_RESIDUAL = 0.05


_blas_lock = Lock()
_blas_users: list[threadpool_limits] = []


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread, so that its bits do not depend on their number.

    The limit is of the process: it ends with the last of the blocks that overlap.
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
    """What the rows are like where a solution begins."""

    n_rows: int
    excess: float  # the sum of the absolute excesses
    largest_norm: float  # the largest squared norm of a row


class Point(NamedTuple):
    """The sums over rows at a point: they add up over blocks of rows."""

    loss: float  # of the task itself
    dual: float  # Σ target_i a_i - cost_i(a_i), without |w(a)|² / 2
    by_features: Floats  # Σ a_i s_i φ(x_i), (m,)
    by_constant: float  # Σ a_i s_i times the bias
    n_curved: int  # rows with D_i > 0

    def plus(self, other: "Point") -> "Point":
        """Return the sums over both blocks of rows."""
        return Point(
            self.loss + other.loss,
            self.dual + other.dual,
            self.by_features + other.by_features,
            self.by_constant + other.by_constant,
            self.n_curved + other.n_curved,
        )


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

    def block_moments(self, factors: Floats, places: NDArray[np.intp]) -> list[Floats]:
        """Return the diagonal blocks of :meth:`second_moments`, feature by feature."""


class NewtonBlock:
    """The rows of a problem that lie in one place, and where their margins are.

    Each method is a step that all blocks take at the same time; what they return is added up.
    """

    def __init__(self, design: Design, task: loops.Task, alpha: Floats | None = None):
        n = len(task.members)
        self.design, self.task = design, task
        self.signs = task.signs.astype(np.float64)
        self.margins, self.change = np.zeros(n), np.zeros(n)
        self.ridge = task.ridge
        self.centre = np.zeros(n)
        self.alpha = self.best = np.zeros(n) if alpha is None else alpha
        self.curvature = np.zeros(n)

    def weights_of_duals(self, alpha: Floats) -> tuple[Floats, float]:
        """Return Σ a_i s_i φ(x_i), and the part of the constant feature."""
        factors = alpha * self.signs
        return self.design.weighted_sum(factors), float(factors.sum() * self.task.bias)

    def begin(self, weights: Floats, constant: float) -> Start:
        """Score all rows."""
        task = self.task
        self.margins = self.signs * (self.design.scores(weights) + constant * task.bias)
        excess = float(np.abs(self.margins - task.targets).sum())
        return Start(len(self.margins), excess, float(task.norms.max()))

    def keep(self) -> None:
        """Keep the dual variables: they are the best so far."""
        self.best = self.alpha.copy()

    def blocks(self) -> list[Floats]:
        """Return the diagonal blocks of :meth:`hessian`: of each feature, and the constant one."""
        factors, places = self.curved()
        constant = np.full((1, 1), self.task.bias**2 * factors.sum())
        return [*self.design.block_moments(factors, places), constant]

    def smooth(self, band: float, least: float) -> None:
        """Move the centres to the dual variables, and set the ridge to ``band / C``."""
        self.centre = self.alpha.copy()
        self.ridge = np.maximum(band / self.task.upper, least)

    def point(self) -> Point:
        """Return the sums over the rows where the margins are now."""
        task = self.task
        row_loops.dual_point(
            task, self.ridge, self.centre, self.margins, self.alpha, self.curvature
        )
        by_features, by_constant = self.weights_of_duals(self.alpha)
        return Point(
            loops.total_loss(task, self.margins),
            loops.dual_value(task, self.alpha),
            by_features,
            by_constant,
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

    def product(self, weights: Floats, constant: float) -> tuple[Floats, float]:
        """Return the rows' part of the Hessian matrix times a vector."""
        bias = self.task.bias
        curvature, places = self.curved()
        factors = curvature * (self.design.scores(weights, places) + constant * bias)
        return self.design.weighted_sum(factors, places), float(factors.sum() * bias)

    def look(self, weights: Floats, constant: float) -> None:
        """Take the direction with these weights."""
        self.change = self.signs * (self.design.scores(weights) + constant * self.task.bias)

    def slope(self, step: float) -> tuple[float, float]:
        """Return the loss's slope along the direction, and its own slope."""
        arrays = self.task, self.ridge, self.centre, self.margins, self.change
        slope, curvature = row_loops.slope_along(*arrays, step)
        return slope, curvature

    def move(self, step: float) -> None:
        """Go ``step`` of the way along the direction."""
        self.margins += step * self.change


@dataclass
class NewtonResult:
    """The best weights, and the objectives of them and of the blocks' best dual variables."""

    weights: Floats
    constant: float
    primal: float
    dual: float
    passes: float
    steps: int


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
    constant: float,
    *,
    smooth: bool,
    tol: float,
    most_passes: float,
    report: Callable[[float, float], None] = lambda passes, gap: None,
) -> NewtonResult:
    """Minimise P from some weights, to a gap of ``tol`` of the objective.

    ``smooth`` says that the loss has a second derivative almost everywhere; else it is the hinge or
    the ε-insensitive loss. A pass scores all rows, or adds them up. Ends after ``most_passes``, or
    when rounding lets nothing improve.
    """
    with single_threaded_blas():
        return _Newton(blocks, weights, constant, smooth, tol, most_passes, report).run()


class _Newton:
    """Weights on their way to the minimum."""

    def __init__(
        self,
        blocks: Blocks,
        weights: Floats,
        constant: float,
        smooth: bool,
        tol: float,
        most_passes: float,
        report: Callable[[float, float], None],
    ):
        self.blocks, self.smooth, self.tol = blocks, smooth, tol
        self.weights, self.constant = weights, constant
        self.most_passes, self.report = most_passes, report
        self.passes, self.steps = 0.0, 0
        self.best_weights, self.best_constant = weights, constant
        self.primal, self.dual = np.inf, -np.inf

    def run(self) -> NewtonResult:
        starts = self.blocks.run("begin", self.weights, self.constant)
        self.passes += 1
        self.n_rows = sum(start.n_rows for start in starts)
        band = _FIRST_BAND * sum(start.excess for start in starts) / self.n_rows
        least = _LEAST_RIDGE * max(start.largest_norm for start in starts)
        if not self.smooth:
            self.blocks.run("smooth", band, least)
        idle, here, before = 0, 0, np.inf
        while True:
            point = self._look()
            gap = self.primal - self.dual
            self.report(self.passes, gap / self.primal if self.primal > 0 else 0.0)
            if gap <= self.tol * self.primal or self.passes >= self.most_passes:
                break
            slope = self.weights - point.by_features
            slope_constant = self.constant - point.by_constant
            residual = (slope @ slope + slope_constant**2) / 2
            solved = residual <= _INEXACT * (self.gap_here - residual)
            if self.smooth or solved or here >= _MOST_STEPS:
                idle = 0 if gap < (1 - _LEAST_GAIN) * before else idle + 1
                if idle >= _MOST_IDLE:
                    break
                before = gap
            if not self.smooth and (solved or here >= _MOST_STEPS):
                band *= _NARROWER
                here = 0
                self.blocks.run("smooth", band, least)
                continue
            self._step(slope, slope_constant, point.n_curved)
            here += 1
        return NewtonResult(
            self.best_weights,
            self.best_constant,
            self.primal,
            self.dual,
            self.passes,
            self.steps,
        )

    def _look(self) -> Point:
        """Add up the rows; keep the best weights and dual variables."""
        point = reduce(Point.plus, self.blocks.run("point"))
        self.passes += 1
        square = self.weights @ self.weights + self.constant**2
        dual_square = point.by_features @ point.by_features + point.by_constant**2
        primal, dual = square / 2 + point.loss, point.dual - dual_square / 2
        self.gap_here = primal - dual
        if primal < self.primal:
            self.primal = primal
            self.best_weights, self.best_constant = self.weights.copy(), self.constant
        if dual > self.dual:
            self.dual = dual
            self.blocks.run("keep")
        return point

    def _step(self, slope: Floats, slope_constant: float, n_curved: int) -> None:
        """Go along Newton's direction to where the objective is least."""
        direction, constant = self._direction(-slope, -slope_constant, n_curved)
        self.blocks.run("look", direction, constant)
        self.passes += 1
        linear = self.weights @ direction + self.constant * constant
        square = direction @ direction + constant**2
        step, low, high = 1.0, 0.0, np.inf
        first = slope @ direction + slope_constant * constant
        for _ in range(_SEARCHES):
            parts = self.blocks.run("slope", step)
            here = linear + step * square + sum(part[0] for part in parts)
            curvature = square + sum(part[1] for part in parts)
            if abs(here) <= _SLOPE_LEFT * abs(first):
                break
            if here < 0:
                low = step
            else:
                high = step
            step -= here / curvature
            if not low < step < high:
                step = (low + high) / 2 if np.isfinite(high) else 2 * low
        self.blocks.run("move", step)
        self.weights = self.weights + step * direction
        self.constant += step * constant
        self.steps += 1

    def _direction(self, weights: Floats, constant: float, n_curved: int) -> tuple[Floats, float]:
        """Return the inverse of the Hessian matrix times a vector."""
        m, single = self.blocks.n_weights, self.blocks.single
        vector = np.append(weights, constant)
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
        return direction[:-1], float(direction[-1])

    def _by_conjugate_gradients(self, vector: Floats, n_curved: int) -> Floats:
        """Solve by products alone, preconditioned by the block of each feature."""
        factors = _block_factors(self.blocks.run("blocks"))
        solution, rest = np.zeros(len(vector)), vector.copy()
        ready = _precondition(factors, rest)
        direction, size = ready, rest @ ready
        first = size
        for _ in range(_MOST_CONJUGATE):
            products = self.blocks.run("product", direction[:-1], float(direction[-1]))
            self.passes += 2 * n_curved / self.n_rows
            curved = direction + sum(np.append(*product) for product in products)
            length = size / (direction @ curved)
            solution += length * direction
            rest -= length * curved
            ready = _precondition(factors, rest)
            before, size = size, rest @ ready
            if size <= _CONJUGATE_RESIDUAL**2 * first:
                break
            direction = ready + size / before * direction
        return solution


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


def _block_factors(parts: list[list[Floats]]) -> list[tuple]:
    """Return the Cholesky factors of I plus the sums of the blocks of all features."""
    factors = []
    for own in zip(*parts, strict=True):
        block = np.eye(len(own[0])) + sum(own)
        block += np.eye(len(block)) * _ROUNDING * np.trace(block)
        factors.append(cho_factor(block, lower=True, check_finite=False))
    return factors


def _precondition(factors: list[tuple], vector: Floats) -> Floats:
    out, place = np.empty_like(vector), 0
    for factor in factors:
        stop = place + len(factor[0])
        out[place:stop] = cho_solve(factor, vector[place:stop], check_finite=False)
        place = stop
    return out
