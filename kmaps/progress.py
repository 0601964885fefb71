"""How far long work has come, and the time left: to a function of the caller, or in lines."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from math import log
from threading import Lock
from time import monotonic
from typing import Any

import numpy as np

_PATIENCE_S = 2.0  # between two lines on how far work is
_SILENCE_S = 10.0  # of work that reports unasked
_BASIS = 1 / 100  # of the work: from less no time left is estimated
_STEPS = 10_000  # of a bar
_SOLVED = "problems solved"
Show = Callable[[str, int, int], object]  # (name of the work, part done, total)
_shown: ContextVar[Show | None] = ContextVar("kmaps_shown", default=None)


@contextmanager
def showing(show: Show | None) -> Iterator[None]:
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
    token = _shown.set(show)
    try:
        yield
    finally:
        _shown.reset(token)


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
