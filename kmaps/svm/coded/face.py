"""Conjugate gradients on the free variables: what coordinate descent creeps along at a large C.

Between two changes of which variables are at a bound, the dual is a parabola in the others. Its
maximum is where coordinate descent goes, in as many passes as the parabola is long and narrow;
conjugate gradients take the square root of that. The step that they find is cut at the bounds, and
shortened until the dual grows (Moré and Toraldo, SIAM J. Optimization 1991).
"""

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import train as loops
from kmaps._loops.vectors import aligned_zeros
from kmaps.svm.coded.crew import Crew

_AFTER = 10  # passes of coordinate descent, which finds the variables at bounds
_PAUSE, _COSTS = 5, 2  # passes, and costs, after a climb that gained less than descent would have
_STEPS = 12  # of conjugate gradients
_ENOUGH = 1e-2  # of the first residual
_CUT = 0.05  # of a step's square that the bounds may take; a longer one would not do what it says
_TRIALS = 3  # of a step, each a quarter of the one before
_MOST = _STEPS + _TRIALS + 1  # evaluations of a free member


class Climber:
    """Takes turns with coordinate descent as long as it gains more of the dual for its work."""

    def __init__(self, crew: Crew, task: loops.Task):
        self.crew, self.task, self.n = crew, task, len(task.members)
        self.due = _AFTER * self.n

    def climb(
        self,
        spent: int,
        most: int,
        rate: float,
        alpha: NDArray[np.float64],
        weights: NDArray[np.float32],
        constant: float,
    ) -> tuple[float, float, int]:
        """Move variables and weights, if it is time.

        Parameters
        ----------
        spent, most : int
            Evaluations so far, and at most.
        rate : float
            What coordinate descent gained of the dual for each of its last ones.
        alpha, weights, constant
            Where it is.

        Returns
        -------
        constant, gain, evaluations
            No evaluations: it is not time.
        """
        if spent < self.due or self.task.logistic:  # whose dual is no parabola
            return constant, 0.0, 0
        face = Face(self.crew, self.task, alpha)
        if len(face.free) < 2 or spent + _MOST * len(face.free) > most:
            return constant, 0.0, 0
        constant, gain = face.climb(weights, constant)
        alpha[face.free] = face.alpha
        good = gain > face.evaluations * rate
        pause = max(_PAUSE * self.n, _COSTS * face.evaluations)
        self.due = spent + face.evaluations + (0 if good else pause)
        return constant, gain, face.evaluations


class Face:
    """The variables of a task that are at no bound, and what changes with them.

    Attributes
    ----------
    free : ndarray of intp
        Which members they are of.
    alpha : ndarray of float64
        Their variables.
    evaluations : int
        How many rows were evaluated.
    """

    def __init__(self, crew: Crew, task: loops.Task, alpha: NDArray[np.float64]):
        self.crew = crew
        self.free = np.flatnonzero((alpha != 0) & (np.abs(alpha) < task.upper))
        self.task = task._replace(
            members=task.members[self.free],
            signs=task.signs[self.free],
            norms=task.norms[self.free],
            targets=task.targets[self.free],
            upper=task.upper[self.free],
            ridge=task.ridge[self.free],
        )
        self.alpha = alpha[self.free]
        self.evaluations = 0

    def climb(self, weights: NDArray[np.float32], constant: float) -> tuple[float, float]:
        """Move the variables and the weights; return the new constant and what the dual gained."""
        values = self._margins(weights, constant)
        slopes = self.task.targets - values - self.task.ridge * self.alpha
        slopes -= self.task.epsilon * np.sign(self.alpha)
        change = aligned_zeros(len(weights))
        low = np.where(self.alpha > 0, 0, -self.task.upper)
        high = np.where(self.alpha > 0, self.task.upper, 0)
        wanted = self._conjugate_gradients(slopes, change, low, high)
        for _ in range(_TRIALS):
            step = np.clip(self.alpha + wanted, low, high) - self.alpha
            of_constant, curved = self._product(step, change)
            gain = float(np.sum(step * (slopes - curved / 2)))
            if gain > 0:
                weights += change
                self.alpha += step
                return constant + of_constant, gain
            wanted = wanted / 4
        return constant, 0.0

    def _conjugate_gradients(
        self, slopes: NDArray, change: NDArray, low: NDArray, high: NDArray
    ) -> NDArray[np.float64]:
        """Return about the step to where the parabola is highest, without the bounds."""
        diagonal = self.task.norms + self.task.ridge
        step, rest = np.zeros(len(slopes)), slopes.copy()
        direction = rest / diagonal
        size = first = float(np.sum(rest * direction))
        for _ in range(_STEPS):
            curved = self._product(direction, change)[1]
            length = size / float(np.sum(direction * curved))
            step += length * direction
            rest -= length * curved
            size, before = float(np.sum(rest**2 / diagonal)), size
            cut = np.clip(self.alpha + step, low, high) - self.alpha - step
            is_cut = np.sum(cut**2 * diagonal) > _CUT * np.sum(step**2 * diagonal)
            if is_cut or size <= _ENOUGH**2 * first:
                break
            direction = rest / diagonal + size / before * direction
        return step

    def _product(self, step: NDArray, change: NDArray) -> tuple[float, NDArray[np.float64]]:
        """Set ``change`` to the weights of a step; return their constant and what it bends."""
        constant = self.crew.rebuild(self.task, step, change)
        return constant, self._margins(change, constant) + self.task.ridge * step

    def _margins(self, weights: NDArray, constant: float) -> NDArray[np.float64]:
        self.evaluations += len(self.free)
        margins = np.empty(len(self.free))
        self.crew.margins(self.task, weights, constant, margins)
        return margins
