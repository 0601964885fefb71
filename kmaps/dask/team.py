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

from kmaps._loops.forms import CodeRows
from kmaps._loops.train import Task
from kmaps.matrices import AnyMatrix
from kmaps.svm.coded import block as blocks
from kmaps.svm.coded.block import StepResult, Table
from kmaps.svm.coded.forms import Layout
from kmaps.svm.coded.model import code_counts
from kmaps.svm.coded.problem import CodedProblem, make_task
from kmaps.svm.coded.rounds import added
from kmaps.svm.coded.training import CodedRows, block_rows, joined
from kmaps.svm.losses import LOSSES
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
    learned = dask.delayed(coding, traverse=False)
    rows = [dask.delayed(_coded)(learned, block, sparse) for block in blocks]
    numbers = [dask.delayed(_numbered)(y, classes) for y in labels]
    cuts = np.linspace(0, len(blocks), n_groups + 1).astype(int)
    pairs = list(pairwise(cuts))
    grouped = [dask.delayed(_joined)(rows[start:stop]) for start, stop in pairs]
    known = [dask.delayed(np.concatenate)(numbers[start:stop]) for start, stop in pairs]
    return client.compute(grouped), client.compute(known)


def _coded(coding: CodedRows, X: AnyMatrix, sparse: float) -> CodeRows:
    with threads(1):
        return block_rows(coding, X, sparse)


def _numbered(y: Any, classes: NDArray) -> NDArray[np.intp]:
    return np.searchsorted(classes, np.asarray(y))


def _joined(parts: list[CodeRows]) -> CodeRows:
    if parts[0].features is not None:
        return joined(parts)
    lengths = np.concatenate([np.diff(part.bounds) for part in parts])
    codes = np.concatenate([part.codes for part in parts])
    return CodeRows(codes, np.concatenate([[0], np.cumsum(lengths)]), None)


def square_norms(layout: Layout, rows: CodeRows) -> NDArray[np.float64]:
    """Return the kernel of each row with itself."""
    with threads(1):
        return layout.square_norms(rows)


def stated(
    numbers: NDArray[np.intp],
    norms: NDArray[np.float64],
    reduction: str,
    factors: NDArray[np.float64],
    column: int,
    C: float,
    loss: str,
    bias: float,
) -> Task:
    """State a binary problem of the reduction for the rows of a block."""
    problems = binary_problems(numbers, reduction, factors, np.ones(len(numbers)))
    problem = next(islice(problems, column, None))
    costs = C * problem.factors
    return make_task(problem.rows, problem.signs, norms, costs, LOSSES[loss](), bias)


def counted(rows: CodeRows, shape: tuple[int, int], zero: NDArray[np.intp]) -> NDArray[np.float64]:
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
        self.n_rows, self.n_blocks = n_rows, len(rows)
        self.waiting: Table | None = None
        begun = [
            client.submit(_BlockThere, own, layout, task, n_weights, (*seed, k), actor=True)
            for k, (own, task) in enumerate(zip(rows, tasks, strict=True))
        ]
        client.gather(begun)  # raises the errors of the workers
        places = client.who_has(begun)
        if not all(places.get(one.key) for one in begun):
            raise LostBlocks("a worker was lost after it had received its blocks")
        # A new actor is bound to the current client; gather's actors would not be.
        with client.as_current():
            self._blocks = [Actor(_BlockThere, places[one.key][0], one.key) for one in begun]

    def run(self, step: Callable[..., StepResult], *shared: Any) -> list[float]:
        """Take a step with all blocks."""
        with _answered():
            asked = [block.take(step, self.waiting, shared) for block in self._blocks]
            tables, numbers = zip(*(answer.result() for answer in asked), strict=True)
        self.waiting = None
        if tables[0] is not None:
            self.waiting = added([np.array(tables[0]), *tables[1:]])
        return [sum(column) for column in zip(*numbers, strict=True)]

    def weights(self) -> Table:
        """Return the weights of all blocks together."""
        with _answered():
            weights: Table = self._blocks[0].weights().result()
        return weights


@contextmanager
def _answered() -> Iterator[None]:
    """Raise `LostBlocks` if a worker that has a block does not answer any more."""
    try:
        yield
    except (OSError, RuntimeError, KeyError) as error:  # Dask raises these
        raise LostBlocks(str(error)) from error


class _BlockThere:
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
