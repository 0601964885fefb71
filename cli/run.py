"""``kmaps run``: measure the cells of an experiment, resume, show the table."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kmaps.errors import CellsFailed, NothingMeasured

if TYPE_CHECKING:
    from kmaps.bench.kinds.load import Experiment
    from kmaps.bench.records.file import Record
    from kmaps.bench.run.runner import Outcome, Progress
    from kmaps.features import Report

_LISTED_FAILURES = 5


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from kmaps.bench.kinds.load import packaged

    return [name for name in packaged() if name.startswith(incomplete)]


@click.command(epilog="\b\nExample:\n  kmaps run quickstart --out results/quickstart")
@click.argument("experiment", shell_complete=_complete)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the records. [default: results/NAME]",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Cells measured at once. More than one disturbs the times, never the accuracies.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Threads of each cell. [default: processors / jobs]",
)
@click.option("--retry-failed", is_flag=True, help="Measure the cells that failed again.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first cell that fails.")
@click.option("--skip-bad", is_flag=True, help="Leave out pictures that cannot be used.")
@click.option("--dry-run", is_flag=True, help="List the cells and what is done; run nothing.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes.")
def command(
    experiment: str,
    out: Path | None,
    jobs: int,
    threads: int | None,
    retry_failed: bool,
    fail_fast: bool,
    skip_bad: bool,
    dry_run: bool,
    quiet: bool,
) -> None:
    """Run EXPERIMENT, a YAML file or the name of one that comes with kmaps (`kmaps list`).

    Every finished cell is one line of records.jsonl in the output folder; the same command again
    resumes there. The table of all records goes to standard output.
    """
    from kmaps.bench.kinds.load import Experiment, load

    checked = load(experiment)
    out = out or Path("results", checked.experiment)
    if dry_run:
        _list_cells(checked, out, quiet)
        return
    from kmaps.bench.kinds.study import run_study
    from kmaps.bench.report.tables import render
    from kmaps.bench.run.runner import run

    try:
        if not isinstance(checked, Experiment):
            outcome = run_study(checked, out)
        else:
            with _shown(quiet) as (progress, extracted):
                outcome = run(
                    checked,
                    out,
                    jobs=jobs,
                    threads=threads,
                    retry_failed=retry_failed,
                    fail_fast=fail_fast,
                    skip_bad=skip_bad,
                    progress=progress,
                    extracted=extracted,
                )
    except KeyboardInterrupt:
        if not quiet:
            click.echo("the finished cells are kept; the same command resumes", err=True)
        raise
    _draw(checked, outcome, out)
    if not outcome.measured and not quiet:
        click.echo(f"nothing to do: all {len(outcome.records)} cells are in {out}", err=True)
    click.echo(render(outcome.records), nl=False)
    _report_failures(outcome)


def _draw(checked: "Experiment", outcome: "Outcome", out: Path) -> None:
    """Draw the figures that are made of records alone."""
    if checked.kind == "scaling":
        from kmaps.bench.figures.growth import draw_growth

        draw_growth(outcome.records, out / "scaling.png")
    if "accuracy" in getattr(checked, "figures", []):
        from kmaps.bench.figures.accuracy import draw_accuracy

        draw_accuracy(outcome.records, out / "accuracy.png")


def _list_cells(experiment: "Experiment", out: Path, quiet: bool) -> None:
    from kmaps.bench.kinds.load import Experiment
    from kmaps.bench.kinds.study import study_cells
    from kmaps.bench.records.file import read_records
    from kmaps.bench.run.runner import plan

    try:
        status = {record["key"]: record["status"] for record in read_records(out)}
    except NothingMeasured:
        status = {}
    words = {"ok": "done", "failed": "failed", None: "to do"}
    states = []
    if isinstance(experiment, Experiment):
        planned = plan(experiment)
    else:
        planned = {cell.key: cell for cell in study_cells(experiment)}
    for key, cell in planned.items():
        states.append(words[status.get(key)])
        click.echo(f"{states[-1]:6}  {cell.name}")
    if not quiet:
        counts = ", ".join(f"{states.count(word)} {word}" for word in words.values())
        click.echo(f"{len(states)} cells: {counts}", err=True)


def _report_failures(outcome: "Outcome") -> None:
    from kmaps.bench.records.file import cell_name

    failed = outcome.failed
    if not failed:
        return
    listed = [f"{cell_name(record)} ({record['error']})" for record in failed[:_LISTED_FAILURES]]
    if len(failed) > _LISTED_FAILURES:
        listed.append(f"and {len(failed) - _LISTED_FAILURES} more")
    missing = f", {outcome.missing} not run" if outcome.missing else ""
    total = len(outcome.records) + outcome.missing
    raise CellsFailed(
        f"{len(failed)} of {total} cells failed{missing}: {'; '.join(listed)}. "
        "--retry-failed measures them again"
    )


@contextmanager
def _shown(quiet: bool) -> "Iterator[tuple[Callable[[Progress], None], Report]]":
    """Yield the functions that show progress on standard error, of the cells and of the features.

    A bar, or a line a cell and a line for each finished stage of the features.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if quiet:
        yield lambda progress: None, lambda label, done, total: None
    elif not console.is_terminal:
        yield _print_line, _print_stage
    else:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
        with Bar(*columns, console=console, transient=True, redirect_stdout=False) as bar:
            task = bar.add_task("")

            def show(progress: "Progress") -> None:
                bar.update(
                    task,
                    total=progress.total,
                    completed=progress.done,
                    description=_left(progress),
                )
                if progress.last and progress.last["status"] == "failed":
                    bar.console.print(_described(progress.last), markup=False, highlight=False)

            def show_stage(label: str, done: int, total: int) -> None:
                bar.update(task, total=total, completed=done, description=label)

            yield show, show_stage


def _print_line(progress: "Progress") -> None:
    if progress.last:
        count = f"{progress.done}/{progress.total}"
        click.echo(f"{count}  {_described(progress.last)}, {_left(progress)}", err=True)


def _print_stage(label: str, done: int, total: int) -> None:
    if done == total:
        click.echo(f"{label}: {total} pictures", err=True)


def _described(record: "Record") -> str:
    from kmaps.bench.records.file import cell_name

    if record["status"] == "failed":
        return f"{cell_name(record)}: failed, {record['error']}"
    return f"{cell_name(record)}: {100 * record['accuracy']:.2f} %"


def _left(progress: "Progress") -> str:
    if progress.seconds_left is None:
        return "starting"
    minutes, seconds = divmod(round(progress.seconds_left), 60)
    return f"{minutes}:{seconds:02} left"
