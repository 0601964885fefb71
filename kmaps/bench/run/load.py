"""How busy the machine is with what is not being measured: load average, other work, stolen time.

The system counts, in ``/proc/stat`` (Linux), the time that all processors together worked and the
time that the host of a virtual machine took from them. What this process used itself is known to
the microsecond; the rest is the work of others.
"""

import os
from dataclasses import dataclass
from time import perf_counter, process_time, sleep

from kmaps.bench.records.times import MOST_AVERAGE, MOST_OTHERS

_SHORTEST_S = 0.5  # the system counts in hundredths of a second: less says nothing
_STAT = "/proc/stat"
_WORKING = (0, 1, 2, 5, 6)  # user, nice, system, irq, softirq
_STEAL = 7


@dataclass(frozen=True)
class Load:
    """What else the machine did.

    Parameters
    ----------
    average : float or None
        The load average of the last minute.
    others : float or None
        Processors busy with other work, in the mean of some time; None where the system does not
        tell, or the time was too short.
    steal : float or None
        Processors that the host took away.
    n_processors : int
        Of the machine.
    """

    average: float | None
    others: float | None
    steal: float | None
    n_processors: int = 1

    @property
    def is_known(self) -> bool:
        """Whether the system tells what others do."""
        return self.others is not None

    @property
    def reason(self) -> str:
        """Why this machine is not idle, in words; empty when it is, or when nothing is known."""
        most = MOST_AVERAGE * self.n_processors
        told = (
            (self.others, MOST_OTHERS, "{:.2f} processors are busy with other work"),
            (self.steal, MOST_OTHERS, "the host takes {:.2f} processors away"),
            (self.average, most, "the load average is {:.2f}"),
        )
        found = [text.format(value) for value, limit, text in told if value and value > limit]
        return ", ".join(found)


class Watch:
    """Watches the machine from its making on."""

    def __init__(self) -> None:
        self._start, self._own, self._counted = perf_counter(), process_time(), _counted()

    def read(self) -> Load:
        """Return what else the machine has done since."""
        seconds = perf_counter() - self._start
        own, now = process_time() - self._own, _counted()
        n = os.cpu_count() or 1
        if self._counted is None or now is None or seconds < _SHORTEST_S:
            return Load(load_average(), None, None, n)
        worked, stolen = (after - before for after, before in zip(now, self._counted, strict=True))
        others = max(0.0, worked - own) / seconds
        return Load(load_average(), round(others, 3), round(stolen / seconds, 3), n)


def look(seconds: float = 1.0) -> Load:
    """Watch the machine for a moment, doing nothing."""
    watch = Watch()
    sleep(seconds)
    return watch.read()


def load_average() -> float | None:
    """Return the load average of the last minute; None where the system does not tell."""
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None


def _counted() -> tuple[float, float] | None:
    """Return the seconds that all processors have worked and lost so far."""
    try:
        with open(_STAT) as file:
            ticks = [int(word) for word in file.readline().split()[1:]]
    except OSError:
        return None
    second = os.sysconf("SC_CLK_TCK")
    steal = ticks[_STEAL] if len(ticks) > _STEAL else 0
    return sum(ticks[i] for i in _WORKING) / second, steal / second
