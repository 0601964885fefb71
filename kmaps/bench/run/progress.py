"""How far a run is, and how long the rest of it may take."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kmaps.bench.records.columns import Record


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    done, failed, total : int
        Cells finished in this run, those of them that failed, and all it has to do; where each is
        measured several times, every measurement counts.
    seconds_left : float or None
        Estimated from the finished cells, method by method; None before the first.
    last : Record or None
        The record of the cell that just finished.
    """

    done: int
    failed: int
    total: int
    seconds_left: float | None = None
    last: Record | None = None


class Tally:
    """Counts what is finished and estimates the time left, from what each method took.

    Parameters
    ----------
    methods : mapping
        The method of everything that is to be measured, by its key.
    jobs : int
        How many are measured at a time.
    progress : callable
        Called with a :class:`Progress` at the start and after every count.
    """

    def __init__(
        self, methods: Mapping[str, str], jobs: int, progress: Callable[[Progress], None]
    ) -> None:
        self._left = dict(methods)
        self._n_left = Counter(methods.values())
        self._n_done: Counter[str] = Counter()
        self._seconds: dict[str, float] = {}
        self._total, self._failed, self._jobs = len(self._left), 0, jobs
        self._progress = progress
        progress(Progress(0, 0, self._total))

    def drop(self, key: str) -> None:
        """Leave out what is not to be measured any more."""
        self._n_left[self._left.pop(key)] -= 1
        self._total -= 1

    def count(self, key: str, record: Record, seconds: float) -> None:
        """Count one measurement, which took so long, and report."""
        method = self._left.pop(key)
        self._n_left[method] -= 1
        self._n_done[method] += 1
        self._seconds[method] = self._seconds.get(method, 0.0) + seconds
        self._failed += record["status"] == "failed"
        left = sum(n * self._mean(method) for method, n in self._n_left.items() if n)
        done = self._total - len(self._left)
        self._progress(Progress(done, self._failed, self._total, left / self._jobs, record))

    def _mean(self, method: str) -> float:
        """Return what a measurement of a method takes; of any, where none of its has ended."""
        if method in self._seconds:
            return self._seconds[method] / self._n_done[method]
        return sum(self._seconds.values()) / self._n_done.total()
