"""Threads that solve one problem together: each has some of the features, of every row.

The rows are cut into parts, whose sums are added in their order. How many there are follows from
the rows alone, so the machine is the same on any number of threads.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import train as loops
from kmaps._loops.forms import Form, Rows
from kmaps._loops.shared import WORDS_A_PART, Share, find_cuts
from kmaps.parallel import processors

_LEAST = 256  # codes of a part, in the mean: evaluated in twice the time that telling the sum takes
_MOST_PARTS = 8
_WORTH = 1 << 20  # codes of a problem: fewer are done before other threads have begun
_LIST_SAMPLE = 1 << 16  # codes by which listed features are cut into parts of as many

T = TypeVar("T")


def count_parts(n_codes: int, n_rows: int) -> int:
    """Return how many parts rows are cut into: a power of two, so that threads get as many.

    Examples
    --------
    >>> [count_parts(1000 * d, 1000) for d in (100, 784, 1024, 100_000)]
    [1, 2, 4, 8]
    """
    mean = n_codes // max(n_rows, 1)
    return 1 << (max(1, min(_MOST_PARTS, mean // _LEAST)).bit_length() - 1)


class Parts(NamedTuple):
    """Where the parts of some rows are, as `Share` says; no cuts: there is one."""

    columns: NDArray[np.int64]
    cuts: NDArray[np.uint32]


def cut(rows: Rows, n_features: int) -> Parts:
    """Cut rows into parts, once for all problems on them."""
    n_rows = len(rows.bounds) - 1
    n_parts = count_parts(len(rows.codes), n_rows)
    columns = np.linspace(0, n_features, n_parts + 1).astype(np.int64)
    if rows.features is None or n_parts == 1:
        return Parts(columns, columns[None, 1:-1].astype(np.uint32))
    # So that each part has as many codes, if not in every row.
    spread = rows.features[:: -(-len(rows.features) // _LIST_SAMPLE)]
    columns[1:-1] = np.quantile(spread, np.arange(1, n_parts) / n_parts).astype(np.int64)
    cuts = np.empty((n_rows, n_parts - 1), np.uint32)
    find_cuts(rows.bounds, rows.features, columns, cuts)
    return Parts(columns, cuts)


class Crew:
    """Threads that work on one problem at a time; leaving the ``with`` block ends them.

    Parameters
    ----------
    rows : Rows
    form : Form
    parts : Parts
        Of the rows.
    n_threads : int
        At most; no more are taken than there are parts, or processors.
    n_members : int, optional
        Rows that take part in the problems; default: all.
    """

    def __init__(
        self,
        rows: Rows,
        form: Form,
        parts: Parts,
        n_threads: int = 1,
        n_members: int | None = None,
    ):
        self.rows, self.form = rows, form
        n_rows, n_codes = len(rows.bounds) - 1, len(rows.codes)
        n_parts = len(parts.columns) - 1
        n_threads = min(n_threads, n_parts, processors())
        if n_members is not None and n_codes // max(n_rows, 1) * n_members < _WORTH:
            n_threads = 1
        n_threads = 1 << (n_threads.bit_length() - 1)
        self.shares = _shares(parts, n_threads)
        self.pool = ThreadPoolExecutor(n_threads - 1) if n_threads > 1 else None

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *reason: object) -> None:
        if self.pool is not None:
            self.pool.shutdown()

    def rebuild(
        self, task: loops.Task, alpha: NDArray[np.float64], weights: NDArray[np.float32]
    ) -> float:
        """Set the weights to w(alpha); return that of the constant feature."""
        return self._together(
            lambda k: loops.rebuild(self.rows, self.form, task, alpha, weights, self.shares[k])
        )

    def margins(
        self, task: loops.Task, weights: NDArray[np.float32], constant: float, out: NDArray
    ) -> None:
        """Fill ``out`` with s_i f(x_i) for the members of a task."""
        if self.pool is None:
            return loops.margins(self.rows, self.form, task, weights, constant, out)
        ends = np.linspace(0, len(out), len(self.shares) + 1).astype(int)

        def block(k: int) -> None:
            own = slice(ends[k], ends[k + 1])
            part = task._replace(members=task.members[own], signs=task.signs[own])
            loops.margins(self.rows, self.form, part, weights, constant, out[own])

        self._together(block)

    def descend(
        self,
        task: loops.Task,
        alpha: NDArray[np.float64],
        weights: NDArray[np.float32],
        order: NDArray[np.int64],
        state: tuple,
        goal: float,
        budget: int,
    ) -> tuple[tuple, float, int]:
        """As `kmaps._loops.train.descend`."""
        places = [(alpha, order), *((alpha.copy(), order.copy()) for _ in self.shares[1:])]

        def own(k: int) -> tuple[tuple, float, int]:
            alpha, order = places[k]
            return loops.descend(
                self.rows,
                self.form,
                task,
                alpha,
                weights,
                order,
                state,
                goal,
                budget,
                self.shares[k],
            )

        return self._together(own)

    def _together(self, function: Callable[[int], T]) -> T:
        """Call ``function(k)`` in thread k of all, and return what the first one, this, does."""
        if self.pool is None:
            return function(0)
        mail = self.shares[0].mail
        mail[:] = 0
        try:
            others = [self.pool.submit(function, k) for k in range(1, len(self.shares))]
            found = function(0)
        except BaseException:
            mail[-1] = 1  # those that have begun would wait for ever
            raise
        for other in others:
            other.result()
        return found


def _shares(parts: Parts, n_threads: int) -> list[Any]:
    """Return what each thread does; [None] where rows have one part."""
    n_parts = len(parts.columns) - 1
    if n_parts == 1:
        return [None]
    mail = np.zeros(n_parts * WORDS_A_PART + 1, np.int64)
    own = n_parts // n_threads
    return [Share(*parts, k * own, (k + 1) * own, mail) for k in range(n_threads)]
