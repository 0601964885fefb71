"""``kmaps time``: time the cells of a run again, several times each."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmaps.cli.flags import COUNT, FOLDER, Number, allowing, few_of, say, say_imports
from kmaps.errors import CellsFailed

if TYPE_CHECKING:
    from kmaps.bench.records.columns import Record
    from kmaps.bench.run.repeats import Timed


@click.command(
    epilog="\b\nExamples:\n  kmaps time results/quickstart --repeats 5"
    "\n  kmaps time results/quickstart --common-C 1"
)
@click.argument("results", type=FOLDER)
@click.option(
    "--experiment",
    metavar="NAME",
    help="The YAML file of the records, or its name. [default: experiment.yaml next to the "
    "records, else the name in them]",
)
@click.option("--preset", help="The preset of the experiment that made the records.")
@click.option(
    "--repeats", type=COUNT, default=5, help="Measurements of each cell, those on record included."
)
@click.option(
    "--threads", type=COUNT, default=1, help="Threads of each cell, pinned to as many processors."
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
@allowing
@click.option("--quiet", "-q", is_flag=True, help="Show no progress and no notes.")
def command(
    results: Path, experiment: str | None, preset: str | None, quiet: bool, **how: Any
) -> None:
    """Time the measured cells in the folder RESULTS again, and show the times.

    The command measures one cell at a time, pinned to processors, after a warm-up; repeat 1 of all
    cells comes before repeat 2 of any. Each cell is trained with the C of its record; if it does
    not reproduce the recorded result, its time is discarded.

    Every measurement (times and peaks of memory) is one line of times.jsonl, next to the records;
    the same command again resumes there. Tables and pages then show medians and quartiles, and
    claims about times and memory are judged by the repeats. Delete the file to undo this.

    The command refuses a computer with other work, by its load average, the time that the host of a
    virtual machine takes, and the processor time of other processes within a second.
    """
    from kmaps.bench.kinds.load import load
    from kmaps.bench.records.file import definition_file, read_records
    from kmaps.bench.run.repeats import time_again
    from kmaps.cli.progress import cell_bar

    recorded = read_records(results)[0]["experiment"]
    kept = definition_file(results)
    if kept and not experiment:
        checked = load(kept)
    else:
        checked = load(experiment or recorded.removesuffix(f"-{preset}"), preset)
    say_imports(checked, how["allow"], how["allow_code"], quiet=quiet)
    with cell_bar(quiet=quiet, kept="measurements") as reports:
        timed = time_again(checked, results, **how, **reports)
    if not quiet:
        _note(timed, results)
    _show(read_records(results))
    if failures := timed.failures:
        plural = "s" * (len(failures) != 1)
        raise CellsFailed(f"{len(failures)} cell{plural} could not be timed: {few_of(failures)}")


def _note(timed: "Timed", results: Path) -> None:
    if timed.load is None:
        say(f"nothing to do: all repeats are in {results}", err=True)
    elif timed.load.reason:
        say(f"warning: {timed.load.reason}: the times are marked", err=True)
    elif not timed.load.is_known:
        say("warning: this system does not report whether other work runs", err=True)


def _show(records: "list[Record]") -> None:
    from kmaps.bench.records.measures import MEASURES
    from kmaps.bench.report.tables import render

    again = [record for record in records if "repeats" in record or "common_repeats" in record]
    shown = ("time", "convert", "train", "predict", "time-common")
    measures = [name for name in shown if any(map(MEASURES[name].repeats, again))]
    if measures:
        say(render(again, "text", measures), nl=False)
