"""``kmaps run``: run an experiment and record every cell."""

from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kmaps.cli.cluster import cluster_client
from kmaps.cli.completing import experiments, names
from kmaps.cli.flags import (
    COUNT,
    FOLDER,
    GroupedCommand,
    Number,
    allowing,
    few_of,
    refuse_options,
    say,
    say_imports,
)
from kmaps.errors import CellsFailed, ConfigError, DataError

if TYPE_CHECKING:
    from kmaps.bench.run.runner import RunResult
    from kmaps.bench.spec.fields import Experiment

_OF_ONE_RUN = ("only", "changes", "jobs", "cluster", "retry_failed", "fail_fast", "skip_bad")
"""Options of one run: neither for several experiments nor for --again."""

_OF_AGAIN = ("definition", "repeats", "common_C", "even_if_busy")
"""Options that need --again."""


@click.command(
    cls=GroupedCommand,
    groups={
        "Cells": "preset only changes retry_failed fail_fast skip_bad dry_run",
        "Computation": "jobs threads cluster allow allow_code",
        "Times (with --again)": "again repeats common_C even_if_busy definition",
    },
    epilog="\b\nExamples:\n  kmaps run quickstart"
    "\n  kmaps run quickstart --only exact --set splits=1 --dry-run"
    "\n  kmaps run quickstart --cluster local:2"
    "\n  kmaps run --all --preset small"
    "\n  kmaps run --again runs/quickstart --repeats 5 --common-C 1",
)
@click.argument(
    "experiment_names",
    metavar="EXPERIMENT...",
    nargs=-1,
    shell_complete=names(experiments, or_files=True),
)
@click.option(
    "--all",
    "all_experiments",
    is_flag=True,
    help="Run every experiment that comes with kmaps, or each one that is named, the quickest "
    "first, and compare each run with the published one.",
)
@click.option(
    "--out",
    type=FOLDER,
    help="Folder of the records. [default: runs/NAME, with a preset runs/NAME-PRESET]. With --all: "
    "the folder that gets a folder per run. [default: runs]",
)
@click.option("--preset", help="Run this preset of the experiment; --all leaves out others.")
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
    help="Threads of each cell. [default: processors / jobs; 1 with --cluster and with --again, "
    "which pins them to as many processors]",
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
    "--again",
    is_flag=True,
    help="Time the measured cells in the folder EXPERIMENT again, several times each.",
)
@click.option(
    "--repeats",
    type=COUNT,
    default=5,
    help="Number of measurements of each cell, those on record included.",
)
@click.option(
    "--common-C",
    "common_C",
    type=Number(min=0, min_open=True),
    metavar="VALUE",
    help="Time every cell at this C too.",
)
@click.option(
    "--even-if-busy",
    is_flag=True,
    help="Measure although other work runs on the computer, and mark the times.",
)
@click.option(
    "--experiment",
    "definition",
    metavar="NAME",
    help="The YAML file of the records, or its name. [default: experiment.yaml next to the "
    "records, else the name in them]",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Run nothing: list the cells, check that the dataset is large enough, and report the "
    "times of published cells.",
)
@click.option("--quiet", "-q", is_flag=True, help="Show no progress and no notes.")
def command(
    experiment_names: tuple[str, ...],
    all_experiments: bool,
    out: Path | None,
    preset: str | None,
    only: tuple[str, ...],
    changes: tuple[str, ...],
    jobs: int,
    threads: int | None,
    cluster: str | None,
    retry_failed: bool,
    fail_fast: bool,
    skip_bad: bool,
    allow: tuple[str, ...],
    allow_code: bool,
    again: bool,
    repeats: int,
    common_C: float | None,
    even_if_busy: bool,
    definition: str | None,
    dry_run: bool,
    quiet: bool,
) -> None:
    """Run EXPERIMENT, a YAML file or the name of one that comes with kmaps (`kmaps list`).

    Every finished cell is one line of records.jsonl in the output folder; the same command again
    resumes there. The table of these cells goes to standard output. The default folder is in runs,
    so that no run touches the published records in results.

    With --all, or with several names, each run is compared with the published one, in a source
    checkout. Experiments whose data or packages are missing are left out and listed. At the end the
    command writes a page on each run and, without --preset, the page on all runs
    (`kmaps report --all`).

    With --again the command measures one cell at a time, pinned to processors, after a warm-up;
    repeat 1 of all cells comes before repeat 2 of any. Each cell is trained with the C of its
    record; if it does not reproduce the recorded result, its time is discarded. Every measurement
    (times and peaks of memory) is one line of times.jsonl, next to the records; the same command
    again resumes there. Tables and pages then show medians and quartiles, and claims about times
    and memory are judged by the repeats. Delete the file to undo this. The command refuses a
    computer with other work, by its load average, the time that the host of a virtual machine
    takes, and the processor time of other processes within a second.

    \b
    Exit code 0  done; with --all, no cell is worse than published
              1  with --all: a cell is worse or missing
              3  a cell failed
              5  nothing could be run
    """
    if again:
        refuse_options(
            ("all_experiments", "out", "dry_run", *_OF_ONE_RUN),
            "not with --again, which measures the cells of one folder; leave it out",
        )
        if len(experiment_names) != 1:
            raise click.UsageError("--again: name one folder with the records of a run")
        from kmaps.cli.run_again import run_again

        run_again(
            Path(experiment_names[0]),
            definition=definition,
            preset=preset,
            repeats=repeats,
            threads=threads or 1,
            common_C=common_C,
            even_if_busy=even_if_busy,
            allow=allow,
            allow_code=allow_code,
            quiet=quiet,
        )
        return
    refuse_options(_OF_AGAIN, "needs --again, which times the cells of a run again")
    if all_experiments or len(experiment_names) > 1:
        refuse_options(
            (*_OF_ONE_RUN, "allow", "allow_code"),
            "not with several experiments; name one, without --all",
        )
        from kmaps.cli.run_all import run_all

        run_all(
            experiment_names,
            preset=preset,
            out=out or Path("runs"),
            threads=threads,
            dry_run=dry_run,
            quiet=quiet,
        )
        return
    if not experiment_names:
        raise click.UsageError("Missing argument 'EXPERIMENT', or --all for every experiment.")
    name = experiment_names[0]
    _refuse_folder(name)
    from kmaps.bench.kinds.load import load_whole, packaged

    experiment, content = load_whole(name, preset, changes)
    out = out or Path("runs", experiment.experiment)
    say_imports(experiment, allow, allow_code, quiet=quiet)
    if dry_run:
        from kmaps.bench.run.plan import published_folder

        published = published_folder(Path(name).stem, preset)
        _list_cells(experiment, out, only, published, quiet, allow=allow, allow_code=allow_code)
        return
    from kmaps.bench.run.runner import run
    from kmaps.cli.progress import cell_bar, say_compiling

    say_compiling(quiet=quiet)
    workers = nullcontext() if cluster is None else cluster_client(cluster, "jobs")
    with workers as client, cell_bar(quiet=quiet, finished="cells") as reports:
        outcome = run(
            experiment,
            out,
            only=only,
            jobs=jobs,
            client=client,
            threads=threads,
            retry_failed=retry_failed,
            fail_fast=fail_fast,
            skip_bad=skip_bad,
            allow=allow,
            allow_code=allow_code,
            definition=content if changes or name not in packaged() else None,
            **reports,
        )
    if not outcome.measured and not quiet:
        note = f"nothing to do: all {len(outcome.records)} cells are in {out}"
        if outcome.is_redefined:
            note += (
                f"; experiment.yaml there is the new one: `kmaps report {out}` judges its claims, "
                "tables and figures have its names of rows"
            )
        say(note, err=True)
    _show(outcome, experiment)


def _refuse_folder(name: str) -> None:
    """Name the right commands for the folder of a run."""
    if Path(name, "records.jsonl").is_file():
        raise ConfigError(
            f"{name}: is the folder of a run: `kmaps table {name}` shows it, `kmaps run --again "
            f"{name}` times its cells again; expected an experiment, a YAML file or its name"
        )


def _show(outcome: "RunResult", experiment: "Experiment") -> None:
    from kmaps.bench.kinds import SHOWN
    from kmaps.bench.kinds.row_names import with_names
    from kmaps.bench.records.columns import cell_name
    from kmaps.bench.report.tables import render

    records = with_names(outcome.records, experiment)
    say(render(records, "text", SHOWN[experiment.kind].measures(records)), nl=False)
    failed = outcome.failed
    if not failed:
        return
    failures = few_of([f"{cell_name(record)} ({record['error']})" for record in failed])
    not_run = f", {outcome.missing} not run" if outcome.missing else ""
    total = len(outcome.records) + outcome.missing
    raise CellsFailed(
        f"{len(failed)} of {total} cells failed{not_run}: {failures}. "
        "--retry-failed measures them again"
    )


def _list_cells(
    experiment: "Experiment",
    out: Path,
    only: Sequence[str],
    published: Path,
    quiet: bool,
    *,
    allow: Collection[str],
    allow_code: bool,
) -> None:
    """Print the cells of a run and their states; refuse all that the run would refuse.

    Rows whose imports are not allowed are listed, but not imported.
    """
    from kmaps.bench.kinds import KINDS
    from kmaps.bench.records.columns import cell_name
    from kmaps.bench.run.plan import allowed_cells, of_rows, plan, records_of
    from kmaps.bench.run.runner import check_cells

    cells = of_rows(plan(experiment), only)
    warning = ""
    try:
        KINDS[experiment.kind].draw_splits(cells.values())
    except DataError as error:
        warning = f"the number of samples was not checked: {error}"
    status = {record["key"]: record["status"] for record in records_of(out)}
    words = {"ok": "done", "failed": "failed", None: "to do"}
    states = {key: words[status.get(key)] for key in cells}
    new_cells = [cell for key, cell in cells.items() if states[key] == "to do"]
    allowed = allowed_cells(new_cells, experiment, allow, allow_code)
    check_cells(allowed, experiment, allow, allow_code)
    for key, cell in cells.items():
        say(f"{states[key]:6}  {cell_name(cell.columns)}")
    if quiet:
        return
    counts = Counter(states.values())
    count_texts = [f"{counts[word]} {word}" for word in words.values()]
    say(f"{len(cells)} cells: {', '.join(count_texts)}, in {out}", err=True)
    new_keys = [key for key, state in states.items() if state == "to do"]
    if new_keys:
        say(_estimate(new_keys, published), err=True)
    if warning:
        say(warning, err=True)


def _estimate(keys: Sequence[str], published: Path) -> str:
    """Report the time and memory of the published records of some cells, and no guesses."""
    from kmaps.bench.records.times import forecast
    from kmaps.bench.run.plan import records_of

    expected = forecast(keys, records_of(published))
    if not expected.known:
        if not published.parent.is_dir():
            return "there is no estimate: published records come with a source checkout alone"
        return "there is no estimate: no record of these cells is published"
    costs = []
    if expected.seconds is not None:
        costs.append(f"{_duration(expected.seconds)} one after the other")
    if expected.peak_bytes is not None:
        costs.append(f"at most {expected.peak_bytes / 1e6:,.0f} MB beyond the data")
    return (
        f"estimate, from the records of {expected.known} of the {expected.cells} cells to do in "
        f"{_relative(published)} ({expected.where}): "
        f"{', '.join(costs) or 'neither time nor memory'}; reading the data and extracting "
        "features take additional time"
    )


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _relative(path: Path) -> Path:
    """Return a path as seen from the current folder, if it lies in it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
