"""One problem of two classes whose features come in groups, each kept or dropped as a whole.

A hinge loss is the largest of a·(1 - m) over the slopes 0 ≤ a ≤ C; the dual problem asks for the
slopes: to maximise their sum where no group of columns has a product with them longer than 1. Any
slopes, scaled until that holds, bound the objective from below; that bound says when to stop. The
hinge has a corner, at which descending group by group can stick. It is rounded around the slopes
found so far, then around those that this gives: the proximal point method on the dual, whose limit
is the hinge itself.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kmaps.svm.grouplasso.steps import Losses, WorkingGroups, group_lengths
from kmaps.svm.losses import Loss

_ROUNDED = 2.0  # times C: the steepness of the rounded hinge's slope, from 1/2 before the corner
_FEWEST = 100  # columns, in at most half as many groups, that may be added at a time


class Columns(Protocol):
    """The features of all samples, of which few are ever needed one by one."""

    @property
    def dtype(self) -> np.dtype:
        """Of :meth:`take`."""

    def __len__(self) -> int: ...

    def products(self, values: NDArray) -> NDArray:
        """Return the product of every column with ``values`` (n,)."""

    def take(self, members: NDArray[np.intp]) -> NDArray:
        """Return some columns, as the rows (k, n) of an array."""


@dataclass(frozen=True)
class DenseColumns:
    """Columns that are there, as the rows of an array (d, n)."""

    values: NDArray

    @property
    def dtype(self) -> np.dtype:
        """Of the values."""
        return self.values.dtype

    def __len__(self) -> int:
        return len(self.values)

    def products(self, values: NDArray) -> NDArray:
        """Return the product of every column with ``values`` (n,)."""
        return self.values @ values

    def take(self, members: NDArray[np.intp]) -> NDArray:
        """Return some columns, as the rows (k, n) of an array."""
        return self.values[members]


@dataclass(frozen=True)
class Fit:
    """Weights and how good they are.

    Attributes
    ----------
    weights : ndarray of float64, shape (d + 1,)
        That of the bias last.
    margins : ndarray of float64, shape (n,)
        y·f(x) of each sample.
    objective : float
    gap : float
        How far the objective may be from its optimum, as a part of it.
    n_rounds : int
    """

    weights: NDArray[np.float64]
    margins: NDArray[np.float64]
    objective: float
    gap: float
    n_rounds: int


class GroupProblem:
    """The columns of the samples, in groups of ``size``, and what each sample's loss is.

    ``weights`` (d + 1,) is where to begin.
    """

    def __init__(
        self,
        columns: Columns,
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
            self._begin_at(weights)
        ridge, cap = loss.ridge(costs), loss.high(costs)
        self.has_corner = not ridge.any()
        steep = _ROUNDED * costs if self.has_corner else 1 / ridge
        self.losses = Losses(np.zeros(len(signs)), steep, cap)

    def _begin_at(self, weights: NDArray[np.float64]) -> None:
        self.weights[:] = weights
        used = np.flatnonzero(weights[:-1])
        own = self.weights[used].astype(self.columns.dtype)
        self.margins += self.signs * (own @ self.columns.take(used))
        self.margins += self.constant * self.weights[-1]

    def solve(self, tol: float, max_iter: int) -> Fit:
        """Descend until the gap is closed, on the groups in use and those that want to be."""
        for n_rounds in range(1, max_iter + 1):
            slopes = self.losses.slopes(self.margins)
            signed = slopes.astype(self.columns.dtype)
            products = np.r_[self.columns.products(signed * self.signs), self.constant @ signed]
            lengths = group_lengths(products, self.starts)
            objective, gap = self._gap(slopes, lengths)
            if gap <= tol:
                break
            if self.has_corner and n_rounds > 1:
                self.losses.centre = slopes
            self._descend(lengths)
        return Fit(self.weights, self.margins, objective, gap, n_rounds)

    def _descend(self, lengths: NDArray) -> None:
        """Descend on the groups in use, and on no more others, those that want to be the most."""
        chosen = group_lengths(self.weights, self.starts) > 0
        wanted = np.flatnonzero(~chosen & (lengths > 1))
        most = max(self.fewest, np.count_nonzero(chosen))
        chosen[wanted[np.argsort(-lengths[wanted])[:most]]] = True
        chosen[-1] = True
        sizes = np.diff(self.starts)
        members = np.flatnonzero(np.repeat(chosen, sizes))
        part = np.vstack([self.columns.take(members[:-1]) * self.signs, self.constant])
        starts = np.r_[0, np.cumsum(sizes[chosen])]
        working = WorkingGroups(part, starts, self.weights[members], self.margins, self.losses)
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
