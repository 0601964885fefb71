"""``kmaps run``: run an experiment and record every cell."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmaps.cli.cluster import connected
from kmaps.cli.completing import experiments, names
from kmaps.cli.flags import COUNT, FOLDER, allowing, few_of, say, say_imports
from kmaps.errors import CellsFailed, DataError

if TYPE_CHECKING:
    from kmaps.bench.run.runner import Outcome
    from kmaps.bench.spec.fields import Experiment


@click.command(
    epilog="\b\nExamples:\n  kmaps run quickstart"
    "\n  kmaps run quickstart --only exact --set splits=1 --dry-run"
    "\n  kmaps run quickstart --cluster local:2"
)
@click.argument("experiment", shell_complete=names(experiments, or_files=True))
@click.option(
    "--out",
    type=FOLDER,
    help="Folder of the records. [default: runs/NAME, with a preset runs/NAME-PRESET]",
)
@click.option("--preset", help="Run this preset of the experiment.")
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Measure only the rows of this name, or whose name begins with these words; * stands for "
    "any text. Repeat for several; --dry-run shows the names.",
)
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a key of the experiment: splits=2, dataset.train=100, maps.0.order=[1,2]; the "
    "value is YAML. Repeat for several. The name of the run shows the changes.",
)
@click.option(
    "--jobs",
    type=COUNT,
    default=1,
    help="Cells measured at once. More than one cell disturbs the times, never the accuracies.",
)
@click.option(
    "--threads",
    type=COUNT,
    help="Threads of each cell. [default: processors / jobs; 1 with --cluster]",
)
@click.option(
    "--cluster",
    metavar="ADDRESS|local:N",
    help="Measure the cells on a Dask cluster: the address of its scheduler, or N workers on this "
    "computer. Each worker reads the data from its own cache, or a shared one. Needs the extra "
    "`cluster`.",
)
@click.option("--retry-failed", is_flag=True, help="Measure again the cells that failed.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first cell that fails.")
@click.option("--skip-bad", is_flag=True, help="Leave out images that cannot be used.")
@allowing
@click.option(
    "--dry-run",
    is_flag=True,
    help="Run nothing: list the cells, check that the dataset is large enough, and report the "
    "times of published cells.",
)
@click.option("--quiet", "-q", is_flag=True, help="Show no progress and no notes.")
def command(
    experiment: str,
    out: Path | None,
    preset: str | None,
    changes: tuple[str, ...],
    cluster: str | None,
    dry_run: bool,
    quiet: bool,
    **how: Any,
) -> None:
    """Run EXPERIMENT, a YAML file or the name of one that comes with kmaps (`kmaps list`).

    Every finished cell is one line of records.jsonl in the output folder; the same command again
    resumes there. The table of these cells goes to standard output. The default folder is in runs,
    so that no run touches the published records in results.
    """
    from kmaps.bench.kinds.load import load_whole, packaged

    checked, content = load_whole(experiment, preset, changes)
    out = out or Path("runs", checked.experiment)
    say_imports(checked, how["allow"], how["allow_code"], quiet=quiet)
    if dry_run:
        from kmaps.bench.run.plan import published_folder

        published = published_folder(Path(experiment).stem, preset)
        _list_cells(checked, out, how["only"], published, quiet)
        return
    from kmaps.bench.run.runner import run
    from kmaps.cli.progress import cell_bar, say_compiling

    say_compiling(quiet=quiet)
    there = nullcontext() if cluster is None else connected(cluster, "jobs")
    with there as client, cell_bar(quiet=quiet, kept="cells") as reports:
        kept = content if changes or experiment not in packaged() else None
        outcome = run(checked, out, **how, client=client, definition=kept, **reports)
    if not outcome.measured and not quiet:
        say(f"nothing to do: all {len(outcome.records)} cells are in {out}", err=True)
    _show(outcome, checked.kind)


def _show(outcome: "Outcome", kind: str) -> None:
    from kmaps.bench.kinds import SHOWN
    from kmaps.bench.records.columns import cell_name
    from kmaps.bench.report.tables import render

    measures = SHOWN[kind].measures(outcome.records)
    say(render(outcome.records, "text", measures), nl=False)
    failed = outcome.failed
    if not failed:
        return
    listed = few_of([f"{cell_name(record)} ({record['error']})" for record in failed])
    missing = f", {outcome.missing} not run" if outcome.missing else ""
    total = len(outcome.records) + outcome.missing
    raise CellsFailed(
        f"{len(failed)} of {total} cells failed{missing}: {listed}. "
        "--retry-failed measures them again"
    )


def _list_cells(
    experiment: "Experiment", out: Path, only: Sequence[str], published: Path, quiet: bool
) -> None:
    """Print the cells of a run and their states; refuse all that the run would refuse."""
    from kmaps.bench.kinds import KINDS
    from kmaps.bench.records.columns import cell_name
    from kmaps.bench.run.plan import of_rows, plan, records_of

    cells = of_rows(plan(experiment), only)
    unchecked = ""
    try:
        KINDS[experiment.kind].draw_splits(cells.values())
    except DataError as error:
        unchecked = f"the number of samples was not checked: {error}"
    status = {record["key"]: record["status"] for record in records_of(out)}
    words = {"ok": "done", "failed": "failed", None: "to do"}
    states = {key: words[status.get(key)] for key in cells}
    for key, cell in cells.items():
        say(f"{states[key]:6}  {cell_name(cell.columns)}")
    if quiet:
        return
    found = list(states.values())
    counts = ", ".join(f"{found.count(word)} {word}" for word in words.values())
    say(f"{len(found)} cells: {counts}, in {out}", err=True)
    to_do = [key for key, state in states.items() if state == "to do"]
    if to_do:
        say(_estimate(to_do, published), err=True)
    if unchecked:
        say(unchecked, err=True)


def _estimate(keys: Sequence[str], published: Path) -> str:
    """Report the time and memory of the published records of some cells, and no guesses."""
    from kmaps.bench.records.times import forecast
    from kmaps.bench.run.plan import records_of

    known = forecast(keys, records_of(published))
    if not known.known:
        return "there is no estimate: no record of these cells is published"
    parts = []
    if known.seconds is not None:
        parts.append(f"{_duration(known.seconds)} one after the other")
    if known.peak_bytes is not None:
        parts.append(f"at most {known.peak_bytes / 1e6:,.0f} MB beyond the data")
    return (
        f"estimate, from the records of {known.known} of the {known.cells} cells to do in "
        f"{_shown(published)} ({known.where}): {', '.join(parts) or 'neither time nor memory'}; "
        "reading the data and extracting features take additional time"
    )


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _shown(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
