"""Linear machines on outputs that are never all in memory, by blocks of the dual.

Yu, Hsieh, Chang and Lin, KDD 2010: the variables of the rows of one block are descended on, some
passes long, with those of the others where they are; then comes the next block. All binary problems
of a reduction take their turns on a block while it is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import outputs as loops
from kmaps.models.streamed_rows import StreamedRows
from kmaps.parallel import for_blocks
from kmaps.svm.reduction import BinaryProblem

_VISITS = 5  # of a row while its outputs are there


@dataclass
class BlockMachine:
    """A binary problem with the hinge or its square, and where its variables are.

    Attributes
    ----------
    places : ndarray of int
        Of all rows: the number among the problem's own, or -1.
    signs, upper, ridge, alpha : ndarray of float64
        Of its own rows, as in `kmaps._loops.train.Task`.
    weights : ndarray of float64, shape (r + 1,)
        That of the constant feature last.
    gap : float
        The relative duality gap.
    loss : float
        Of the rows so far in a pass.
    """

    places: NDArray[np.intp]
    signs: NDArray[np.float64]
    upper: NDArray[np.float64]
    ridge: NDArray[np.float64]
    alpha: NDArray[np.float64]
    weights: NDArray[np.float64]
    gap: float = np.inf
    loss: float = 0.0

    @property
    def square(self) -> float:
        """The squared norm of the weights."""
        return float(np.sum(self.weights**2))

    @property
    def dual(self) -> float:
        """The dual objective."""
        return float(np.sum(self.alpha - self.ridge * self.alpha**2 / 2)) - self.square / 2

    def set_gap(self) -> None:
        """Take the loss of a whole pass for that of the weights."""
        primal = self.square / 2 + self.loss
        self.gap = (primal - self.dual) / primal if primal > 0 else 0.0


def train_in_blocks(
    rows: StreamedRows,
    problems: Sequence[BinaryProblem],
    *,
    C: float,
    squared: bool,
    bias: float,
    tol: float,
    max_iter: int,
    seed: int,
) -> tuple[list[BlockMachine], int]:
    """Train until the relative duality gap of every problem is at most ``tol``.

    Returns
    -------
    machines : list of BlockMachine
        One a problem, with the gap of its weights over all rows.
    passes : int
        Over all rows, those that only measure the gap not counted.
    """
    machines = [_machine(problem, rows, C, squared) for problem in problems]
    for passes in range(1, max_iter + 1):
        _descend(rows, machines, bias, (seed, passes))
        # The losses were of weights that moved on: an estimate, which is looked into when small.
        if max(machine.gap for machine in machines) <= tol or passes == max_iter:
            _measure(rows, machines, bias)
            if max(machine.gap for machine in machines) <= tol:
                break
    return machines, passes


def _machine(problem: BinaryProblem, rows: StreamedRows, C: float, squared: bool) -> BlockMachine:
    n, costs = len(problem.rows), C * problem.factors
    places = np.full(len(rows), -1)
    places[problem.rows] = np.arange(n)
    return BlockMachine(
        places=places,
        signs=problem.signs,
        upper=np.full(n, np.inf) if squared else costs,
        ridge=1 / (2 * costs) if squared else np.zeros(n),
        alpha=np.zeros(n),
        weights=np.zeros(2 * rows.map.n_frequencies + 1),
    )


def _descend(
    rows: StreamedRows, machines: list[BlockMachine], bias: float, seed: tuple[int, ...]
) -> None:
    """Visit all rows; set the gaps by the losses on the way."""
    for machine in machines:
        machine.loss = 0.0
    for chunk, (found, outputs) in enumerate(rows.chunks()):
        norms = np.einsum("ij,ij->i", outputs, outputs, dtype=np.float64) + bias**2
        visit = partial(_visit, machines, found, outputs, norms, bias, (*seed, chunk))
        for_blocks(visit, len(machines), 1)
    for machine in machines:
        machine.set_gap()


def _visit(
    machines: list[BlockMachine],
    found: NDArray[np.intp],
    outputs: NDArray[np.float32],
    norms: NDArray[np.float64],
    bias: float,
    seed: tuple[int, ...],
    k: int,
    _: int,
) -> None:
    """Let one problem descend on the rows ``found``, which have these outputs."""
    machine = machines[k]
    places = machine.places[found]
    own, random = np.flatnonzero(places >= 0), np.random.default_rng((*seed, k))
    machine.loss += loops.descend_rows(
        outputs,
        np.stack([random.permutation(own) for _ in range(_VISITS)]),
        places,
        machine.signs,
        norms,
        machine.upper,
        machine.ridge,
        float(bias),
        machine.alpha,
        machine.weights,
    )


def _measure(rows: StreamedRows, machines: list[BlockMachine], bias: float) -> None:
    """Score all rows with the weights as they are, and set the gaps by that."""
    weights = np.stack([machine.weights for machine in machines])
    for machine in machines:
        machine.loss = 0.0
    for found, outputs in rows.chunks():
        scores = outputs @ weights[:, :-1].T + bias * weights[:, -1]
        for k, machine in enumerate(machines):
            places = machine.places[found]
            own = places[places >= 0]
            short = np.maximum(0, 1 - machine.signs[own] * scores[places >= 0, k])
            if machine.ridge.any():
                machine.loss += float(np.sum(short**2 / (2 * machine.ridge[own])))
            else:
                machine.loss += float(np.sum(machine.upper[own] * short))
    for machine in machines:
        machine.set_gap()
