"""A progress bar with the time left, on standard error, for what takes longer than a moment."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic

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


def _bar():
    # Rich takes a tenth of a second to import: only for those who wait.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    console = Console(stderr=True)
    return Progress(
        *(TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeLeft()),
        console=console,
        transient=True,
        disable=not console.is_terminal,
        redirect_stdout=False,
    )
