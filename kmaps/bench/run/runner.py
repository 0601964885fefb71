"""Running an experiment of any kind: plan its cells, measure those without a record."""

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kmaps import threads as compiled_threads
from kmaps.bench.kinds import KINDS, SHOWN
from kmaps.bench.kinds.kind import Kind
from kmaps.bench.kinds.shown import Figure
from kmaps.bench.records.arrays import CORRECT, Arrays, collect_arrays, read_arrays, write_arrays
from kmaps.bench.records.columns import COLUMNS, FORMAT, Record
from kmaps.bench.records.file import RecordsFile, latest, write_definition
from kmaps.bench.records.times import with_times, without_doubtful_times
from kmaps.bench.run.cluster import run_on_cluster
from kmaps.bench.run.environment import describe, versions_of
from kmaps.bench.run.estimators import check_estimators
from kmaps.bench.run.measure import Measuring
from kmaps.bench.run.plan import of_rows, plan
from kmaps.bench.run.processes import Batch, Failure, Finished, Function, run_batches
from kmaps.bench.run.progress import Progress, Tally
from kmaps.bench.spec.cell import Cell
from kmaps.bench.spec.fields import Experiment
from kmaps.errors import ConfigError, DataError, NothingMeasured
from kmaps.features import Report
from kmaps.maps import MAP_VERSION


@dataclass(frozen=True)
class Outcome:
    """What a run leaves behind.

    Attributes
    ----------
    records : list of Record
        The latest record of each cell that was asked for, in their order, earlier runs included.
    measured : int
        Cells measured by this run.
    missing : int
        Cells without a record, because the run stopped early.
    """

    records: list[Record]
    measured: int
    missing: int

    @property
    def failed(self) -> list[Record]:
        """The records of the cells that failed."""
        return [record for record in self.records if record["status"] == "failed"]


def run(
    experiment: Experiment,
    folder: str | Path,
    *,
    only: Sequence[str] = (),
    jobs: int = 1,
    client: Any = None,
    threads: int | None = None,
    retry_failed: bool = False,
    fail_fast: bool = False,
    skip_bad: bool = False,
    progress: Callable[[Progress], None] = lambda progress: None,
    extracted: Report | None = None,
    measure: Function | None = None,
    command: str = "",
    definition: Mapping[str, Any] | None = None,
) -> Outcome:
    """Measure the cells of an experiment that have no record yet, and draw its figures.

    Parameters
    ----------
    experiment : Experiment
    folder : str or Path
        Where ``records.jsonl`` and the figures, PNG files, are or will be.
    only : sequence of str
        Patterns of the rows to measure (:func:`kmaps.bench.run.plan.of_rows`); none: all rows.
    jobs : int
        Batches of cells measured at the same time. More than one is for accuracies: concurrent
        cells compete for memory bandwidth, and their times say so.
    client : distributed.Client, optional
        Cells are measured on the workers of its cluster, as many at a time as these have threads;
        ``jobs`` then counts for nothing.
    threads : int or None
        Threads of each cell; None shares the processors out between the jobs, and is 1 on a
        cluster.
    retry_failed : bool
        Whether to measure cells again whose record is a failure.
    fail_fast : bool
        Whether to stop at the first failure; cells under way are abandoned.
    skip_bad : bool
        Whether to leave out images that cannot be read, or are too small for the features.
    progress : callable
        Called with a :class:`Progress` at the start and after every cell.
    extracted : callable, optional
        ``extracted(label, images done, images in all)``, called while the features are extracted,
        before the first cell.
    measure : callable or None
        Measures a batch, see :func:`kmaps.bench.run.processes.run_batches`; by default
        :class:`kmaps.bench.run.measure.Measuring`.
    command : str
        The command that was given, for the records.
    definition : mapping or None
        The keys of the experiment, kept beside the records where it does not come with kmaps.

    Returns
    -------
    Outcome

    Raises
    ------
    ConfigError
        When the experiment asks for more data than there is, another run writes the records,
        ``only`` names no row, ``skip_bad`` is given for a kind without images, or an estimator of
        others cannot be made.
    DataError
        When the data are missing or damaged, or the arrays that a figure needs.
    """
    kind, folder = KINDS[experiment.kind], Path(folder)
    if skip_bad and not kind.has_images:
        raise ConfigError(
            f"skip_bad=True: an experiment of the kind {experiment.kind} has no images to leave "
            "out; run it without"
        )
    planned = plan(experiment)
    wanted = of_rows(planned, only)
    with RecordsFile(folder) as file:
        _check_kind(file.records, experiment)
        status = {record["key"]: record["status"] for record in file.records}
        settled = {"ok"} if retry_failed else {"ok", "failed"}
        todo = {key: cell for key, cell in wanted.items() if status.get(key) not in settled}
        new: list[Record] = []
        if todo:
            if client is not None:
                jobs, threads = sum(client.nthreads().values()) or 1, threads or 1
            threads = threads or max(1, len(os.sched_getaffinity(0)) // jobs)
            check_estimators(todo.values(), experiment)
            with compiled_threads(threads * jobs if client is None else threads):
                kind.prepare(todo.values(), skip_bad=skip_bad, progress=extracted)
            if definition:
                write_definition(folder, definition, experiment.folder)
            batches = batches_of(kind, todo)
            function = measure or Measuring(
                experiment.kind, threads, skip_bad, folder=experiment.folder
            )
            shared = _shared_columns(threads, jobs, command)
            tally = Tally({key: cell.row.method for key, cell in todo.items()}, jobs, progress)
            if client is None:
                measured = _measured_here(function, batches, jobs)
            else:
                measured = run_on_cluster(client, kind, function, batches)
            with closing(measured) as results:
                for done, machine in results:
                    record = _record({**shared, **machine}, todo[done.key], done, kind)
                    if not isinstance(done.result, Failure):
                        _write_beside(folder, done)
                    file.append(record)
                    new.append(record)
                    tally.count(done.key, record, done.seconds)
                    if fail_fast and record["status"] == "failed":
                        break
        records = latest([*file.records, *new], planned)
        collect_arrays(folder, planned)
        collect_arrays(folder, planned, CORRECT)
        draw_figures(experiment, records, folder, again=bool(new))
    found = latest(records, wanted)
    return Outcome(found, len(new), len(wanted) - len(found))


def _measured_here(
    function: Function, batches: Sequence[Batch], jobs: int
) -> Generator[tuple[Finished, dict[str, Any]], None, None]:
    """Measure batches on this machine, which all records describe."""
    with closing(run_batches(function, batches, jobs)) as results:
        for done in results:
            yield done, {}


def _write_beside(folder: Path, done: Finished) -> None:
    """Write what a record does not hold, before the record itself: then it is never without."""
    write_arrays(folder, done.key, done.result.arrays)
    if done.result.correct:
        write_arrays(folder, done.key, done.result.correct.arrays, CORRECT)


def draw_figures(
    experiment: Experiment, records: Sequence[Record], folder: Path, *, again: bool
) -> None:
    """Draw the figures of an experiment that are not there, or all ``again``, where there is one.

    Raises
    ------
    DataError
        When arrays that a figure needs are missing.
    """
    figures = SHOWN[experiment.kind].figures(experiment)
    wanted = {
        name: figure
        for name, figure in figures.items()
        if again or not (folder / f"{name}.png").exists()
    }
    measured = [record for record in records if record["status"] == "ok"]
    if not wanted or not measured:
        return
    ok = without_doubtful_times(with_times(measured, folder))
    arrays = figure_arrays(wanted, ok, folder)
    for name, figure in wanted.items():
        # Of some rows alone there may be nothing in one; `kmaps plot --figure` says so.
        with suppress(NothingMeasured):
            figure.draw(ok, arrays, folder / f"{name}.png")


def figure_arrays(
    figures: Mapping[str, Figure], records: Sequence[Record], folder: Path
) -> dict[str, Arrays]:
    """Return the arrays that some figures of records need, by the keys of the records.

    Raises
    ------
    DataError
        When some are not there.
    """
    needy = [name for name, figure in figures.items() if figure.needs_arrays]
    if not needy:
        return {}
    keys = [record["key"] for record in records]
    arrays = read_arrays(folder, keys)
    missing = [key for key in keys if key not in arrays]
    if missing:
        raise DataError(
            f"{folder}: the figure {needy[0]} needs the arrays of {len(missing)} of {len(keys)} "
            "cells, which are not there; measure them again in another folder "
            f"(kmaps run {records[0]['experiment']} --out FOLDER)"
        )
    return arrays


def _check_kind(records: Sequence[Record], experiment: Experiment) -> None:
    if records and records[0]["kind"] != experiment.kind:
        raise ConfigError(
            f"the folder has records of the kind {records[0]['kind']}, the experiment is of the "
            f"kind {experiment.kind}: choose another folder"
        )


def batches_of(kind: Kind, todo: Mapping[str, Cell]) -> list[dict[str, Cell]]:
    """Return cells in the batches of their kind, those of each by their keys."""
    keys = {id(cell): key for key, cell in todo.items()}
    return [{keys[id(cell)]: cell for cell in batch} for batch in kind.batches([*todo.values()])]


def _shared_columns(threads: int, jobs: int, command: str) -> dict[str, Any]:
    return {
        **dict.fromkeys(COLUMNS),
        **describe(),
        "format": FORMAT,
        "threads": threads,
        "jobs": jobs,
        "command": command,
        "map_version": MAP_VERSION,
        "error": "",
        "traceback": "",
        "warnings": [],
    }


def _record(shared: Mapping[str, Any], cell: Cell, done: Finished, kind: Kind) -> Record:
    record = {
        **shared,
        **cell.columns,
        "versions": {**shared["versions"], **versions_of(cell.row.method)},
        "key": done.key,
        "data_digest": kind.digest(cell),
        "seed": cell.seed,
        "started": done.started.isoformat(timespec="seconds"),
    }
    if isinstance(done.result, Failure):
        told = {"error": done.result.error, "traceback": done.result.traceback}
        return {**record, "status": "failed", **told}
    return {**record, "status": "ok", **done.result.columns}
