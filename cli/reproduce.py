"""``kmaps reproduce``: run every experiment, and compare it with the published run."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kmaps.cli.completing import experiments, names
from kmaps.cli.flags import COUNT, FOLDER, say
from kmaps.errors import CellsFailed, ConfigError, DataError, GateFailed, NothingMeasured

if TYPE_CHECKING:
    from kmaps.bench.run.plan import Entry


@click.command(
    epilog="\b\nExamples:\n  kmaps reproduce --preset small"
    "\n  kmaps reproduce ldefm-table1 annfm-table1-mnist"
)
@click.argument("experiment", nargs=-1, shell_complete=names(experiments))
@click.option("--preset", help="Run the presets of this name; leave out experiments without one.")
@click.option("--out", type=FOLDER, default=Path("runs"), help="Folder that gets a folder per run.")
@click.option("--threads", type=COUNT, help="Threads of each cell. [default: processors]")
@click.option("--dry-run", is_flag=True, help="List the cells and their times; run none.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress and no notes.")
def command(
    experiment: tuple[str, ...],
    preset: str | None,
    out: Path,
    threads: int | None,
    dry_run: bool,
    quiet: bool,
) -> None:
    """Run each EXPERIMENT that comes with kmaps, by default all of them, the quickest first.

    Finished cells are kept: the same command again resumes. In a source checkout each run is
    compared with the published one. Experiments whose data or packages are missing are left out
    and listed. At the end the command writes a page on each run and, without --preset, the page on
    all runs (`kmaps report --all`).

    \b
    Exit code 0  no cell is worse than published
              1  a cell is worse or missing
              3  a cell failed
              5  nothing could be run
    """
    from kmaps.bench.paper.entries import packaged
    from kmaps.bench.run.plan import agenda

    entries = agenda(experiment or packaged(), out, preset)
    if not entries:
        raise ConfigError(f"--preset {preset}: none of these experiments has this preset")
    if dry_run:
        for entry in entries:
            say(f"{entry.experiment.experiment:36} {_to_do([entry])}")
        say(f"{len(entries)} experiments: {_to_do(entries)}", err=True)
        return
    left_out, worse, failed = [], [], []
    for place, entry in enumerate(entries):
        name = entry.experiment.experiment
        if not quiet:
            left = _to_do(entries[place:])
            say(f"{place + 1}/{len(entries)}  {name}, {left}", err=True)
        try:
            failed += [name] if _run(entry, threads, quiet) else []
            said, is_worse = _compared(entry)
            worse += [name] if is_worse else []
        except (ConfigError, DataError, NothingMeasured) as error:
            left_out.append(name)
            said = f"left out: {error}"
        say(f"{name:36} {said}")
    if len(left_out) == len(entries):
        raise NothingMeasured("nothing could be run; run `kmaps download --all` first")
    if preset is None:
        _write_pages(entries, out, quiet)
    if failed:
        raise CellsFailed(
            f"cells failed in {', '.join(failed)}; `kmaps run NAME --retry-failed` tries again"
        )
    if worse:
        raise GateFailed(f"worse than published: {', '.join(worse)}")


def _to_do(entries: "list[Entry]") -> str:
    forecasts = [entry.forecast for entry in entries]
    cells = sum(one.cells for one in forecasts)
    if not cells:
        return "nothing to do"
    seconds = sum(one.seconds or 0.0 for one in forecasts)
    unknown = cells - sum(one.known for one in forecasts if one.seconds is not None)
    text = f"{cells:,} cells to do"
    if unknown < cells:
        text += f", {seconds / 3600:.1f} h" if seconds > 5400 else f", {seconds / 60:.1f} min"
        text += " as published"
    return text + (f", {unknown:,} of unknown time" if unknown else "")


def _run(entry: "Entry", threads: int | None, quiet: bool) -> bool:
    from kmaps.bench.run.runner import run
    from kmaps.cli.progress import cell_bar

    with cell_bar(quiet=quiet) as reports:
        outcome = run(entry.experiment, entry.folder, threads=threads, **reports)
    return bool(outcome.failed)


def _compared(entry: "Entry") -> tuple[str, bool]:
    """Compare a run with the published one; return the result in words, and whether it is worse."""
    from kmaps.bench.kinds import shown_of
    from kmaps.bench.records import gate
    from kmaps.bench.records.arrays import read_correct
    from kmaps.bench.run.plan import records_of

    records, baseline = records_of(entry.folder), records_of(entry.published)
    if not baseline:
        return "measured; there is no published run to compare with", False
    ours, theirs = read_correct(entry.folder, records), read_correct(entry.published, baseline)
    judged = shown_of(records).judged
    verdicts = gate.compare(records, baseline, judged, correct=ours, baseline_correct=theirs)
    error = gate.outcome(verdicts)
    return gate.in_words(gate.count(verdicts)), isinstance(error, GateFailed)


def _write_pages(entries: "list[Entry]", out: Path, quiet: bool) -> None:
    from kmaps.bench.run.plan import records_of
    from kmaps.cli.report import command as report

    context = click.get_current_context()
    for entry in entries:
        if records_of(entry.folder):
            context.invoke(report, results=entry.folder, force=True, quiet=True)
    context.invoke(report, results=out, of_all=True, force=True, quiet=quiet)
