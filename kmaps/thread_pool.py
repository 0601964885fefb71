"""Row blocks on a few threads, and how many threads those are.

The compiled loops release the GIL, so plain threads run them in parallel. Unlike numba's own
thread pools this is safe to call from several threads and after a fork.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any

from kmaps.checks import check_whole, is_whole
from kmaps.errors import ConfigError
from kmaps.progress import ProgressReporter

_threads: ContextVar[int | None] = ContextVar("kmaps_threads", default=None)


def num_threads() -> int:
    """Return how many threads the compiled loops use.

    Returns
    -------
    int
        The first of: the number of the innermost :func:`threads` block; the variable
        ``KMAPS_NUM_THREADS``; ``OMP_NUM_THREADS``, which joblib sets in its processes, but no more
        than there are processors; the number of processors that this process may run on.

    Raises
    ------
    ConfigError
        When ``KMAPS_NUM_THREADS`` is not a positive whole number.

    Examples
    --------
    >>> from kmaps import num_threads, threads
    >>> with threads(2):
    ...     num_threads()
    2
    """
    chosen = _threads.get()
    if chosen is not None:
        return chosen
    text = os.environ.get("KMAPS_NUM_THREADS")
    if text:
        check_whole("KMAPS_NUM_THREADS", int(text) if text.isdecimal() else text, 1)
        return int(text)
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]  # the first is of outer loops
    if limit.isdecimal() and int(limit) > 0:
        return min(int(limit), processors())
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
def threads(n: int) -> Iterator[None]:
    """Pin the number of threads of the compiled loops inside a ``with`` block.

    Parameters
    ----------
    n : int
        The number of threads, at least 1; other values raise ConfigError. Innermost blocks win.

    Returns
    -------
    context manager
        Inside its block :func:`num_threads` is ``n``, in this thread and in those that it starts.

    Examples
    --------
    >>> from kmaps import num_threads, threads
    >>> with threads(1):
    ...     num_threads()
    1
    """
    check_whole("n", n, 1)
    token = _threads.set(n)
    try:
        yield
    finally:
        _threads.reset(token)


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

    call_block = call
    if what:
        call_block = ProgressReporter(None, n_rows, what=what).counted(call, block_rows)
    if workers <= 1:
        return [call_block(start) for start in starts]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(call_block, starts))


def ahead(items: Iterator) -> Iterator:
    """Yield the items; each is made on a thread while the caller works with the one before."""
    context = copy_context()
    end = object()

    def make() -> Any:
        return context.run(next, items, end)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(make)
        while True:
            item = future.result()
            if item is end:
                return
            future = pool.submit(make)
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
