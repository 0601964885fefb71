"""Blocks of a training set and of a binary problem on the workers of a cluster.

The codes, the variables and the weights of a block stay with a worker, in an actor of Dask. Actors
are called directly: a task would take tens of milliseconds, and there are dozens of steps. In a
step each block sends one table of weights, and gets the sum of all tables.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, pairwise
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed
from distributed import Actor, Client, Future
from numpy.typing import NDArray

from kmaps._loops import train as loops
from kmaps._loops.forms import CodeRows
from kmaps._loops.train import Task
from kmaps.matrices import AnyMatrix
from kmaps.svm.coded import block as blocks
from kmaps.svm.coded.block import StepResult, Table
from kmaps.svm.coded.code_design import (
    LevelColumns,
    count_members,
    design_on,
    features_of,
    independent_columns,
    laid_out,
)
from kmaps.svm.coded.forms import Layout
from kmaps.svm.coded.model import code_counts
from kmaps.svm.coded.problem import CodedProblem, CodedSolution, make_task
from kmaps.svm.coded.rounds import added
from kmaps.svm.coded.training import CodedRows, block_rows, joined
from kmaps.svm.losses import LOSSES
from kmaps.svm.newton import NewtonBlock, NewtonResult, single_threaded_blas
from kmaps.svm.reduction import binary_problems
from kmaps.thread_pool import threads


def coded_groups(
    client: Client,
    blocks: list[Delayed],
    labels: list[Delayed],
    coding: CodedRows,
    sparse: float,
    classes: NDArray,
    n_groups: int,
) -> tuple[list[Future], list[Future]]:
    """Join neighbouring blocks to ``n_groups``; return their codes and their class numbers."""
    shared_coding = dask.delayed(coding, traverse=False)
    rows = [dask.delayed(_block_codes)(shared_coding, block, sparse) for block in blocks]
    numbers = [dask.delayed(_class_numbers)(y, classes) for y in labels]
    cuts = np.linspace(0, len(blocks), n_groups + 1).astype(int)
    row_groups = []
    number_groups = []
    for start, stop in pairwise(cuts):
        row_groups.append(dask.delayed(_joined)(rows[start:stop]))
        number_groups.append(dask.delayed(np.concatenate)(numbers[start:stop]))
    return client.compute(row_groups), client.compute(number_groups)


def _block_codes(coding: CodedRows, X: AnyMatrix, sparse: float) -> CodeRows:
    with threads(1):
        return block_rows(coding, X, sparse)


def _class_numbers(y: Any, classes: NDArray) -> NDArray[np.intp]:
    return np.searchsorted(classes, np.asarray(y))


def _joined(blocks: list[CodeRows]) -> CodeRows:
    if blocks[0].features is not None:
        return joined(blocks)
    lengths = np.concatenate([np.diff(block.bounds) for block in blocks])
    codes = np.concatenate([block.codes for block in blocks])
    return CodeRows(codes, np.concatenate([[0], np.cumsum(lengths)]), None)


def square_norms(layout: Layout, rows: CodeRows) -> NDArray[np.float64]:
    """Return the kernel of each row with itself."""
    with threads(1):
        return layout.square_norms(rows)


def block_task(
    numbers: NDArray[np.intp],
    norms: NDArray[np.float64],
    reduction: str,
    factors: NDArray[np.float64],
    column: int,
    C: float,
    loss: str,
    bias: float,
) -> Task:
    """Return a binary problem of the reduction, ``column``, for the rows of a block."""
    problems = binary_problems(numbers, reduction, factors, np.ones(len(numbers)))
    problem = next(islice(problems, column, None))
    costs = C * problem.factors
    return make_task(problem.rows, problem.signs, norms, costs, LOSSES[loss](), bias)


def row_counts(
    rows: CodeRows, shape: tuple[int, int], zero: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return how often each row of the tables occurs."""
    n = len(rows.bounds) - 1
    with threads(1):
        return code_counts(rows, np.arange(n), np.ones(n), shape, zero)


def codes_bytes(rows: CodeRows) -> int:
    """Return the size of the codes of a block."""
    return sum(array.nbytes for array in rows if array is not None)


class LostBlocks(ConnectionError):
    """A worker is lost, and its blocks with it."""


class DaskTeam:
    """`kmaps.svm.coded.rounds.Workers` on a cluster, from futures of each block's rows and task.

    ``waiting`` is the sum of the tables of the last step, which the blocks do not have yet. If a
    worker is lost, LostBlocks is raised.
    """

    def __init__(
        self,
        client: Client,
        rows: Sequence[Future],
        tasks: Sequence[Future],
        layout: Future,
        n_weights: int,
        n_rows: int,
        seed: tuple[int, ...],
    ):
        self.n_rows = n_rows
        self.n_blocks = len(rows)
        self.waiting: Table | None = None
        arguments = [
            (codes, layout, task, n_weights, (*seed, k))
            for k, (codes, task) in enumerate(zip(rows, tasks, strict=True))
        ]
        self._blocks = _actors(client, _WorkerBlock, arguments)

    def run(self, step: Callable[..., StepResult], *shared: Any) -> list[float]:
        """Take a step with all blocks."""
        with _answered():
            answers = [block.take(step, self.waiting, shared) for block in self._blocks]
            tables, numbers = zip(*(answer.result() for answer in answers), strict=True)
        self.waiting = None
        if tables[0] is not None:
            self.waiting = added([np.array(tables[0]), *tables[1:]])
        return [sum(column) for column in zip(*numbers, strict=True)]

    def weights(self) -> Table:
        """Return the weights of all blocks together."""
        with _answered():
            weights: Table = self._blocks[0].weights().result()
        return weights


class NewtonTeam:
    """`kmaps.svm.newton.Blocks` on a cluster, from futures of each block's rows and task.

    In a step each block sends its sums: functions of codes or, of the second derivatives, a matrix
    of as many rows and columns as there are weights. They are added up in the order of the blocks,
    so that the model does not depend on the workers. If one is lost, LostBlocks is raised.
    """

    single = None

    def __init__(
        self,
        client: Client,
        rows: Sequence[Future],
        tasks: Sequence[Future],
        layout: Layout,
        shared_layout: Future,
        n_weights: int,
    ):
        arguments = [
            (codes, shared_layout, task, n_weights) for codes, task in zip(rows, tasks, strict=True)
        ]
        self._layout = layout
        self._blocks = _actors(client, _WorkerNewtonBlock, arguments)
        with _answered():
            answers = [block.count() for block in self._blocks]
            counts = sum(answer.result() for answer in answers)
            columns, self._rotations = independent_columns(
                features_of(layout), layout.scale, counts > 0
            )
            self.n_weights = columns.n_weights
            for answer in [block.begin(columns) for block in self._blocks]:
                answer.result()

    def run(self, step: str, *shared: Any) -> list[Any]:
        """Let every block call a method of its `NewtonBlock`; return the results in order."""
        with _answered():
            answers = [block.run(step, shared) for block in self._blocks]
            return [answer.result() for answer in answers]

    def solution(self, result: NewtonResult) -> CodedSolution:
        """Return the weights for the model; their objective is that after they are rounded."""
        weights = laid_out(self._layout, self._rotations, result.weights[:-1])
        constant = float(result.weights[-1])
        with _answered():
            answers = [block.loss(weights, constant) for block in self._blocks]
            loss = sum(answer.result() for answer in answers)
        square = result.weights @ result.weights
        no_values = np.empty(0)  # Newton's method has no dual variables
        return CodedSolution(
            weights=weights,
            constant=constant,
            alpha=no_values,
            margins=no_values,
            primal=float(square / 2 + loss),
            dual=result.dual,
            passes=result.passes,
        )


class _WorkerNewtonBlock:
    """A block of rows for Newton's method, on a worker."""

    def __init__(self, rows: CodeRows, layout: Layout, task: Task, n_weights: int) -> None:
        self._problem = CodedProblem(rows, layout, task, n_weights)
        self._features = features_of(layout)

    def count(self) -> NDArray[np.float64]:
        """Return how often each code is listed."""
        return count_members(self._problem, self._features)

    def begin(self, columns: LevelColumns) -> None:
        """Take the columns that all blocks share."""
        design = design_on(self._problem, self._features, columns)
        self._block = NewtonBlock(design, self._problem.task)

    def run(self, step: str, shared: tuple[Any, ...]) -> Any:
        with threads(1), single_threaded_blas():
            return getattr(self._block, step)(*shared)

    def loss(self, weights: NDArray[np.float32], constant: float) -> float:
        """Return the loss of all rows at weights of the layout."""
        with threads(1):
            margins = self._problem.margins(weights, constant)
        return float(loops.total_loss(self._problem.task, margins))


def _actors(client: Client, kind: type, arguments: Sequence[tuple[Any, ...]]) -> list[Actor]:
    """Make an object of a kind on the workers from each tuple of arguments; return its actors."""
    futures = [client.submit(kind, *values, actor=True) for values in arguments]
    client.gather(futures)  # raises the errors of the workers
    places = client.who_has(futures)
    if not all(places.get(future.key) for future in futures):
        raise LostBlocks("a worker was lost after it had received its blocks")
    # A new actor is bound to the current client; gather's actors would not be.
    with client.as_current():
        return [Actor(kind, places[future.key][0], future.key) for future in futures]


@contextmanager
def _answered() -> Iterator[None]:
    """Raise `LostBlocks` if a worker that has a block does not answer any more."""
    try:
        yield
    except (OSError, RuntimeError, KeyError) as error:  # Dask raises these
        raise LostBlocks(str(error)) from error


class _WorkerBlock:
    """A block with its state, on a worker."""

    def __init__(
        self, rows: CodeRows, layout: Layout, task: Task, n_weights: int, seed: tuple[int, ...]
    ) -> None:
        self._block = CodedProblem(rows, layout, task, n_weights)
        self._state = blocks.begin(task, n_weights, seed, None)
        self._total: Table | None = None

    def take(
        self, step: Callable[..., StepResult], total: Table | None, shared: tuple[Any, ...]
    ) -> tuple[Table | None, tuple[float, ...]]:
        """Take a step; ``total`` is the new sum of all tables, if there is one."""
        if total is not None:
            self._total = total
        with threads(1):
            self._state, table, numbers = step(self._block, self._state, self._total, *shared)
        return table, numbers

    def weights(self) -> Table:
        return self._state.weights
