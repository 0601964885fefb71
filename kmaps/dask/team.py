"""Blocks of a problem on the workers of a cluster.

The codes, the variables and the weights of a block stay with a worker; a turn moves one table of
weights from each block, and the sum back. All steps are tasks without side effects, so Dask
computes again what a lost worker had.
"""

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from distributed import Client, Future

from kmaps._loops.forms import Form, Rows
from kmaps._loops.train import Task
from kmaps.dask.chunks import merged_in_steps
from kmaps.parallel import threads
from kmaps.svm.coded import block as blocks
from kmaps.svm.coded.block import Block, Result, Table
from kmaps.svm.coded.rounds import added


class DaskTeam:
    """A `kmaps.svm.coded.rounds.Team` whose blocks are on a cluster.

    Parameters
    ----------
    client : Client
    rows, tasks : sequence of Future
        Of each block.
    form : Future
    n_weights : int
    n_rows : int
        Of all blocks.
    seed : tuple of int
    """

    def __init__(
        self,
        client: Client,
        rows: Sequence[Future],
        tasks: Sequence[Future],
        form: Future,
        n_weights: int,
        n_rows: int,
        seed: tuple[int, ...],
    ):
        self.client, self.rows, self.tasks, self.form = client, rows, tasks, form
        self.n_weights, self.n_rows, self.n_blocks = n_weights, n_rows, len(rows)
        self.total: Future | None = None
        begun = partial(_begun, n_weights, seed)
        self.states = client.map(begun, tasks, range(self.n_blocks), pure=False)

    def turn(self, step: Callable[..., Result], *shared: Any) -> list[float]:
        """Take a step with all blocks."""
        each = partial(self.client.map, pure=False)  # one message for all blocks
        self.states = each(
            partial(_taken, step, self.n_weights, shared),
            self.rows,
            [self.form] * self.n_blocks,
            self.tasks,
            self.states,
            [self.total] * self.n_blocks,
        )
        told = self.client.gather(each(_told, self.states))
        if told[0][1]:
            tables = each(itemgetter(1), self.states)
            add = partial(self.client.submit, _added, pure=False)
            self.total = merged_in_steps(add, tables)
        return [sum(column) for column in zip(*(numbers for numbers, _ in told), strict=True)]

    def weights(self) -> Table:
        """Return the weights of all blocks together."""
        return self.client.submit(_weights, self.states[0], pure=False).result()


def _begun(n_weights: int, seed: tuple[int, ...], task: Task, number: int) -> Result:
    return Result(blocks.begin(task, n_weights, (*seed, number), None), None, ())


def _taken(
    step: Callable[..., Result],
    n_weights: int,
    shared: tuple[Any, ...],
    rows: Rows,
    form: Form,
    task: Task,
    last: Result,
    total: Table | None,
) -> Result:
    with threads(1):
        return step(Block(rows, form, task, n_weights), last.state, total, *shared)


def _weights(result: Result) -> Table:
    return result.state.weights


def _told(result: Result) -> tuple[tuple[float, ...], bool]:
    return result.numbers, result.table is not None


def _added(tables: list[Table]) -> Table:
    return added([np.array(tables[0]), *tables[1:]])
