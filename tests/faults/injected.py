"""Faults at a chosen call of the system, in this process."""

import errno
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count, cycle
from typing import Any

WRITING = ("mkdir", "open", "fsync", "replace", "rename", "unlink")
"""The functions of ``os`` at which a fault can be: those by which files come, change and go."""

ERRORS = {"full disk": errno.ENOSPC, "input/output error": errno.EIO}
SIGNALS = ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT")
TWICE = "SIGINT twice"
_HOUR_S = 3600


class Calls:
    """Counts the calls of some functions of ``os``, and lets a fault happen at one of them.

    They are replaced by ``set_attribute``: ``setattr``, or pytest's, which takes them back.
    """

    def __init__(
        self,
        set_attribute: Callable[[Any, str, Any], object] = setattr,
        names: tuple[str, ...] = WRITING,
    ) -> None:
        self.counted: Counter[str] = Counter()
        self._faults: dict[int, str] = {}
        for name in names:
            set_attribute(os, name, self._counting(name, getattr(os, name)))

    def at(self, number: int, fault: str) -> None:
        """Let a fault happen at a call, counted over all functions from 0.

        The second Ctrl-C of two comes at the call after, which is of the cleaning up.
        """
        number += self.counted.total()
        self._faults[number] = "SIGINT" if fault == TWICE else fault
        if fault == TWICE:
            self._faults[number + 1] = "SIGINT"

    def _counting(self, name: str, function: Callable) -> Callable:
        def call(*arguments: Any, **options: Any) -> Any:
            fault = self._faults.pop(self.counted.total(), None)
            self.counted[name] += 1
            if fault in ERRORS:
                number = ERRORS[fault]
                raise OSError(number, os.strerror(number), str(arguments[0]))
            if fault is not None:
                os.kill(os.getpid(), getattr(signal, fault))
            return function(*arguments, **options)

        return call


def at_a_pass(number: int, fault: str) -> None:
    """Let a signal come in the middle of a training: when a pass, counted from 0, has ended."""
    from kmaps.svm.coded import estimator

    solve, passes = estimator.solve, count()

    def solved(*arguments: Any, report: Callable | None, **options: Any) -> Any:
        def reported(*state: Any) -> None:
            if next(passes) == number:
                os.kill(os.getpid(), getattr(signal, fault))
            if report is not None:
                report(*state)

        return solve(*arguments, report=reported, **options)

    estimator.solve = solved


def limit_size(n_bytes: int) -> None:
    """Let every file end at a size, as on a disk that is full."""
    import resource  # which Windows lacks

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


class _JumpingDate:
    """Dates an hour ahead and an hour behind by turns."""

    def __init__(self) -> None:
        self._hours = cycle((1, -1))

    def now(self, zone: Any = UTC) -> datetime:
        return datetime.now(zone) + timedelta(hours=next(self._hours))


def let_the_clock_jump() -> None:
    """Let the clock on the wall jump an hour ahead and back whenever somebody looks."""
    from kmaps.bench.run import processes

    real, hours = time.time, cycle((1, -1))
    time.time = lambda: real() + _HOUR_S * next(hours)
    processes.datetime = _JumpingDate()
