"""``kmaps run --all``: run several experiments, and compare each with the published run."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kmaps.cli.flags import say
from kmaps.errors import CellsFailed, ConfigError, DataError, GateFailed, NothingMeasured

if TYPE_CHECKING:
    from kmaps.bench.run.plan import ScheduledRun


def run_all(
    names: Sequence[str],
    *,
    preset: str | None,
    out: Path,
    threads: int | None,
    dry_run: bool,
    quiet: bool,
) -> None:
    """Run experiments by their names, by default all that come with kmaps, the quickest first.

    Experiments whose data or packages are missing are left out and listed. Without a preset a page
    on each run and the page on all runs are written at the end.
    """
    from kmaps.bench.paper.entries import packaged
    from kmaps.bench.run.plan import agenda

    entries = agenda(names or packaged(), out, preset)
    if not entries:
        raise ConfigError(f"--preset {preset}: none of these experiments has this preset")
    if dry_run:
        for entry in entries:
            say(f"{entry.experiment.experiment:36} {_forecast_text([entry])}")
        say(f"{len(entries)} experiments: {_forecast_text(entries)}", err=True)
        return
    left_out = []
    worse = []
    failed = []
    for i, entry in enumerate(entries):
        name = entry.experiment.experiment
        if not quiet:
            say(f"{i + 1}/{len(entries)}  {name}, {_forecast_text(entries[i:])}", err=True)
        try:
            if _run(entry, threads, quiet):
                failed.append(name)
            result, is_worse = _compare(entry)
            if is_worse:
                worse.append(name)
        except (ConfigError, DataError, NothingMeasured) as error:
            left_out.append(name)
            result = f"left out: {error}"
        say(f"{name:36} {result}")
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


def _forecast_text(entries: "list[ScheduledRun]") -> str:
    """Return how many cells the runs still have to measure, and how long that will take."""
    forecasts = [entry.forecast for entry in entries]
    cells = sum(forecast.cells for forecast in forecasts)
    if not cells:
        return "nothing to do"
    seconds = 0.0
    untimed_cells = cells
    for forecast in forecasts:
        if forecast.seconds is not None:
            seconds += forecast.seconds
            untimed_cells -= forecast.known
    text = f"{cells:,} cells to do"
    if untimed_cells < cells:
        text += f", {seconds / 3600:.1f} h" if seconds > 5400 else f", {seconds / 60:.1f} min"
        text += " as published"
    if untimed_cells:
        text += f", {untimed_cells:,} of unknown time"
    return text


def _run(entry: "ScheduledRun", threads: int | None, quiet: bool) -> bool:
    """Run an experiment; return whether a cell failed."""
    from kmaps.bench.run.runner import run
    from kmaps.cli.progress import cell_bar

    with cell_bar(quiet=quiet) as reports:
        outcome = run(entry.experiment, entry.folder, threads=threads, **reports)
    return bool(outcome.failed)


def _compare(entry: "ScheduledRun") -> tuple[str, bool]:
    """Compare a run with the published one; return the result in words, and whether it is worse."""
    from kmaps.bench.kinds import shown_of
    from kmaps.bench.records import gate
    from kmaps.bench.records.arrays import read_correct
    from kmaps.bench.run.plan import records_of

    records = records_of(entry.folder)
    baseline = records_of(entry.published)
    if not baseline:
        return "measured; there is no published run to compare with", False
    verdicts = gate.compare(
        records,
        baseline,
        shown_of(records).judged,
        correct=read_correct(entry.folder, records),
        baseline_correct=read_correct(entry.published, baseline),
    )
    error = gate.outcome(verdicts)
    return gate.in_words(gate.count(verdicts)), isinstance(error, GateFailed)


def _write_pages(entries: "list[ScheduledRun]", out: Path, quiet: bool) -> None:
    from kmaps.bench.run.plan import records_of
    from kmaps.cli.report import command as report

    context = click.get_current_context()
    for entry in entries:
        if records_of(entry.folder):
            context.invoke(report, results=entry.folder, force=True, quiet=True)
    context.invoke(report, results=out, all_runs=True, force=True, quiet=quiet)
