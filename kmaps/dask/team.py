"""Blocks of a problem on the workers of a cluster.

The codes, the variables and the weights of a block stay with a worker, in an actor of Dask's, which
is asked directly: a task would take tens of milliseconds to come and go, and there are dozens of
steps. One table of weights comes from each block in a step, and the sum goes back.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from distributed import Actor, Client, Future

from kmaps._loops.forms import CodeRows, Form
from kmaps._loops.train import Task
from kmaps.parallel import threads
from kmaps.svm.coded import block as blocks
from kmaps.svm.coded.block import StepResult, Table
from kmaps.svm.coded.problem import CodedProblem
from kmaps.svm.coded.rounds import added


class LostBlocks(ConnectionError):
    """A worker is gone, and with it where its blocks were."""


class DaskTeam:
    """`kmaps.svm.coded.rounds.Workers` on a cluster, for futures of rows and tasks of each block.

    ``waiting`` is the sum of the tables of the last step, which the blocks do not have yet. When a
    worker is gone it raises LostBlocks.
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
        self.n_rows, self.n_blocks = n_rows, len(rows)
        self.waiting: Table | None = None
        begun = [
            client.submit(_BlockThere, own, form, task, n_weights, (*seed, k), actor=True)
            for k, (own, task) in enumerate(zip(rows, tasks, strict=True))
        ]
        client.gather(begun)  # raises what they did
        places = client.who_has(begun)
        if not all(places.get(one.key) for one in begun):
            raise LostBlocks("a worker was lost when it had been given its blocks")
        # An actor is bound to the client that is current where it is made, which gather is not.
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
    """Raise `LostBlocks` where a worker that has a block does not answer any more."""
    try:
        yield
    except (OSError, RuntimeError, KeyError) as error:  # what Dask raises then
        raise LostBlocks(str(error)) from error


class _BlockThere:
    """A block with its state, on a worker."""

    def __init__(
        self, rows: CodeRows, form: Form, task: Task, n_weights: int, seed: tuple[int, ...]
    ) -> None:
        self._block = CodedProblem(rows, form, task, n_weights)
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
