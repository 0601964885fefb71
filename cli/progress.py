"""A progress bar with the time left, on standard error, for work that takes seconds."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from kmaps.cli.flags import COMMAND_LINE, megabytes, say
from kmaps.cli.interrupts import raise_noted
from kmaps.errors import printable

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from kmaps.bench.records.columns import Record
    from kmaps.bench.run.runner import RunProgress

_PATIENCE_S = 2.0

LINE_EVERY_S = 30.0
"""Seconds between two lines on work that goes on, where standard error is no terminal."""


def _is_terminal() -> bool:
    """Return whether bars can be shown on standard error; FORCE_COLOR says so as for rich."""
    return bool(os.environ.get("FORCE_COLOR")) or sys.stderr.isatty()


@contextmanager
def steady_lines(describe: Callable[[], str], *, quiet: bool) -> Iterator[None]:
    """Print how far the work is every 30 seconds, unless a terminal shows it, or ``quiet``.

    A thread prints, so that work in compiled loops, which report nothing for minutes, is seen.
    """
    if quiet or _is_terminal():
        yield
        return
    ended = Event()

    def print_lines() -> None:
        while not ended.wait(LINE_EVERY_S):
            say(describe(), err=True)

    printing = Thread(target=print_lines, daemon=True)
    printing.start()
    try:
        yield
    finally:
        ended.set()
        printing.join()


@contextmanager
def progress_bar(title: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Yield a function ``report(done, total)`` that shows how far one stage of work is.

    A terminal shows a bar once two seconds have passed, other outputs get a line every 30 seconds.
    Nothing is shown when ``quiet``.
    """
    with stage_bars(title, quiet=quiet) as report:
        yield lambda done, total: report(title, done, total)


@contextmanager
def stage_bars(
    title: str = "working", *, quiet: bool = False
) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function ``report(title, done, total)`` that shows one stage of work at a time.

    ``title`` is the stage until the first report.
    """
    stage = _Stage(title)

    def report(title: str, done: int, total: int) -> None:
        nonlocal stage
        raise_noted()
        if title != stage.title:
            stage.close()
            stage = _Stage(title)
        stage.done = done
        stage.total = total
        if not quiet and _is_terminal():
            stage.draw()

    with steady_lines(lambda: stage.line(), quiet=quiet):
        try:
            yield report
        finally:
            stage.close()


class _Stage:
    """A stage of work: its title, how far it is, and its bar once it takes long."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.done = 0
        self.total = 0
        self._started = monotonic()
        self._bar: Bar | None = None
        self._task: Any = None

    def draw(self) -> None:
        """Show the bar, once the stage has taken longer than a user waits without one."""
        if self._bar is None and monotonic() - self._started > _PATIENCE_S:
            self._bar = _bar()
            self._task = self._bar.add_task(self.title, total=self.total, start=False)
            self._bar.start()
        if self._bar is not None:
            if 100 * self.done >= self.total:  # less than 1 % gives no estimate of the time left
                self._bar.start_task(self._task)
            self._bar.update(self._task, completed=self.done, total=self.total)

    def line(self) -> str:
        """Return how far the stage is, and the time left, as text."""
        seconds = monotonic() - self._started
        if not self.done or not self.total:
            return f"{self.title}: {_clock_time(seconds)} so far"
        left = seconds * (self.total - self.done) / self.done
        return f"{self.title}: {100 * self.done / self.total:.0f} %, {_clock_time(left)} left"

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()


def _clock_time(seconds: float) -> str:
    minutes, full_seconds = divmod(round(seconds), 60)
    return f"{minutes}:{full_seconds:02}"


def _cell_line(record: "Record") -> str:
    """Return the name of a cell and its first measure, or why it failed."""
    from kmaps.bench.records.columns import cell_name

    if record["status"] == "failed":
        return f"{cell_name(record)}: failed, {record['error']}"
    from kmaps.bench.kinds import SHOWN
    from kmaps.bench.records.columns import WARNED, warned
    from kmaps.bench.records.measures import MEASURES

    measure = MEASURES[SHOWN[record["kind"]].measures([record])[0]]
    title, _, unit = measure.title.partition(", ")
    value = measure.value(record)
    text = "–" if value is None else f"{measure.format(value)} {unit}".rstrip()
    line = f"{cell_name(record)}: {title} {text}"
    warnings = "; ".join(WARNED[name] for name in warned(record))
    return f"{line} ({warnings})" if warnings else line


def _time_left(progress: "RunProgress") -> str:
    if progress.seconds_left is None:
        return "starting"
    return f"{_clock_time(progress.seconds_left)} left"


def say_compiling(*, quiet: bool) -> None:
    """Report that loops without compiled files are being compiled, unless ``quiet``."""
    from kmaps import compiled_folder

    if not quiet and not any(compiled_folder().rglob("*.nbi")):
        say("compiling the loops, once, outside all times (see `kmaps warmup`)", err=True)


@contextmanager
def cell_bar(*, quiet: bool = False, finished: str = "") -> Iterator[dict[str, Any]]:
    """Yield arguments of a run: the ``command`` of its records, and the functions that show the
    ``progress`` of its cells and which features are ``extracted``.

    A terminal shows a bar, and a line for each cell that failed; other outputs get a line for each
    cell and for each finished stage of the features, and one every 30 seconds. Ctrl-C prints which
    records are ``finished``.
    """
    state = "starting"

    def print_cell(progress: "RunProgress") -> None:
        nonlocal state
        count = f"{progress.done}/{progress.total}"
        time_left = _time_left(progress)
        state = f"{count}, {time_left}"
        if progress.last:
            say(f"{count}  {_cell_line(progress.last)}, {time_left}", err=True)

    def print_stage(title: str, done: int, total: int) -> None:
        nonlocal state
        state = f"{title}: {done:,} of {total:,} images"
        if done == total:
            say(f"{title}: {total} images", err=True)

    with ExitStack() as displays:
        try:
            show_cell: Callable = print_cell
            show_stage: Callable = print_stage
            if quiet:
                show_cell = _show_nothing
                show_stage = _show_nothing
            elif _is_terminal():
                show_cell, show_stage = _bar_functions(displays.enter_context(_bar("cells")))
            displays.enter_context(steady_lines(lambda: state, quiet=quiet))
            command = click.get_current_context().meta.get(COMMAND_LINE, "")
            yield {"progress": show_cell, "extracted": show_stage, "command": command}
        except KeyboardInterrupt:
            displays.close()
            if finished and not quiet:
                say(f"the finished {finished} are kept; the same command resumes", err=True)
            raise


def _show_nothing(*progress: object) -> None:
    """Take the progress of cells or stages when a run is quiet."""


@contextmanager
def byte_bar(*, quiet: bool) -> Iterator[Callable[[str, int, int | None], None]]:
    """Yield a function ``report(title, done, total)`` that shows a bar of bytes."""
    state = "starting"

    def keep_state(title: str, done: int, total: int | None) -> None:
        nonlocal state
        of_total = "" if total is None else f" of {megabytes(total)}"
        state = f"{title}: {megabytes(done)}{of_total}"

    if quiet:
        yield _show_nothing
    elif _is_terminal():
        with _bar("bytes") as bar:
            _, show_stage = _bar_functions(bar)
            yield show_stage
    else:
        with steady_lines(lambda: state, quiet=quiet):
            yield keep_state


def _bar_functions(
    bar: "Bar",
) -> tuple[Callable[["RunProgress"], None], Callable[[str, int, int | None], None]]:
    """Return the functions that show the progress of cells, and of a stage, on a bar."""
    task = bar.add_task("")

    def show_cell(progress: "RunProgress") -> None:
        time_left = _time_left(progress)
        bar.update(task, total=progress.total, completed=progress.done, description=time_left)
        if progress.last and progress.last["status"] == "failed":
            bar.console.print(printable(_cell_line(progress.last)), markup=False, highlight=False)

    def show_stage(title: str, done: int, total: int | None) -> None:
        bar.update(task, total=total, completed=done, description=printable(title))

    return show_cell, show_stage


def _bar(unit: str = "") -> "Bar":
    # Rich takes a tenth of a second to import, so import it only for long work.
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    last_columns = {
        "": [progress.TaskProgressColumn(), progress.TimeRemainingColumn()],
        "cells": [progress.MofNCompleteColumn()],
        "bytes": [progress.DownloadColumn(), progress.TimeRemainingColumn()],
    }
    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        *last_columns[unit],
        console=console,
        transient=True,
        disable=not console.is_terminal,
        redirect_stdout=False,
    )
