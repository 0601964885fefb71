r"""The linear programs behind every low-dimensional map, solved by HiGHS.

All of them minimise, over coefficients x of given columns,

.. math::
    p^\top x + \gamma\,C(Ax - b), \qquad x_j \ge 0 \text{ where asked}, \qquad Ex \le 0,

where C is the largest absolute entry (ldefm eq. 5) or the sum of the absolute entries under
quadrature weights (ldefm eq. 4). A column of A is an atom on the evaluation points, times the
weight of each point; b is the signature, times the weights.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import OptimizeResult, linprog

from kmaps.matrices import AnyMatrix

# HiGHS is exact to 1e-7 in its own units. While the error is less than this part of the unit, the
# program is solved again for the correction, with the error as the unit.
_FINE_PART = 1e-2
_ROUNDS = 4
_EXACT = 1e-15
_FINEST_GUESS = 1e-6  # with a smaller unit HiGHS loses digits of the right-hand side
_MANY_ROWS = 300  # with more rows, the program uses a few of them
_SEGMENT = 9  # only the worst of so many successive rows is added at a time
_NEARLY_WORST = 0.7  # a row may matter if its residual is above this part of the largest
_VIOLATION = 3e-4  # rows left out may exceed the error by this part
_MOST_EXCHANGES = 50


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of `minimise`: coefficients, C, the residual Ax - b, each row's dual weight."""

    x: NDArray
    error: float
    residual: NDArray
    dual: NDArray


def error_norm(residual: NDArray, quadrature: NDArray | None) -> float:
    """Return C of a residual: the largest absolute entry, or their quadrature."""
    size = np.abs(residual)
    return float(size.max() if quadrature is None else quadrature @ size)


def minimise(
    A: NDArray,
    b: NDArray,
    *,
    price: NDArray | None = None,
    gamma: float = 1.0,
    n_free: int = 0,
    ties: NDArray | None = None,
    quadrature: NDArray | None = None,
    guess: float | None = None,
    near: Fit | None = None,
) -> Fit:
    r"""Minimise :math:`p^\top x + \gamma\,C(Ax - b)`.

    Of many rows only few have the largest residual. They are found by exchange: solve over some,
    add those with a larger residual, solve again, until there are none.

    The last ``n_free`` coefficients may be negative; ``ties`` (c, m) are the conditions Ex ≤ 0. A
    good ``guess`` of the error saves a round of refinement; ``near`` is the fit of a program near
    by, on the same rows, whose error is the guess where prices do not matter.
    """
    m = A.shape[1]
    program = _Program(
        np.zeros(m) if price is None else price,
        gamma,
        np.r_[np.zeros(m - n_free), np.full(n_free, -np.inf)],
        np.zeros((0, m)) if ties is None else ties,
        error_norm(b, quadrature) or 1.0,
        guess if near is None or price is not None else near.error,
    )
    if quadrature is not None or len(b) <= _MANY_ROWS:
        return program.solve(A, b, quadrature)
    if near is None:
        x = np.linalg.lstsq(A, b, rcond=None)[0]
        return program.exchange(A, b, A @ np.maximum(x, program.lower) - b)
    return program.exchange(A, b, near.residual)


def _worst_of_segments(residual: NDArray, least: float) -> NDArray:
    """Return the rows that are the largest in size of their segment and larger than ``least``."""
    size = np.abs(residual)
    starts = np.arange(0, len(size), _SEGMENT)
    padded = np.r_[size, np.zeros(-len(size) % _SEGMENT)].reshape(-1, _SEGMENT)
    rows = starts + padded.argmax(axis=1)
    return rows[size[rows] > least]


@dataclass(frozen=True, eq=False)
class _Program:
    """The part of a program that does not depend on the rows."""

    price: NDArray
    gamma: float
    lower: NDArray
    ties: NDArray
    size: float
    guess: float | None

    def solve(self, A: NDArray, b: NDArray, quadrature: NDArray | None) -> Fit:
        """Solve, and solve again for the correction while the error is a small part of the unit."""
        m = A.shape[1]
        costs, rows = self._matrix(A, quadrature)
        slack_bounds = np.tile([0, np.inf], (len(costs) - m, 1))
        unit = self._first_unit()
        error = np.inf
        x = np.zeros(m)
        dual = np.zeros(len(b))
        for _ in range(_ROUNDS):
            # x + unit·δ: the same program for the correction δ.
            residual = (b - A @ x) / unit
            own_bounds = np.stack([(self.lower - x) / unit, np.full(m, np.inf)], axis=1)
            solved = linprog(
                costs,
                A_ub=rows,
                b_ub=np.r_[residual, -residual, -(self.ties @ x) / unit],
                bounds=np.r_[own_bounds, slack_bounds],
                method="highs",
            )
            if solved.x is None:
                break  # beyond double precision: the solution at hand cannot be improved
            refined = np.maximum(x + unit * solved.x[:m], self.lower)
            refined_error = error_norm(b - A @ refined, quadrature)
            if refined_error > error and not self.price.any():
                break
            x = refined
            error = refined_error
            over, under = -solved.ineqlin.marginals[: 2 * len(b)].reshape(2, -1)
            dual = (under - over) / self.gamma
            if error > _FINE_PART * unit or error < _EXACT:
                break
            unit = error
        return Fit(x, error, A @ x - b, dual)

    def exchange(self, A: NDArray, b: NDArray, residual: NDArray) -> Fit:
        """Solve over the rows that matter, found by solving over rows that seem to matter."""
        unit = self._first_unit()
        rows = _worst_of_segments(residual, _NEARLY_WORST * np.abs(residual).max())
        signs = np.sign(residual[rows])
        fit = Fit(np.zeros(A.shape[1]), self.size, -b, np.zeros(len(b)))
        for _ in range(_MOST_EXCHANGES):
            solved = self._solve_signed(signs[:, None] * A[rows], signs * b[rows] / unit)
            if solved.x is None:
                break
            x = np.maximum(unit * solved.x[:-1], self.lower)
            residual = A @ x - b
            dual = np.zeros(len(b))
            error = float(np.abs(residual).max())
            np.add.at(dual, rows, signs * solved.ineqlin.marginals[: len(rows)] / self.gamma)
            fit = Fit(x, error, residual, dual)
            worst = _worst_of_segments(residual, (1 + _VIOLATION) * unit * solved.x[-1])
            is_in_program = np.isin(worst, rows[signs == 1]) & (residual[worst] > 0)
            is_in_program |= np.isin(worst, rows[signs == -1]) & (residual[worst] < 0)
            if is_in_program.all() and (error > _FINE_PART * unit or error < _EXACT):
                break
            rows = np.r_[rows, worst[~is_in_program]]
            signs = np.r_[signs, np.sign(residual[worst[~is_in_program]])]
            unit = max(min(unit, error), _FINEST_GUESS * self.size)
        return fit

    def _solve_signed(self, A: NDArray, b: NDArray) -> OptimizeResult:
        """Solve with a slack above each Ax - b and none below."""
        bounds = np.stack([np.r_[self.lower, 0], np.full(A.shape[1] + 1, np.inf)], axis=1)
        rows = np.block([[A, -np.ones((len(A), 1))], [self.ties, np.zeros((len(self.ties), 1))]])
        return linprog(
            np.r_[self.price, self.gamma],
            A_ub=rows,
            b_ub=np.r_[b, np.zeros(len(self.ties))],
            bounds=bounds,
            method="highs",
        )

    def _first_unit(self) -> float:
        if self.guess is None:
            return self.size
        return min(max(self.guess, _FINEST_GUESS * self.size), self.size)

    def _matrix(self, A: NDArray, quadrature: NDArray | None) -> tuple[NDArray, AnyMatrix]:
        """Return costs and rows of |Ax - b| ≤ slack and Ex ≤ 0; slacks follow the coefficients."""
        ties = self.ties
        if quadrature is None:
            slack = np.ones((len(A), 1))
            costs = np.array([self.gamma])
            rows = np.block([[A, -slack], [-A, -slack], [ties, np.zeros((len(ties), 1))]])
        else:
            slack = sparse.identity(len(A))
            costs = self.gamma * quadrature
            A = sparse.csc_matrix(A)
            ties = sparse.csc_matrix(ties)
            rows = sparse.bmat([[A, -slack], [-A, -slack], [ties, None]], format="csc")
        return np.r_[self.price, costs], rows
