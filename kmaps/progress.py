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

_ASKED_INTERVAL_S = 2.0  # between two lines of work that was asked to report
_UNASKED_INTERVAL_S = 10.0  # between two lines of work that reports by itself
_LEAST_FRACTION = 1 / 100  # of the work: from less no time left is estimated
_STEPS = 10_000  # of a bar
_SOLVED = "problems solved"

Show = Callable[[str, int, int], object]  # (name of the work, steps done, all steps)
_show: ContextVar[Show | None] = ContextVar("kmaps_show", default=None)


@contextmanager
def showing(show: Show | None) -> Iterator[None]:
    """Let a function show the progress of long work inside a ``with`` block.

    Parameters
    ----------
    show : callable or None
        It is called as ``show(what, done, total)``, by the threads that work, one at a time:
        ``what`` says which work it is, ``done`` of ``total`` steps are done. None shows nothing.

    Returns
    -------
    context manager
        Inside its block the function is called, also for work that a call inside starts.

    Examples
    --------
    >>> from kmaps import CodedSVC, showing
    >>> seen = []
    >>> with showing(lambda what, done, total: seen.append((what, done / total))):
    ...     model = CodedSVC().fit([[0.0], [1.0]], [0, 1])
    >>> seen[-1]
    ('problems solved', 1.0)
    """
    token = _show.set(show)
    try:
        yield
    finally:
        _show.reset(token)


def showing_part(n_parts: int, k: int, what: str) -> AbstractContextManager[None]:
    """Show the work inside a ``with`` block as the k-th of equal parts of ``what``."""
    show = _show.get()
    if show is None:
        return showing(None)

    def show_part(_: str, done: int, total: int) -> None:
        show(what, k * total + done, n_parts * total)

    return showing(show_part)


def solved_fraction(gap: float, tol: float) -> float:
    """Return how far a problem has come: by the logarithm of its gap, 0 at 1 and 1 at ``tol``."""
    return log(gap) / log(tol) if 0 < tol < min(gap, 1.0) else 1.0


class ProgressReporter:
    """Reports how far work is, and the time left: to the function of `showing`, and in lines.

    Lines begin with the name and come every two seconds at most; an empty name prints none. Where
    the name is None they come every ten seconds, on standard error, unless a function shows it.
    """

    def __init__(self, name: str | None, total: int = 0, tol: float = 0.0, what: str = _SOLVED):
        self._show = _show.get()
        self._what = what
        self._asked = name is not None
        if name is None:
            name = "" if self._show else "kmaps"
        self._name = name
        self._total = total
        self._tol = tol
        self._lock = Lock()
        self._n_solved = 0
        self._fractions = np.zeros(total)  # of each problem that is solved
        self._sum_of_fractions = 0.0
        self._started = monotonic()
        self._last_line = self._started
        self.is_heard = bool(self._name or self._show)

    def print_line(self, text: str) -> None:
        """Print a line that begins with the name, if there is one."""
        if self._name:
            file = sys.stdout if self._asked else sys.stderr
            print(f"[{self._name}] {text}", file=file, flush=True)

    def report(self, fraction: float, text: str, what: str = "") -> None:
        """Report that a fraction of the work is done; ``text`` says so in a line, if one is due."""
        if self._show:
            self._show(what or self._what, round(_STEPS * fraction), _STEPS)
        now = monotonic()
        interval_s = _ASKED_INTERVAL_S if self._asked else _UNASKED_INTERVAL_S
        if fraction > 0 and now - self._last_line >= interval_s:
            self._last_line = now
            if fraction >= _LEAST_FRACTION:
                left_s = round((now - self._started) * (1 / fraction - 1))
                minutes, seconds = divmod(left_s, 60)
                text += f", about {minutes}:{seconds:02} left"
            self.print_line(text)

    def report_compared(self, n_compared: int, total: int, what: str = "values of C") -> None:
        """Report how many values of a parameter are compared."""
        text = f"{n_compared} of {total} {what} compared"
        self.report(n_compared / total, text, f"{what} compared")

    def report_gap(self, k: int, passes: float, gap: float) -> None:
        """Take the gap of problem ``k``, which is being solved."""
        with self._lock:
            gained = max(0.0, solved_fraction(gap, self._tol) - self._fractions[k])
            self._fractions[k] += gained
            self._sum_of_fractions += gained
            self._report_solved()

    def counted(self, solve: Callable[..., Any], n: int = 1) -> Callable[..., Any]:
        """Return ``solve`` with each call counted, as ``n`` of all that is to be done."""

        def solve_and_count(*arguments: Any) -> Any:
            result = solve(*arguments)
            with self._lock:
                self._n_solved = min(self._n_solved + n, self._total)
                self._report_solved()
            return result

        return solve_and_count if self.is_heard else solve

    def _report_solved(self) -> None:
        fraction = max(self._n_solved, self._sum_of_fractions) / self._total
        self.report(fraction, f"{self._n_solved:,} of {self._total:,} {self._what}")
