"""The clock of the runner: seconds, peaks of memory, warnings; and threads pinned.

This is the only place of experiments that times and pins.
"""

import ctypes
import gc
import os
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from statistics import fmean
from time import perf_counter
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from kmaps import threads as compiled_threads
from kmaps.bench.run.load import Watch, load_average

Result = TypeVar("Result")


@contextmanager
def pinned(threads: int) -> Iterator[None]:
    """Give the compiled loops, BLAS and OpenMP (LIBSVM's) the same number of threads."""
    with threadpool_limits(threads), compiled_threads(threads):
        yield


@contextmanager
def held(n_processors: int) -> Iterator[None]:
    """Hold the process to so many processors, so that none of its threads moves to another.

    They are the last of those that it may run on: the system's own work prefers the first.
    """
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[-n_processors:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


class Clock:
    """Times the pieces of one cell (:class:`kmaps.bench.work.timing.Timing`); a context manager.

    Times are wall times by ``perf_counter``. Memory is what the process needed beyond what it held
    when the measured part began: the kernel's high-water mark of the resident memory, which is
    reset there (Linux: ``/proc/self/clear_refs``), so what came earlier, loading data or choosing
    C, does not hide it. Freed memory that the allocator kept is given back first, for the same
    reason.

    Attributes
    ----------
    columns : dict
        After the context: the columns noted, ``peak_bytes`` and, if :meth:`trained` was called,
        ``train_peak_bytes``, None where the system does not tell; what else the machine did
        (:mod:`kmaps.bench.run.load`); and ``warnings``, what was warned of.
    """

    def __enter__(self) -> "Clock":
        self._noted: dict[str, list[float]] = defaultdict(list)
        self._context = ExitStack()
        self._caught = self._context.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        self._average, self._watch = load_average(), Watch()
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        peak, load = self._peak(), self._watch.read()
        self._context.close()
        if peak is not None and self._training is not None:
            # The system counts pages of threads late, now and then.
            peak = max(peak, self._training)
        told = {f"{warned.category.__name__}: {warned.message}" for warned in self._caught}
        self.columns: dict[str, Any] = {
            **{column: fmean(seconds) for column, seconds in self._noted.items()},
            "peak_bytes": peak,
            "train_peak_bytes": self._training,
            "load_before": self._average,
            "load_after": load.average,
            "other_cpus": load.others,
            "stolen_cpus": load.steal,
            "warnings": sorted(told),
        }

    def begin(self) -> None:
        """Begin the part whose memory and warnings count; what came before prepared it."""
        self._caught.clear()
        self._training: int | None = None
        self._before: int | None = None
        gc.collect()
        with suppress(AttributeError):  # the GNU library has it
            ctypes.CDLL(None).malloc_trim(0)
        with suppress(OSError):
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
            self._before = _status("VmRSS")

    @contextmanager
    def timed(self, column: str) -> Iterator[None]:
        """Note the seconds that a block takes, in a column of the record."""
        start = perf_counter()
        yield
        self._noted[column].append(perf_counter() - start)

    def seconds(self, call: Callable[[], Result]) -> tuple[Result, float]:
        """Make a call; return what it returned and the seconds it took, which are not noted."""
        start = perf_counter()
        result = call()
        return result, perf_counter() - start

    def best(self, column: str, call: Callable[[], Result], repeats: int) -> Result:
        """Make a call several times and note the least seconds; return what it returned last."""
        times = []
        for _ in range(repeats):
            result, took = self.seconds(call)
            times.append(took)
        self._noted[column].append(min(times))
        return result

    def note(self, **seconds: float) -> None:
        """Note seconds by column; of a column that is noted several times the mean counts."""
        for column, value in seconds.items():
            self._noted[column].append(value)

    def trained(self) -> None:
        """Note the peak of memory so far, as that of training."""
        self._training = self._peak()

    def _peak(self) -> int | None:
        return None if self._before is None else max(0, _status("VmHWM") - self._before)


def _status(field: str) -> int:
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024
