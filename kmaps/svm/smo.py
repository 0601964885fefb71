"""Kernel SVM by sequential minimal optimisation, on a Gram matrix in single precision.

All binary problems read one matrix, each its own rows and columns of it. Variables that stay at a
bound leave the problem for a time, as in LIBSVM (Chang and Lin, TIST 2011, Sect. 5.1); the others
descend on rows that are packed to their columns when first used.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import smo as loops
from kmaps.errors import InputError
from kmaps.matrices import read_only
from kmaps.svm.reduction import BinaryProblem, SupportVectors

_PERIOD = 1000  # steps after which variables leave (fewer with fewer variables)
_NEAR = 10  # times the tolerance: below it, all gradients are made exact once
_WORTH_PACKING = 0.8  # rows are packed again when fewer than this part of the variables are left


@dataclass(frozen=True, eq=False)
class GramRows:
    """Some rows of a Gram matrix, which all share."""

    matrix: NDArray[np.float32]  # (n, n)
    places: NDArray[np.uint32]  # the numbers of the rows in it
    nbytes: int  # of the matrix, if it is a copy in single precision

    @classmethod
    def of(cls, matrix: NDArray) -> "GramRows":
        """Return all rows of a matrix (n, n), which is copied unless it is float32."""
        with np.errstate(over="ignore"):
            single = np.ascontiguousarray(matrix, np.float32)
        copied = single is not matrix
        if copied and not np.isfinite([single.min(), single.max()]).all():
            raise InputError("the Gram matrix has values beyond ±3e38: scale the kernel down")
        places = np.arange(len(single), dtype=np.uint32)
        return cls(read_only(single), places, single.nbytes if copied else 0)

    def __len__(self) -> int:
        return len(self.places)

    def take(self, members: NDArray[np.intp]) -> "GramRows":
        """Return some of the rows, sharing the memory."""
        return GramRows(self.matrix, self.places[members], self.nbytes)

    def against(self, others: "GramRows") -> NDArray[np.float32]:
        """Return the kernel of these rows with others."""
        return self.matrix[np.ix_(self.places, others.places)]


def trainer(
    rows: GramRows, *, C: float, tol: float, cache_mb: float
) -> Callable[[BinaryProblem, int], SupportVectors]:
    """Return a function that trains one binary problem, in at most so many steps."""

    def train(problem: BinaryProblem, limit: int) -> SupportVectors:
        return _PairDescent(rows, problem, C, cache_mb).run(tol, limit)

    return train


class _PairDescent:
    """A binary problem, and how far it is solved; the active variables are in ``_part``."""

    def __init__(self, rows: GramRows, problem: BinaryProblem, C: float, cache_mb: float) -> None:
        self._kernel, self._places = rows.matrix, rows.places[problem.rows]
        self._members, self._signs = problem.rows, problem.signs
        self._room = int(cache_mb * 1e6) // 4
        self._bounds = C * problem.factors
        signed = problem.signs * self._bounds
        self._lower, self._upper = np.minimum(signed, 0), np.maximum(signed, 0)
        self._dual, self._gradient = np.zeros(len(signed)), problem.signs.copy()
        self._activate(np.arange(len(signed)))

    def run(self, tol: float, limit: int) -> SupportVectors:
        """Descend to a violation of the optimality conditions of at most ``tol``, as LIBSVM."""
        steps, was_near = 0, False
        while True:
            budget = min(len(self._dual), _PERIOD, limit - steps)
            taken, high, low = loops.descend(self._kernel, self._part, self._packed, tol, budget)
            steps += taken
            is_near = high - low <= _NEAR * tol
            if not high - low > tol or steps >= limit or (is_near and not was_near):
                was_near = is_near
                high, low = self._activate_all()
                if not high - low > tol or steps >= limit:
                    return self._solution(high, low, steps)
            self._shrink(high, low)

    def _activate(self, active: NDArray[np.intp]) -> None:
        self._active, places = active, self._places[active]
        dual, lower, upper = self._dual[active], self._lower[active], self._upper[active]
        diagonal = self._kernel[places, places].astype(np.float64)
        gradient, may_rise, may_fall = self._gradient[active], dual < upper, dual > lower
        self._part = loops.Variables(
            places, diagonal, lower, upper, dual, gradient, may_rise, may_fall
        )
        n, is_whole = len(active), np.array_equal(places, np.arange(len(self._kernel)))
        room = 0 if is_whole else min(max(self._room // n, 2), n)
        self._packed = loops.Packed(
            np.empty((room, n), np.float32), np.full(n, -1), np.full(room, -1), np.full(1, -1)
        )

    def _keep(self) -> None:
        """Store the new values of the active variables."""
        self._dual[self._active] = self._part.dual
        self._gradient[self._active] = self._part.gradient

    def _activate_all(self) -> tuple[float, float]:
        """Make the gradients of all variables exact; return the extremes of all."""
        self._keep()
        left = np.setdiff1d(np.arange(len(self._dual)), self._active, assume_unique=True)
        if len(left):
            known, gradient = np.flatnonzero(self._dual), self._signs[left]
            of_known = self._places[known], self._dual[known]
            loops.subtract_products(self._kernel, *of_known, self._places[left], gradient)
            self._gradient[left] = gradient
            self._activate(np.arange(len(self._dual)))
        rising, falling = self._gradient[self._part.rises], self._gradient[self._part.falls]
        return rising.max(), falling.min()

    def _shrink(self, high: float, low: float) -> None:
        """Let variables go that are at a bound, and whose gradients push them further out."""
        variables = self._part
        out = (~variables.rises & (variables.gradient > high)) | (
            ~variables.falls & (variables.gradient < low)
        )
        if (~out).sum() < _WORTH_PACKING * len(out):
            self._keep()
            self._activate(self._active[~out])

    def _solution(self, high: float, low: float, steps: int) -> SupportVectors:
        free = self._part.rises & self._part.falls
        intercept = float(self._gradient[free].mean() if free.any() else (high + low) / 2)
        # The gap is a sum over samples without negative terms.
        error = self._gradient - intercept
        loss = self._bounds @ np.maximum(self._signs * error, 0)
        square = self._dual @ (self._signs - self._gradient)
        gap = float((loss - self._dual @ error) / (square / 2 + loss))
        support = np.flatnonzero(self._dual)
        return SupportVectors(self._members[support], self._dual[support], intercept, steps, gap)
