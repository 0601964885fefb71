"""``kmaps run``: measure the cells of an experiment, resume, show the table."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kmaps.errors import CellsFailed, NothingMeasured

if TYPE_CHECKING:
    from kmaps.bench.run.runner import Outcome
    from kmaps.bench.spec.fields import Experiment

_LISTED_FAILURES = 5


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from kmaps.bench.kinds.load import packaged

    return [name for name in packaged() if name.startswith(incomplete)]


@click.command(epilog="\b\nExample:\n  kmaps run quickstart --out results/quickstart")
@click.argument("experiment", shell_complete=_complete)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the records. [default: results/NAME, with a preset results/PRESET/NAME]",
)
@click.option("--preset", help="Run what the experiment gives under this name of its presets.")
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
@click.option("--skip-bad", is_flag=True, help="Leave out images that cannot be used.")
@click.option("--dry-run", is_flag=True, help="List the cells and what is done; run nothing.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes.")
def command(
    experiment: str,
    out: Path | None,
    preset: str | None,
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
    from kmaps.bench.kinds.load import load

    checked = load(experiment, preset)
    own = checked.experiment.removesuffix(f"-{preset}")
    out = out or Path("results", *filter(None, [preset]), own)
    if dry_run:
        _list_cells(checked, out, quiet)
        return
    from kmaps.bench.kinds import KINDS
    from kmaps.bench.report.tables import render
    from kmaps.bench.run.runner import run
    from kmaps.cli.main import GIVEN
    from kmaps.cli.progress import cell_bar, cell_state

    try:
        with cell_bar(quiet=quiet) as (progress, extracted):
            outcome = run(
                checked,
                out,
                jobs=jobs,
                threads=threads,
                retry_failed=retry_failed,
                fail_fast=fail_fast,
                skip_bad=skip_bad,
                progress=lambda state: progress(cell_state(state)),
                extracted=extracted,
                command=click.get_current_context().meta.get(GIVEN, ""),
            )
    except KeyboardInterrupt:
        if not quiet:
            click.echo("the finished cells are kept; the same command resumes", err=True)
        raise
    if not outcome.measured and not quiet:
        click.echo(f"nothing to do: all {len(outcome.records)} cells are in {out}", err=True)
    measures = KINDS[checked.kind].measures(outcome.records)
    click.echo(render(outcome.records, "text", measures), nl=False)
    _report_failures(outcome)


def _list_cells(experiment: "Experiment", out: Path, quiet: bool) -> None:
    from kmaps.bench.records.columns import cell_name
    from kmaps.bench.records.file import read_records
    from kmaps.bench.run.runner import plan

    try:
        status = {record["key"]: record["status"] for record in read_records(out)}
    except NothingMeasured:
        status = {}
    words = {"ok": "done", "failed": "failed", None: "to do"}
    states = []
    for key, cell in plan(experiment).items():
        states.append(words[status.get(key)])
        click.echo(f"{states[-1]:6}  {cell_name(cell.columns)}")
    if not quiet:
        counts = ", ".join(f"{states.count(word)} {word}" for word in words.values())
        click.echo(f"{len(states)} cells: {counts}", err=True)


def _report_failures(outcome: "Outcome") -> None:
    from kmaps.bench.records.columns import cell_name

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
