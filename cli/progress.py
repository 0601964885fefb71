"""A progress bar with the time left, on standard error, for work that takes seconds."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from kmaps.cli.flags import COMMAND_LINE, say
from kmaps.errors import printable

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from kmaps.bench.records.columns import Record
    from kmaps.bench.run.runner import RunProgress

_PATIENCE_S = 2.0


@contextmanager
def progress_bar(title: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Yield a function ``report(done, total)`` that shows a bar once two seconds have passed.

    Nothing is shown when ``quiet``, or when standard error is not a terminal.
    """
    started = monotonic()
    bar = task = None

    def report(done: int, total: int) -> None:
        nonlocal bar, task
        if bar is None and not quiet and monotonic() - started > _PATIENCE_S:
            bar = _bar()
            task = bar.add_task(title, total=total, start=False)
            bar.start()
        if bar is not None:
            if 100 * done >= total:  # from less no time left is estimated
                bar.start_task(task)
            bar.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        if bar is not None:
            bar.stop()


@contextmanager
def stage_bars(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function ``report(title, done, total)`` that shows a bar for one title at a time."""
    with ExitStack() as shown:
        current, show = None, None

        def report(title: str, done: int, total: int) -> None:
            nonlocal current, show
            if title != current:
                shown.close()
                current, show = title, shown.enter_context(progress_bar(title, quiet=quiet))
            show(done, total)

        yield report


def _described(record: "Record") -> str:
    from kmaps.bench.records.columns import cell_name

    if record["status"] == "failed":
        return f"{cell_name(record)}: failed, {record['error']}"
    from kmaps.bench.kinds import SHOWN
    from kmaps.bench.records.columns import WARNED, warned
    from kmaps.bench.records.measures import MEASURES

    measure = MEASURES[SHOWN[record["kind"]].measures([record])[0]]
    title, _, unit = measure.title.partition(", ")
    value = measure.value(record)
    shown = "–" if value is None else f"{measure.format(value)} {unit}".rstrip()
    warnings = "; ".join(WARNED[name] for name in warned(record))
    return f"{cell_name(record)}: {title} {shown}{warnings and f' ({warnings})'}"


def _left(progress: "RunProgress") -> str:
    if progress.seconds_left is None:
        return "starting"
    minutes, seconds = divmod(round(progress.seconds_left), 60)
    return f"{minutes}:{seconds:02} left"


def say_compiling(*, quiet: bool) -> None:
    """Report that loops without compiled files are being compiled, unless ``quiet``."""
    from kmaps import compiled_folder

    if not quiet and not any(compiled_folder().rglob("*.nbi")):
        say("compiling the loops, once, outside all times (see `kmaps warmup`)", err=True)


@contextmanager
def cell_bar(*, quiet: bool = False, kept: str = "") -> Iterator[dict[str, Any]]:
    """Yield arguments of a run: the ``command`` of its records, and the functions that show the
    ``progress`` of its cells and which features are ``extracted``.

    A terminal shows a bar, and a line for each cell that failed; other outputs get a line for each
    cell and for each finished stage of the features. Ctrl-C prints which records are ``kept``.
    """
    with ExitStack() as shown:
        try:
            shows: tuple[Callable, Callable] = _print_cell, _print_stage
            if quiet:
                shows = lambda progress: None, lambda title, done, total: None
            elif sys.stderr.isatty():
                shows = _shown_on(shown.enter_context(_bar("cells")))
            command = click.get_current_context().meta.get(COMMAND_LINE, "")
            yield {"progress": shows[0], "extracted": shows[1], "command": command}
        except KeyboardInterrupt:
            shown.close()
            if kept and not quiet:
                say(f"the finished {kept} are kept; the same command resumes", err=True)
            raise


@contextmanager
def byte_bar(*, quiet: bool) -> Iterator[Callable[[str, int, int | None], None]]:
    """Yield a function ``report(title, done, total)`` that shows a bar of bytes."""
    if quiet:
        yield lambda title, done, total: None
    else:
        with _bar("bytes") as bar:
            yield _shown_on(bar)[1]


def _shown_on(
    bar: "Bar",
) -> tuple[Callable[["RunProgress"], None], Callable[[str, int, int | None], None]]:
    task = bar.add_task("")

    def show(progress: "RunProgress") -> None:
        left = _left(progress)
        bar.update(task, total=progress.total, completed=progress.done, description=left)
        if progress.last and progress.last["status"] == "failed":
            bar.console.print(printable(_described(progress.last)), markup=False, highlight=False)

    def show_stage(title: str, done: int, total: int | None) -> None:
        bar.update(task, total=total, completed=done, description=printable(title))

    return show, show_stage


def _print_cell(progress: "RunProgress") -> None:
    if progress.last:
        line, left = _described(progress.last), _left(progress)
        say(f"{progress.done}/{progress.total}  {line}, {left}", err=True)


def _print_stage(title: str, done: int, total: int) -> None:
    if done == total:
        say(f"{title}: {total} images", err=True)


def _bar(counted: str = "") -> "Bar":
    # Rich takes a tenth of a second to import, so import it only for long work.
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    ends = {
        "": [progress.TaskProgressColumn(), progress.TimeRemainingColumn()],
        "cells": [progress.MofNCompleteColumn()],
        "bytes": [progress.DownloadColumn(), progress.TimeRemainingColumn()],
    }
    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        *ends[counted],
        console=console,
        transient=True,
        disable=not console.is_terminal,
        redirect_stdout=False,
    )
