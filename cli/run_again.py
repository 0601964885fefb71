"""``kmaps run --again``: time the cells of a run again, several times each."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from kmaps.cli.flags import few_of, say, say_imports
from kmaps.errors import CellsFailed

if TYPE_CHECKING:
    from kmaps.bench.records.columns import Record
    from kmaps.bench.run.repeats import Timed
    from kmaps.bench.spec.fields import Experiment


def run_again(
    results: Path,
    *,
    definition: str | None,
    preset: str | None,
    repeats: int,
    threads: int,
    common_C: float | None,
    even_if_busy: bool,
    allow: Collection[str],
    allow_code: bool,
    quiet: bool,
) -> None:
    """Time the measured cells in the folder ``results`` again, and show the times.

    ``definition`` is the YAML file of the records or its name; by default the file next to the
    records, else the name in them.
    """
    from kmaps.bench.kinds.row_names import read_named
    from kmaps.bench.run.repeats import time_again
    from kmaps.cli.progress import cell_bar

    experiment = _experiment_of(results, definition, preset)
    say_imports(experiment, allow, allow_code, quiet=quiet)
    with cell_bar(quiet=quiet, finished="measurements") as reports:
        timed = time_again(
            experiment,
            results,
            repeats=repeats,
            threads=threads,
            common_C=common_C,
            even_if_busy=even_if_busy,
            allow=allow,
            allow_code=allow_code,
            **reports,
        )
    if not quiet:
        _say_conditions(timed, results)
    _show(read_named(results))
    failures = timed.failures
    if failures:
        plural = "s" if len(failures) != 1 else ""
        raise CellsFailed(f"{len(failures)} cell{plural} could not be timed: {few_of(failures)}")


def _experiment_of(results: Path, definition: str | None, preset: str | None) -> "Experiment":
    from kmaps.bench.kinds.load import load
    from kmaps.bench.records.file import definition_file, read_records

    name_in_records = read_records(results)[0]["experiment"]
    if definition:
        return load(definition, preset)
    file = definition_file(results)
    if file:
        return load(file)
    return load(name_in_records.removesuffix(f"-{preset}"), preset)


def _say_conditions(timed: "Timed", results: Path) -> None:
    if timed.load is None:
        say(f"nothing to do: all repeats are in {results}", err=True)
    elif timed.load.reason:
        say(f"warning: {timed.load.reason}: the times are marked", err=True)
    elif not timed.load.is_known:
        say("warning: this system does not report whether other work runs", err=True)


def _show(records: "list[Record]") -> None:
    from kmaps.bench.records.measures import MEASURES
    from kmaps.bench.report.tables import render

    timed = [record for record in records if "repeats" in record or "common_repeats" in record]
    names = ("time", "convert", "train", "predict", "time-common")
    measures = [name for name in names if any(map(MEASURES[name].repeats, timed))]
    if measures:
        say(render(timed, "text", measures), nl=False)
