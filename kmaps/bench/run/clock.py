"""The clock of the runner: seconds, peaks of memory, warnings, pinned threads, other work.

This is the only module of experiments that times and pins. What else the computer does is the time
that all processors together worked and, on Linux, the time that the host of a virtual machine took
from them, less the time of this process.
"""

import ctypes
import gc
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from math import isnan, nan
from statistics import fmean
from time import perf_counter, process_time, sleep
from typing import Any, NamedTuple, TypeVar

import psutil
from threadpoolctl import threadpool_limits

from kmaps import threads as compiled_threads
from kmaps.bench.records.times import MOST_AVERAGE, MOST_OTHERS

Result = TypeVar("Result")


class Timing:
    """The clock's interface. This one notes nothing, for warm-ups; :class:`Clock` measures."""

    def begin(self) -> None:
        """Begin the part whose memory and warnings count; work before it was preparation."""

    def timed(self, column: str) -> AbstractContextManager[None]:
        """Note the seconds that a block takes, in a column of the record."""
        return nullcontext()

    def best(self, column: str, call: Callable[[], Result], repeats: int) -> Result:
        """Make a call several times and note the least seconds; return the last result."""
        return call()

    def seconds(self, call: Callable[[], Result]) -> tuple[Result, float]:
        """Make a call; return its result and the seconds it took, which are not noted."""
        return call(), 0.0

    def note(self, **seconds: float) -> None:
        """Note seconds by column; of a column that is noted several times the mean counts."""

    def trained(self) -> None:
        """Note the peak of memory so far as the peak of training."""


UNTIMED = Timing()


@contextmanager
def pinned(threads: int) -> Iterator[None]:
    """Give the compiled loops, BLAS and OpenMP (LIBSVM's) the same number of threads."""
    with threadpool_limits(threads), compiled_threads(threads):
        yield


@contextmanager
def held(n_processors: int) -> Iterator[None]:
    """Hold the process to so many processors, the last of those that it may run on: the system's
    work prefers the first. On macOS, which holds no process to processors, nothing is done."""
    affinity = _affinity()
    if affinity is None:
        yield
        return
    allowed = affinity()
    affinity(sorted(allowed)[-n_processors:])
    try:
        yield
    finally:
        affinity(allowed)


def _affinity() -> Callable[..., Any] | None:
    """Return functions that get and set the processors that this process may run on."""
    return getattr(psutil.Process(), "cpu_affinity", None)


class Clock(Timing):
    """Times the pieces of one cell; a context manager, after which ``columns`` has the results.

    Times are wall times by ``perf_counter``. Memory is what the process needed beyond what it held
    when the measured part began: the kernel's high-water mark of the resident memory, which is
    reset there (Linux: ``/proc/self/clear_refs``), so that loading data or choosing C does not hide
    it; memory that the allocator kept is given back before. ``peak_bytes`` and ``train_peak_bytes``
    are None where the system does not report them.
    """

    def __enter__(self) -> "Clock":
        self._noted: dict[str, list[float]] = defaultdict(list)
        self._context = ExitStack()
        self._caught = self._context.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        self._average = load_average()
        self._watch = Watch()
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        peak = self._peak()
        load = self._watch.read()
        self._context.close()
        if peak is not None and self._training is not None:
            # The system sometimes counts pages of threads late.
            peak = max(peak, self._training)
        texts = {f"{warned.category.__name__}: {warned.message}" for warned in self._caught}
        self.columns: dict[str, Any] = {
            **{column: fmean(seconds) for column, seconds in self._noted.items()},
            "peak_bytes": peak,
            "train_peak_bytes": self._training,
            "load_before": self._average,
            "load_after": load.average,
            "other_cpus": load.others,
            "stolen_cpus": load.steal,
            "warnings": sorted(texts),
        }

    def begin(self) -> None:
        """Forget warnings and memory so far: what came before was preparation."""
        self._caught.clear()
        self._training: int | None = None
        self._before: int | None = None
        gc.collect()
        with suppress(AttributeError, TypeError):  # only the GNU library has it
            ctypes.CDLL(None).malloc_trim(0)
        with suppress(OSError):  # Linux has it
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
        """Make a call; return its result and the seconds it took, which are not noted."""
        start = perf_counter()
        result = call()
        return result, perf_counter() - start

    def best(self, column: str, call: Callable[[], Result], repeats: int) -> Result:
        """Make a call several times and note the least seconds; return the last result."""
        times = []
        for _ in range(repeats):
            result, seconds = self.seconds(call)
            times.append(seconds)
        self._noted[column].append(min(times))
        return result

    def note(self, **seconds: float) -> None:
        """Note seconds by column; of a column that is noted several times the mean counts."""
        for column, value in seconds.items():
            self._noted[column].append(value)

    def trained(self) -> None:
        """Note the peak of memory so far as the peak of training."""
        self._training = self._peak()

    def _peak(self) -> int | None:
        return None if self._before is None else max(0, _status("VmHWM") - self._before)


def _status(field: str) -> int:
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


_SHORTEST_S = 0.5  # the system counts in hundredths of a second, so shorter times mean little
_WORKING = ("user", "nice", "system", "irq", "softirq")  # the work that the system counts


@dataclass(frozen=True)
class Load:
    """What else the computer did: its load average over the last minute, and how many of its
    processors were busy with other work (``others``) or taken away by the host (``steal``); None
    where the system does not report it, or the time was too short."""

    average: float | None
    others: float | None
    steal: float | None
    n_processors: int = 1

    @property
    def is_known(self) -> bool:
        """Whether the system reported what else the computer did."""
        return self.others is not None

    @property
    def reason(self) -> str:
        """Why this computer is not idle, in words; empty if it is, or if nothing is known."""
        most = MOST_AVERAGE * self.n_processors
        limits = (
            (self.others, MOST_OTHERS, "{:.2f} processors are busy with other work"),
            (self.steal, MOST_OTHERS, "the host takes {:.2f} processors away"),
            (self.average, most, "the load average is {:.2f}"),
        )
        exceeded = [text.format(value) for value, limit, text in limits if value and value > limit]
        return ", ".join(exceeded)


class Watch:
    """Watches the other work of the computer, from its construction on."""

    def __init__(self) -> None:
        self._start = perf_counter()
        self._start_of_process = process_time()
        self._counted = _counted()

    def read(self) -> Load:
        """Return what else the computer did since the construction."""
        seconds = perf_counter() - self._start
        process_s = process_time() - self._start_of_process
        now = _counted()
        n_processors = psutil.cpu_count() or 1
        if self._counted is None or now is None or seconds < _SHORTEST_S:
            return Load(load_average(), None, None, n_processors)
        others = max(0.0, now.worked - self._counted.worked - process_s) / seconds
        stolen = (now.stolen - self._counted.stolen) / seconds
        steal = None if isnan(stolen) else round(stolen, 3)
        return Load(load_average(), round(others, 3), steal, n_processors)


def unmeasured() -> list[str]:
    """Return the measurements that this system does not report, in words; none on Linux."""
    with Clock() as clock:
        counted = _counted()
    lacking = {
        "peaks of memory": clock.columns["peak_bytes"] is None,
        "other work": counted is None,
        "time that the host takes away": counted is None or isnan(counted.stolen),
        "which processors a process runs on": _affinity() is None,
    }
    return [name for name, is_lacking in lacking.items() if is_lacking]


def look(seconds: float = 1.0) -> Load:
    """Watch the computer for a moment, doing nothing."""
    watch = Watch()
    sleep(seconds)
    return watch.read()


def load_average() -> float | None:
    """Return the load average of the last minute; None where the system does not report it."""
    try:
        return round(psutil.getloadavg()[0], 2)
    except OSError:
        return None


class _Counted(NamedTuple):
    worked: float
    stolen: float  # nan if the system does not count it: only Linux does


def _counted() -> _Counted | None:
    """Return the seconds that all processors have worked and lost so far."""
    try:
        times = psutil.cpu_times()
    except OSError:
        return None
    worked = sum(getattr(times, name, 0.0) for name in _WORKING)
    return _Counted(worked, getattr(times, "steal", nan))
