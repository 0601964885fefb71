"""A progress bar with the time left, on standard error, for what takes longer than a moment."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from kmaps.bench.records.columns import Record
    from kmaps.bench.run.progress import Progress

_PATIENCE_S = 2.0


@contextmanager
def progress_bar(title: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Yield a function ``report(done, total)`` that shows a bar once two seconds have passed.

    Nothing is shown when ``quiet``, or when standard error is not a terminal.

    Parameters
    ----------
    title : str
        Shown before the bar.
    quiet : bool
    """
    started = monotonic()
    bar = task = None

    def report(done: int, total: int) -> None:
        nonlocal bar, task
        if bar is None and not quiet and monotonic() - started > _PATIENCE_S:
            bar = _bar()
            task = bar.add_task(title, total=total)
            bar.start()
        if bar is not None:
            bar.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        if bar is not None:
            bar.stop()


@contextmanager
def stage_bars(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function ``report(title, done, total)`` that shows a bar for one title at a time.

    Parameters
    ----------
    quiet : bool
        As in :func:`progress_bar`.
    """
    with ExitStack() as shown:
        current, show = None, None

        def report(title: str, done: int, total: int) -> None:
            nonlocal current, show
            if title != current:
                shown.close()
                current, show = title, shown.enter_context(progress_bar(title, quiet=quiet))
            show(done, total)

        yield report


@dataclass(frozen=True)
class CellState:
    """How far a run is: cells done of all, the time left in words, the last cell in a line."""

    done: int
    total: int
    left: str
    line: str
    failed: bool


def cell_state(progress: "Progress") -> "CellState":
    """Say what a run's progress is to be shown as."""
    last = progress.last
    return CellState(
        done=progress.done,
        total=progress.total,
        left=_left(progress),
        line=_described(last) if last else "",
        failed=bool(last) and last["status"] == "failed",
    )


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
    told = "; ".join(WARNED[name] for name in warned(record))
    return f"{cell_name(record)}: {title} {shown}{told and f' ({told})'}"


def _left(progress: "Progress") -> str:
    if progress.seconds_left is None:
        return "starting"
    minutes, seconds = divmod(round(progress.seconds_left), 60)
    return f"{minutes}:{seconds:02} left"


def say_compiling(*, quiet: bool) -> None:
    """Say that what has no compiled files yet is compiled, unless ``quiet``."""
    from kmaps.cli.compiling import compiled_folder

    if not quiet and not any(compiled_folder().rglob("*.nbi")):
        click.echo("compiling, once, outside all times (`kmaps warmup` does it ahead)", err=True)


@contextmanager
def cell_bar(
    *, quiet: bool = False
) -> Iterator[tuple[Callable[[CellState], None], Callable[[str, int, int], None]]]:
    """Yield the functions that show the progress of a run's cells and of its features.

    On a terminal that is a bar, and a line for each cell that failed; elsewhere a line for each
    cell and for each finished stage of the features.

    Parameters
    ----------
    quiet : bool
        Whether to show nothing.
    """
    if quiet:
        yield lambda state: None, lambda title, done, total: None
    elif not sys.stderr.isatty():
        yield _print_cell, _print_stage
    else:
        with _bar(counted=True) as bar:
            task = bar.add_task("")

            def show(state: CellState) -> None:
                bar.update(task, total=state.total, completed=state.done, description=state.left)
                if state.failed:
                    bar.console.print(state.line, markup=False, highlight=False)

            def show_stage(title: str, done: int, total: int) -> None:
                bar.update(task, total=total, completed=done, description=title)

            yield show, show_stage


def _print_cell(state: CellState) -> None:
    if state.line:
        click.echo(f"{state.done}/{state.total}  {state.line}, {state.left}", err=True)


def _print_stage(title: str, done: int, total: int) -> None:
    if done == total:
        click.echo(f"{title}: {total} images", err=True)


def _bar(*, counted: bool = False) -> "Bar":
    # Rich takes a tenth of a second to import: only for those who wait.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    ends = [MofNCompleteColumn()] if counted else [TaskProgressColumn(), TimeRemainingColumn()]
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *ends,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        redirect_stdout=False,
    )
