"""Row blocks on a few threads.

The compiled loops release the GIL, so plain threads run them in parallel. Unlike numba's own
thread pools this is safe to call from several threads and after a fork.
"""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.checks import check_whole, is_whole
from kmaps.errors import ConfigError

_TERMS = 256  # of a sum that BLAS does not cut
_threads: ContextVar[int | None] = ContextVar("kmaps_threads", default=None)


def compiled() -> bool:
    """Return whether numba is loaded, which takes half a second: all estimators do it."""
    return "numba" in sys.modules


def loops_of(name: str) -> Any:
    """Return a module of compiled loops, or NumPy's versions of them where numba is not loaded."""
    return import_module(f"kmaps._loops.{name if compiled() else 'plain'}")


def num_threads() -> int:
    """Return how many threads the compiled loops use.

    In this order: the innermost :func:`threads` block, the environment variable
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
    outermost = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]  # of nested loops
    if outermost.isdecimal() and int(outermost) > 0:
        return min(int(outermost), processors())
    return processors()


def processors() -> int:
    """Return how many processors this process may run on."""
    from joblib import cpu_count  # which knows the limits of containers; not needed to import kmaps

    return cpu_count()


def threads_of(n_jobs: object, default: int | None = None) -> int:
    """Return how many threads a parameter ``n_jobs`` asks for; refuse what is none (ConfigError).

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
    """Pin the number of threads inside a ``with`` block.

    Examples
    --------
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


def for_blocks(function: Callable[[int, int], object], n_rows: int, block_rows: int) -> list:
    """Call ``function(start, stop)`` on consecutive row blocks and return the results in order.

    Blocks are handed out one at a time, so uneven ones balance out. A single block, or a single
    thread, runs in the caller's thread.
    """
    starts = range(0, n_rows, block_rows)
    workers = min(num_threads(), len(starts))
    if workers <= 1:
        return [function(s, min(s + block_rows, n_rows)) for s in starts]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda s: function(s, min(s + block_rows, n_rows)), starts))


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

    That number is of the process, and a thread cannot count on its limit. BLAS cuts longer sums,
    and columns that are no multiple of eight, as many ways as it has threads, and multiplies a
    single row otherwise: measured with OpenBLAS 0.3.31, 1 to 16 threads, float32 and float64.
    """
    width = B.shape[1]
    if width % 8:
        B = np.pad(B, ((0, 0), (0, -width % 8)))
    rows = X if len(X) > 1 else np.repeat(X, 2, axis=0)
    found = rows[:, :_TERMS] @ B[:_TERMS]
    part = np.empty_like(found)  # one for all: what new pages cost is a third of what sums cost
    for first in range(_TERMS, len(B), _TERMS):
        terms = slice(first, first + _TERMS)
        found += np.matmul(rows[:, terms], B[terms], out=part)
    return np.ascontiguousarray(found[: len(X), :width])
