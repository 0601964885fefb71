"""Row blocks on a few threads, and how far long work has come.

The compiled loops release the GIL, so plain threads run them in parallel. Unlike numba's own
thread pools this is safe to call from several threads and after a fork.
"""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from importlib import import_module
from math import log
from threading import Lock
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.checks import check_whole, is_whole
from kmaps.errors import ConfigError

_ROWS, _COLUMNS, _TERMS = 32, 64, 128  # of products so small that BLAS takes one thread
_PATIENCE_S = 2.0  # between two lines on how far work is
_SILENCE_S = 10.0  # of work that reports unasked
_BASIS = 1 / 100  # of the work: from less no time left is estimated
_STEPS = 10_000  # of a bar
_SOLVED = "problems solved"

Show = Callable[[str, int, int], object]  # (name of the work, part done, total)
_threads: ContextVar[int | None] = ContextVar("kmaps_threads", default=None)
_shown: ContextVar[Show | None] = ContextVar("kmaps_shown", default=None)


def compiled() -> bool:
    """Return whether numba is loaded, which takes half a second: all estimators do it."""
    return "numba" in sys.modules


def loops_of(name: str) -> Any:
    """Return a module of compiled loops, or NumPy's versions of them where numba is not loaded."""
    return import_module(f"kmaps._loops.{name if compiled() else 'plain'}")


def num_threads() -> int:
    """Return how many threads the compiled loops use.

    The number comes from the first of: the innermost :func:`threads` block, the variable
    ``KMAPS_NUM_THREADS`` (ConfigError, when it is not a positive whole number),
    ``OMP_NUM_THREADS``, which joblib sets in its processes, the processors this process may run on.
    """
    chosen = _threads.get()
    if chosen is not None:
        return chosen
    text = os.environ.get("KMAPS_NUM_THREADS")
    if text:
        check_whole("KMAPS_NUM_THREADS", int(text) if text.isdecimal() else text, 1)
        return int(text)
    outermost = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]  # the limit of outer loops
    if outermost.isdecimal() and int(outermost) > 0:
        return min(int(outermost), processors())
    return processors()


def processors() -> int:
    """Return how many processors this process may run on."""
    from joblib import cpu_count  # slow to import; it knows the limits of containers

    return cpu_count()


def threads_of(n_jobs: object, default: int | None = None) -> int:
    """Return how many threads a parameter ``n_jobs`` asks for; refuse other values (ConfigError).

    -1 is one for each processor; None is ``default``, or :func:`num_threads` without one.
    """
    if n_jobs is None:
        return num_threads() if default is None else default
    if n_jobs == -1:
        return processors()
    if not is_whole(n_jobs, 1):
        raise ConfigError(f"n_jobs={n_jobs!r}: expected a whole number of at least 1, -1 or None")
    return int(n_jobs)


@contextmanager
def _holding(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def threads(n: int) -> AbstractContextManager[None]:
    """Pin the number of threads inside a ``with`` block.

    Examples
    --------
    >>> with threads(1):
    ...     num_threads()
    1
    """
    check_whole("n", n, 1)
    return _holding(_threads, n)


def showing(show: Show | None) -> AbstractContextManager[None]:
    """Let the function ``show(what, done, total)`` show the progress of long work in a block.

    The working threads call it, one at a time. None shows nothing.

    Examples
    --------
    >>> from kmaps import CodedSVC, showing
    >>> seen = []
    >>> with showing(lambda what, done, total: seen.append((what, done / total))):
    ...     model = CodedSVC().fit([[0.0], [1.0]], [0, 1])
    >>> seen[-1]
    ('problems solved', 1.0)
    """
    return _holding(_shown, show)


def part_of(n: int, k: int, what: str) -> AbstractContextManager[None]:
    """Show the work inside a ``with`` block as the k-th of n equal parts of something."""
    show = _shown.get()
    return showing(show and (lambda _, done, total: show(what, k * total + done, n * total)))


def solved_part(gap: float, tol: float) -> float:
    """Return how far a problem has come: by the logarithm of its gap, 0 at 1 and 1 at ``tol``."""
    return log(gap) / log(tol) if 0 < tol < min(gap, 1.0) else 1.0


class Progress:
    """Says how far work is, and the time left: to the function of `showing`, and in lines.

    Lines begin with the name and come every two seconds at most; an empty name prints none. Where
    the name is None they come every ten seconds, on standard error, unless a function shows it.
    """

    def __init__(self, name: str | None, total: int = 0, tol: float = 0.0, what: str = _SOLVED):
        self._show, self._what, self._asked = _shown.get(), what, name is not None
        self._name = name if name is not None else "" if self._show else "kmaps"
        self._total, self._tol, self._lock = total, tol, Lock()
        self._solved, self._come, self._each = 0, 0.0, np.zeros(total)
        self._begun = self._said = monotonic()
        self.heard = bool(self._name or self._show)

    def say(self, what: str) -> None:
        """Print a line."""
        if self._name:
            file = sys.stdout if self._asked else sys.stderr
            print(f"[{self._name}] {what}", file=file, flush=True)

    def at(self, part: float, said: str, what: str = "") -> None:
        """Report that ``part`` of the work is done, when it is time."""
        if self._show:
            self._show(what or self._what, round(_STEPS * part), _STEPS)
        now = monotonic()
        if part > 0 and now - self._said >= (_PATIENCE_S if self._asked else _SILENCE_S):
            self._said = now
            if part >= _BASIS:
                minutes, seconds = divmod(round((now - self._begun) * (1 / part - 1)), 60)
                said += f", about {minutes}:{seconds:02} left"
            self.say(said)

    def compared(self, done: int, total: int, what: str = "values of C") -> None:
        """Say how many values of a parameter are compared."""
        self.at(done / total, f"{done} of {total} {what} compared", f"{what} compared")

    def passed(self, k: int, passes: float, gap: float) -> None:
        """Take the gap of a problem that is being solved."""
        with self._lock:
            further = max(0.0, solved_part(gap, self._tol) - self._each[k])
            self._each[k] += further
            self._come += further
            self._say_solved()

    def counted(self, solve: Callable[..., Any], n: int = 1) -> Callable[..., Any]:
        """Return ``solve`` with each call counted, as ``n`` of all that is to be done."""

        def of_some(*which: Any) -> Any:
            found = solve(*which)
            with self._lock:
                self._solved = min(self._solved + n, self._total)
                self._say_solved()
            return found

        return of_some if self.heard else solve

    def _say_solved(self) -> None:
        part = max(self._solved, self._come) / self._total
        self.at(part, f"{self._solved:,} of {self._total:,} {self._what}")


def for_blocks(
    function: Callable[[int, int], object], n_rows: int, block_rows: int, what: str = ""
) -> list:
    """Call ``function(start, stop)`` on consecutive row blocks and return the results in order.

    Blocks are handed out one at a time, so uneven ones balance out. A single block, or a single
    thread, runs in the caller's thread. Loops that may take long say ``what`` is done to rows, such
    as "features decomposed", and report after ten seconds.
    """
    starts = range(0, n_rows, block_rows)
    workers = min(num_threads(), len(starts)) if len(starts) > 1 else 1

    def call(start: int) -> object:
        return function(start, min(start + block_rows, n_rows))

    counted = Progress(None, n_rows, what=what).counted(call, block_rows) if what else call
    if workers <= 1:
        return [counted(start) for start in starts]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(counted, starts))


def ahead(items: Iterator) -> Iterator:
    """Yield the items; each is made on a thread while the caller works with the one before."""
    context, end = copy_context(), object()

    def make() -> Any:
        return context.run(next, items, end)

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(make)
        while (item := coming.result()) is not end:
            coming = pool.submit(make)
            yield item


def for_parts(
    function: Callable[[slice, slice], object], shape: tuple[int, int], part_values: int
) -> list:
    """Call ``function(rows, columns)`` on the parts of an (n, m) array, in parallel.

    The parts are blocks of whole rows with about ``part_values`` values, or pieces of a single row.
    """
    n, m = shape
    if n == 1:
        return for_blocks(lambda a, b: function(slice(0, 1), slice(a, b)), m, max(1, part_values))
    rows = max(1, part_values // max(1, m))
    return for_blocks(lambda a, b: function(slice(a, b), slice(0, m)), n, rows)


def product(X: NDArray, B: NDArray) -> NDArray:
    """Return X (n, k) @ B (k, m) with the same bits on any number of threads of BLAS.

    That number is of the process, and a thread cannot count on its limit. BLAS cuts products as
    many ways as it has threads, unless they are small, and without AVX-512 the bits of a sum depend
    on its place among the rows and columns (OpenBLAS 0.3.31 and 0.3.34).
    """
    (n, k), m = X.shape, B.shape[1]
    B, full = np.pad(B, ((0, 0), (0, -m % 8))), n - n % _ROWS
    out, rest = np.empty((n, m), np.result_type(X, B)), np.zeros((1, _ROWS, k), X.dtype)
    rest[0, : n - full] = X[full:]
    for left in range(0, m, _COLUMNS):
        b, columns = B[:, left : left + _COLUMNS], slice(left, left + _COLUMNS)
        for first, rows in ((0, X[:full].reshape(-1, _ROWS, k)), (full, rest)):
            sums = rows[..., :_TERMS] @ b[:_TERMS]
            part = np.empty_like(sums)  # one for all: new pages cost a third of what sums cost
            for i in range(_TERMS, k, _TERMS):
                sums += np.matmul(rows[..., i : i + _TERMS], b[i : i + _TERMS], out=part)
            there = out[first : first + sums.size // b.shape[1], columns]
            there[:] = sums.reshape(-1, b.shape[1])[: len(there), : there.shape[1]]
    return out
