"""One problem of two classes whose features come in groups, each kept or dropped as a whole.

A hinge loss is the largest of a·(1 - m) over the slopes 0 ≤ a ≤ C; the dual problem asks for the
slopes: to maximise their sum where no group of columns has a product with them longer than 1. Any
slopes, scaled until that holds, bound the objective from below; that bound says when to stop. The
hinge has a corner, at which descending group by group can stick. It is rounded around the slopes
found so far, then around those that this gives: the proximal point method on the dual, whose limit
is the hinge itself.

A round lowers, over the weights w of some of the groups,

    sum over groups g of |w_g|  +  sum over rows i of phi_i(m_i),    m_i = sign_i * x_i'w,
    phi_i(m) = max over 0 <= a <= cap_i of  a * (1 - m) - (a - centre_i)^2 / (2 * steep_i),

where |.| is the Euclidean norm. The maximum is at a = centre_i + steep_i * (1 - m), moved into its
range: minus the slope of a rounded hinge. With centre 0, no cap, steep 2C, phi is C hinge².

A few sweeps over the groups, on the quadratic model of the losses here, find the groups that have
weights and those that have none; but they creep where columns are much alike. Where a group has
weights its length is smooth, so that Newton's method then finishes: it takes all those groups at
once, and drops a group whose direction it would reverse.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kmaps._loops.groups import descend_groups
from kmaps.svm.losses import Loss

_SWEEPS = 5
_STRAIGHT = 1e-3  # part of a row's curvature that a straight loss gets, because it may bend
_HALVINGS = 15
_ROUNDS = 8


def group_lengths(values: NDArray, starts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the Euclidean length of the values of each group."""
    return np.sqrt(np.add.reduceat(values.astype(float) ** 2, starts[:-1]))


@dataclass
class RoundedLosses:
    """The losses of the rows: arrays of shape (n,)."""

    centre: NDArray[np.float64]
    steep: NDArray[np.float64]
    cap: NDArray[np.float64]

    def slopes(self, margins: NDArray) -> NDArray:
        """Return a, which is minus the slope of each phi."""
        return np.clip(self.centre + self.steep * (1 - margins), 0, self.cap)

    def curvature(self, margins: NDArray) -> NDArray:
        """Return the second derivative of each phi, a little where it is none."""
        raw = self.centre + self.steep * (1 - margins)
        return np.where((raw > 0) & (raw < self.cap), 1, _STRAIGHT) * self.steep

    def total(self, margins: NDArray) -> float:
        """Return the sum of all phi."""
        a = self.slopes(margins)
        return float((a * (1 - margins) - (a - self.centre) ** 2 / (2 * self.steep)).sum())


class WorkingGroups:
    """Some groups, all others without weights.

    ``columns`` (k, n) are the groups' columns times the signs of the rows, as rows of the array;
    group g has rows ``starts[g]`` to ``starts[g + 1]``. ``weights`` and ``margins`` are the start.
    """

    def __init__(
        self,
        columns: NDArray,
        starts: NDArray[np.intp],
        weights: NDArray[np.float64],
        margins: NDArray[np.float64],
        losses: RoundedLosses,
    ):
        self.columns, self.starts, self.losses = columns, starts, losses
        self.group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        self.weights, self.margins = weights, margins
        self.objective = self._at(weights)[2]
        self.curved = np.zeros(columns.shape[1])
        self.gram = np.zeros((len(columns), len(columns)), columns.dtype)

    def descend(self) -> None:
        """Lower the objective until a round gains a tenth of the best round's gain."""
        best = 0.0
        for _ in range(_ROUNDS):
            before = self.objective
            self._bend()
            swept = self.weights.copy()
            descend_groups(self.gram, self.starts, self._gradient(), swept, _SWEEPS)
            self._move(swept - self.weights)
            self._move(self._newton())
            best = max(best, before - self.objective)
            if before - self.objective <= 0.1 * best:
                break

    def _at(self, weights: NDArray) -> tuple[NDArray, NDArray, float]:
        """Return some weights, the margins and the objective there.

        Margins are float64, of which only the change is a product in float32: a group that comes in
        gains less than margins in float32 resolve.
        """
        change = (weights - self.weights).astype(self.columns.dtype)
        margins = self.margins + change @ self.columns
        objective = self.losses.total(margins) + group_lengths(weights, self.starts).sum()
        return weights, margins, objective

    def _gradient(self) -> NDArray:
        """Return the gradient of the losses alone."""
        slopes = self.losses.slopes(self.margins).astype(self.columns.dtype)
        return -(self.columns @ slopes).astype(float)

    def _bend(self) -> None:
        """Bring the Hessian of the losses up to date, by the rows whose curvature changed."""
        curved = self.losses.curvature(self.margins)
        rows = np.flatnonzero(curved != self.curved)
        changed = self.columns[:, rows]
        change = (curved - self.curved)[rows].astype(changed.dtype)
        self.gram += (changed * change) @ changed.T
        self.curved = curved

    def _newton(self) -> NDArray:
        """Return Newton's step for the groups that have weights."""
        step = np.zeros(len(self.weights))
        lengths = group_lengths(self.weights, self.starts)[self.group]
        used = np.flatnonzero(lengths)
        if not len(used):
            return step
        unit, lengths = self.weights[used] / lengths[used], lengths[used]
        hessian = self.gram[np.ix_(used, used)].astype(float)
        diagonal = np.einsum("ii->i", hessian)
        # Rounding of the Gram matrix must not make it indefinite.
        diagonal += len(used) * np.finfo(self.gram.dtype).eps * diagonal.mean() + 1 / lengths
        group = self.group[used]
        for apart in range(np.diff(self.starts).max()):
            c = np.flatnonzero(group[apart:] == group[: len(group) - apart])
            hessian[c + apart, c] -= unit[c] * unit[c + apart] / lengths[c]
        try:
            factor = cho_factor(hessian, lower=True, overwrite_a=True)
        except LinAlgError:  # equal features: only sweeps continue
            return step
        step[used] = -cho_solve(factor, self._gradient()[used] + unit)
        return step

    def _move(self, step: NDArray) -> None:
        """Go along a step as far as the objective falls, groups that reverse to 0."""
        used = group_lengths(self.weights, self.starts) > 0
        for _ in range(_HALVINGS):
            weights = self.weights + step
            turned = np.add.reduceat(weights * self.weights, self.starts[:-1]) <= 0
            weights[(used & turned)[self.group]] = 0
            reached = self._at(weights)
            if reached[2] < self.objective:
                self.weights, self.margins, self.objective = reached
                break
            step = step / 2


_ROUNDED = 2.0  # times C: how steep the rounded hinge's slope is, from 1/2 before the corner
_FEWEST = 100  # columns that may always be added at a time, in at most half as many groups


class FeatureColumns(Protocol):
    """The columns of all samples as the rows of an array (d, n), or of a similar object."""

    @property
    def dtype(self) -> np.dtype:
        """The type of the values."""

    def __len__(self) -> int: ...

    def __matmul__(self, values: NDArray) -> NDArray: ...

    def __getitem__(self, members: NDArray[np.intp]) -> NDArray: ...


@dataclass(frozen=True)
class GroupSolution:
    """Weights and how good they are."""

    weights: NDArray[np.float64]  # (d + 1,): the weight of the bias last
    margins: NDArray[np.float64]  # (n,): y·f(x) of each sample
    objective: float
    gap: float  # the largest distance of the objective from its optimum, as a part of it
    n_rounds: int


class GroupProblem:
    """The columns of the samples, in groups of ``size``, and each sample's loss.

    ``weights`` (d + 1,) is where to begin.
    """

    def __init__(
        self,
        columns: FeatureColumns,
        size: int,
        bias: float,
        signs: NDArray,
        costs: NDArray,
        loss: Loss,
        weights: NDArray[np.float64] | None = None,
    ):
        self.columns, self.costs, self.loss = columns, costs, loss
        self.signs = signs.astype(columns.dtype)
        self.constant = bias * self.signs
        self.starts = np.r_[np.arange(0, len(columns), size), len(columns), len(columns) + 1]
        self.fewest = max(4, min(_FEWEST // 2, _FEWEST // size))
        self.weights = np.zeros(len(columns) + 1)
        self.margins = np.zeros(len(signs))
        if weights is not None:
            self.weights[:] = weights
            used = np.flatnonzero(weights[:-1])
            own = self.weights[used].astype(columns.dtype)
            self.margins += self.signs * (own @ columns[used])
            self.margins += self.constant * self.weights[-1]
        ridge, cap = loss.ridge(costs), loss.high(costs)
        self.has_corner = not ridge.any()
        steep = _ROUNDED * costs if self.has_corner else 1 / ridge
        self.losses = RoundedLosses(np.zeros(len(signs)), steep, cap)

    def solve(self, tol: float, max_iter: int) -> GroupSolution:
        """Descend until the gap is closed, on the groups in use and those that want to be."""
        for n_rounds in range(1, max_iter + 1):
            slopes = self.losses.slopes(self.margins)
            signed = slopes.astype(self.columns.dtype)
            products = np.r_[self.columns @ (signed * self.signs), self.constant @ signed]
            lengths = group_lengths(products, self.starts)
            objective, gap = self._gap(slopes, lengths)
            if gap <= tol:
                break
            if self.has_corner and n_rounds > 1:
                self.losses.centre = slopes
            self._descend(lengths)
        return GroupSolution(self.weights, self.margins, objective, gap, n_rounds)

    def _descend(self, lengths: NDArray) -> None:
        """Descend on the groups in use, and on no more others, those that want to be the most."""
        chosen = group_lengths(self.weights, self.starts) > 0
        wanted = np.flatnonzero(~chosen & (lengths > 1))
        most = max(self.fewest, np.count_nonzero(chosen))
        chosen[wanted[np.argsort(-lengths[wanted])[:most]]] = True
        chosen[-1] = True
        sizes = np.diff(self.starts)
        members = np.flatnonzero(np.repeat(chosen, sizes))
        columns = np.vstack([self.columns[members[:-1]] * self.signs, self.constant])
        starts = np.r_[0, np.cumsum(sizes[chosen])]
        working = WorkingGroups(columns, starts, self.weights[members], self.margins, self.losses)
        working.descend()
        self.weights[members], self.margins = working.weights, working.margins

    def _gap(self, slopes: NDArray, lengths: NDArray) -> tuple[float, float]:
        """Return the objective, and how far it may be from its optimum, as a part of it."""
        penalty = group_lengths(self.weights, self.starts).sum()
        objective = penalty + self.loss.cost(self.margins - 1, self.costs).sum()
        scale, total = 1 / max(lengths.max(), 1), slopes.sum()
        square = self.loss.conjugate(slopes, self.costs).sum()
        if square:
            scale = min(scale, total / (2 * square))
        return objective, (objective - scale * total + scale**2 * square) / objective
