"""Steps that lower a hinge loss plus the lengths of groups of weights, on some of the groups.

The problem is to minimise over w

    sum over groups g of |w_g|  +  sum over rows i of phi_i(m_i),    m_i = sign_i * x_i'w,
    phi_i(m) = max over 0 <= a <= cap_i of  a * (1 - m) - (a - centre_i)^2 / (2 * steep_i),

where |.| is the Euclidean norm. The maximum is at a = centre_i + steep_i * (1 - m), moved into its
range: minus the slope of a rounded hinge. With centre 0, no cap and steep 2C, phi is C times the
squared hinge.

A few sweeps over the groups, on the quadratic model of the losses here, find the groups that have
weights and those that have none; but they creep where columns are much alike. Where a group has
weights its length is smooth, so that Newton's method then finishes: it takes all those groups at
once, and drops a group that it would turn round.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from kmaps._loops.groups import descend_groups

_SWEEPS = 5
_STRAIGHT = 1e-3  # of the curvature that a row would have, where its loss is straight: it may bend
_HALVINGS = 15
_ROUNDS = 8


def group_lengths(values: NDArray, starts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the Euclidean length of the values of each group."""
    return np.sqrt(np.add.reduceat(values.astype(float) ** 2, starts[:-1]))


@dataclass
class Losses:
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

    Parameters
    ----------
    columns : ndarray, shape (k, n)
        The groups' columns times the signs of the rows, as the rows of this array.
    starts : ndarray of intp, shape (groups + 1,)
        Where each group begins, and k.
    weights, margins : ndarray of float64, shapes (k,) and (n,)
        Where to begin.
    losses : Losses
    """

    def __init__(
        self,
        columns: NDArray,
        starts: NDArray[np.intp],
        weights: NDArray[np.float64],
        margins: NDArray[np.float64],
        losses: Losses,
    ):
        self.columns, self.starts, self.losses = columns, starts, losses
        self.group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        self.weights, self.margins = weights, margins
        self.objective = self._at(weights)[2]
        self.curved = np.zeros(columns.shape[1])
        self.gram = np.zeros((len(columns), len(columns)), columns.dtype)

    def descend(self) -> None:
        """Lower the objective until a round gains a tenth of what the best one did."""
        best = 0.0
        for _ in range(_ROUNDS):
            before = self.objective
            self._bend()
            self._move(self._swept())
            self._move(self._newton())
            best = max(best, before - self.objective)
            if before - self.objective <= 0.1 * best:
                break

    def _at(self, weights: NDArray) -> tuple[NDArray, NDArray, float]:
        """Return some weights, the margins and the objective there.

        Margins are float64, of which only the change is a product in float32: a group that comes in
        gains less than margins in float32 would tell.
        """
        change = (weights - self.weights).astype(self.columns.dtype)
        margins = self.margins + change @ self.columns
        return (
            weights,
            margins,
            self.losses.total(margins) + group_lengths(weights, self.starts).sum(),
        )

    def _gradient(self) -> NDArray:
        """Return the gradient of the losses alone."""
        slopes = self.losses.slopes(self.margins).astype(self.columns.dtype)
        return -(self.columns @ slopes).astype(float)

    def _bend(self) -> None:
        """Bring the Hessian of the losses up to date, by the rows whose curvature changed."""
        curved = self.losses.curvature(self.margins)
        rows = np.flatnonzero(curved != self.curved)
        part = self.columns[:, rows]
        change = (curved - self.curved)[rows].astype(part.dtype)
        self.gram += (part * change) @ part.T
        self.curved = curved

    def _swept(self) -> NDArray:
        weights = self.weights.copy()
        descend_groups(self.gram, self.starts, self._gradient(), weights, _SWEEPS)
        return weights - self.weights

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
        factor = cho_factor(hessian, lower=True, overwrite_a=True)
        step[used] = -cho_solve(factor, self._gradient()[used] + unit)
        return step

    def _move(self, step: NDArray) -> None:
        """Go along a step as far as the objective falls, groups that turn round to 0."""
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
