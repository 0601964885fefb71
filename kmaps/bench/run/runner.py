"""Running an experiment of any kind: plan its cells, measure those without a record."""

from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from joblib import cpu_count

from kmaps import threads as compiled_threads
from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.kind import Cell, Kind
from kmaps.bench.kinds.row_names import with_names
from kmaps.bench.kinds.shown import CHOICE, SEARCH, draw_figures
from kmaps.bench.records.arrays import CORRECT, collect, write_arrays
from kmaps.bench.records.columns import COLUMNS, FORMAT, Record
from kmaps.bench.records.file import RecordsFile, latest, write_definition
from kmaps.bench.run.environment import check_solvers, describe, versions_of
from kmaps.bench.run.measure import Measuring, check_estimators
from kmaps.bench.run.plan import code_of, importable, of_rows, plan
from kmaps.bench.run.processes import Batch, Failure, Finished, Function, run_batches
from kmaps.bench.spec.fields import Experiment
from kmaps.errors import ConfigError
from kmaps.features import Report
from kmaps.maps import MAP_VERSION


@dataclass(frozen=True)
class RunResult:
    """What a run leaves behind: the latest record of each cell that was asked for, in their order;
    how many cells this run measured, and how many have no record because it stopped early; whether
    it measured nothing and the experiment next to the records is another now, as with new claims.
    """

    records: list[Record]
    measured: int
    missing: int
    is_redefined: bool = False

    @property
    def failed(self) -> list[Record]:
        """The records of cells that failed."""
        return [record for record in self.records if record["status"] == "failed"]


@dataclass(frozen=True)
class RunProgress:
    """How far a run is; ``last`` is the record of the cell that just finished, and ``seconds_left``
    an estimate, method by method, None before the first."""

    done: int
    failed: int
    total: int
    seconds_left: float | None = None
    last: Record | None = None


class Tally:
    """Counts the finished cells and estimates the time left, from the times of each method.

    ``methods`` has the method of every measurement, by its key; ``jobs`` are made at a time.
    """

    def __init__(
        self, methods: Mapping[str, str], jobs: int, progress: Callable[[RunProgress], None]
    ) -> None:
        self._left = dict(methods)
        self._n_left = Counter(methods.values())
        self._n_done: Counter[str] = Counter()
        self._seconds: dict[str, float] = {}
        self._total = len(self._left)
        self._failed = 0
        self._jobs = jobs
        self._progress = progress
        progress(RunProgress(0, 0, self._total))

    def drop(self, key: str) -> None:
        """Leave out a measurement that is not made after all."""
        self._n_left[self._left.pop(key)] -= 1
        self._total -= 1

    def count(self, key: str, record: Record, seconds: float) -> None:
        """Count a finished measurement, and report the progress."""
        method = self._left.pop(key)
        self._n_left[method] -= 1
        self._n_done[method] += 1
        self._seconds[method] = self._seconds.get(method, 0.0) + seconds
        self._failed += record["status"] == "failed"
        left = sum(n * self._mean(method) for method, n in self._n_left.items() if n)
        done = self._total - len(self._left)
        self._progress(RunProgress(done, self._failed, self._total, left / self._jobs, record))

    def _mean(self, method: str) -> float:
        """Return the mean time of a method's measurements; of all methods' where it has none."""
        if method in self._seconds:
            return self._seconds[method] / self._n_done[method]
        return sum(self._seconds.values()) / self._n_done.total()


@dataclass(frozen=True)
class CellWorkers:
    """The place that measures batches of cells: processes of this computer, or a Dask cluster.

    ``jobs`` batches are measured at the same time, with ``threads`` for each cell. Concurrent cells
    compete for memory bandwidth: more than one disturbs the times, never the accuracies. A cluster
    measures as many batches as its workers have threads.
    """

    jobs: int
    threads: int
    client: Any = None

    @classmethod
    def of(cls, jobs: int, threads: int | None, client: Any) -> "CellWorkers":
        """Return the workers of a cluster, or so many processes here that share its processors."""
        if client is not None:
            n_cluster_threads = sum(client.nthreads().values())
            return cls(n_cluster_threads or 1, threads or 1, client)
        return cls(jobs, threads or max(1, cpu_count() // jobs))

    def measured(
        self, kind: Kind, function: Function, batches: Sequence[Batch]
    ) -> Generator[tuple[Finished, dict[str, Any]], None, None]:
        """Yield finished measurements, with columns of the computer if another one measured."""
        if self.client is not None:
            from kmaps.bench.run.cluster import run_on_cluster

            yield from run_on_cluster(self.client, kind, function, batches)
            return
        imports = kind.imports([cell for batch in batches for cell in batch.values()])
        with closing(run_batches(function, batches, self.jobs, imports)) as results:
            for done in results:
                yield done, {}


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
    allow: Sequence[str] = (),
    allow_code: bool = False,
    progress: Callable[[RunProgress], None] = lambda progress: None,
    extracted: Report | None = None,
    measure: Function | None = None,
    command: str = "",
    definition: Mapping[str, Any] | None = None,
) -> RunResult:
    """Measure the cells of an experiment without a record in the folder, and draw its figures.

    Options are as in ``kmaps run`` and :class:`CellWorkers`. ``progress`` is called after every
    cell, ``extracted`` while features are extracted; ``measure`` replaces
    :class:`kmaps.bench.run.measure.Measuring`; ``definition`` is kept next to the records. A
    ConfigError says that the experiment asks for more data than there is, that another run writes
    the records, or that a row or option does not fit; a DataError that data, or the arrays of a
    figure, are missing or damaged.
    """
    kind = _kind_of(experiment, skip_bad)
    folder = Path(folder)
    planned = plan(experiment)
    wanted = of_rows(planned, only)
    with RecordsFile(folder) as file:
        todo = _unsettled(wanted, file.records, experiment, retry_failed)
        digests = code_of(wanted.values(), latest(file.records, wanted), experiment)
        new: list[Record] = []
        is_redefined = False
        if not todo and file.records and definition:
            is_redefined = write_definition(folder, definition, experiment.folder)
        if todo:
            workers = CellWorkers.of(jobs, threads, client)
            code = check_cells(
                todo.values(), experiment, allow, allow_code, on_cluster=client is not None
            )
            with compiled_threads(workers.threads * (workers.jobs if client is None else 1)):
                kind.prepare(todo.values(), skip_bad=skip_bad, progress=extracted)
            if definition:
                write_definition(folder, definition, experiment.folder)
            function = measure or Measuring(experiment.kind, workers.threads, skip_bad, folder=code)
            shared = _shared_columns(workers, command)
            methods = {key: cell.row.method for key, cell in todo.items()}
            tally = Tally(methods, workers.jobs, progress)
            recording = _Recording(kind, planned, folder, file, shared, digests, tally)
            with closing(recording.measured(todo, workers, function)) as records:
                for record in records:
                    new.append(record)
                    if fail_fast and record["status"] == "failed":
                        break
        records = latest([*file.records, *new], planned)
        # With skip_bad, only reading shows which images are left out.
        collect(folder, planned, dict if skip_bad else partial(kind.tested, planned.values()))
        draw_figures(
            kind.shown.figures(experiment),
            with_names(records, experiment),
            folder,
            again=bool(new) or is_redefined,
        )
    wanted_records = latest(records, wanted)
    n_missing = len(wanted) - len(wanted_records)
    return RunResult(wanted_records, len(new), n_missing, is_redefined)


def check_cells(
    cells: Collection[Cell],
    experiment: Experiment,
    allow: Collection[str],
    allow_code: bool,
    *,
    on_cluster: bool = False,
) -> Path | None:
    """Refuse cells that cannot be measured: code that nobody allowed, estimators that cannot be
    made, solvers that are not installed; return the folder of the allowed modules."""
    folder = importable(cells, experiment, allow, allow_code)
    check_estimators(cells, experiment, folder)
    if not on_cluster:  # its workers check it
        check_solvers(KINDS[experiment.kind], cells)
    return folder


def _kind_of(experiment: Experiment, skip_bad: bool) -> Kind:
    kind = KINDS[experiment.kind]
    if skip_bad and not kind.has_images:
        raise ConfigError(
            f"skip_bad=True: an experiment of the kind {experiment.kind} has no images to leave "
            "out; run it without"
        )
    return kind


def _unsettled(
    wanted: Mapping[str, Cell],
    records: Sequence[Record],
    experiment: Experiment,
    retry_failed: bool,
) -> dict[str, Cell]:
    """Return the cells that have no record, or a failed one that is to be tried again."""
    if records and records[0]["kind"] != experiment.kind:
        raise ConfigError(
            f"the folder has records of the kind {records[0]['kind']}, and the experiment has the "
            f"kind {experiment.kind}: choose another folder"
        )
    status = {record["key"]: record["status"] for record in records}
    settled = {"ok"} if retry_failed else {"ok", "failed"}
    return {key: cell for key, cell in wanted.items() if status.get(key) not in settled}


@dataclass(frozen=True)
class _Recording:
    """Writes the records of cells as they end; ``shared`` are columns of all of them."""

    kind: Kind
    planned: Mapping[str, Cell]
    folder: Path
    file: RecordsFile
    shared: Mapping[str, Any]
    digests: Mapping[str, str]
    tally: Tally

    def measured(
        self, todo: Mapping[str, Cell], workers: CellWorkers, function: Function
    ) -> Generator[Record, None, None]:
        """Measure cells; those whose C another split chooses come after all others."""
        records = {record["key"]: record for record in self.file.records}
        choosing = {key: cell for key, cell in todo.items() if not cell.first}
        yield from self._measured(choosing, workers, function, records)
        following = {key: cell for key, cell in todo.items() if cell.first}
        ready, failed = self._with_choices(following, records)
        yield from self._measured(ready, workers, function, records)
        for item in failed:
            yield self._record(todo[item.key], item, {})

    def _measured(
        self,
        cells: Mapping[str, Cell],
        workers: CellWorkers,
        function: Function,
        records: dict[str, Record],
    ) -> Generator[Record, None, None]:
        """Measure cells; add their records to those known, by key."""
        batches = batches_of(self.kind, cells)
        if not batches:
            return
        with closing(workers.measured(self.kind, function, batches)) as results:
            for item, computer in results:
                records[item.key] = self._record(cells[item.key], item, computer)
                yield records[item.key]

    def _with_choices(
        self, cells: Mapping[str, Cell], records: Mapping[str, Record]
    ) -> tuple[dict[str, Cell], list[Finished]]:
        """Return cells with the C of their first splits, and as failures those without one."""
        ready = {}
        failed = []
        for key, cell in cells.items():
            chosen_by = next(
                first for first, planned in self.planned.items() if planned == cell.first
            )
            first = records[chosen_by]
            if first["status"] == "ok":
                chosen = {name: first.get(name) for name in (*CHOICE, *SEARCH) if name != "cv_s"}
                ready[key] = replace(cell, chosen=chosen)
            else:
                why = Failure(f"no C was chosen: its cell on split 0 failed ({first['error']})")
                failed.append(Finished(key, why, datetime.now(UTC), 0.0))
        return ready, failed

    def _record(self, cell: Cell, item: Finished, computer: Mapping[str, Any]) -> Record:
        """Write the record of a cell, its arrays before the record itself, and return it."""
        shared = {**self.shared, **computer}
        method = cell.row.method
        result = item.result
        record = {
            **shared,
            **cell.columns,
            "versions": {**shared["versions"], **versions_of(method)},
            "code": self.digests.get(method),
            "key": item.key,
            "data_digest": self.kind.digest(cell),
            "seed": cell.seed,
            "started": item.started.isoformat(timespec="seconds"),
        }
        if isinstance(result, Failure):
            record |= {"status": "failed", "error": result.error, "traceback": result.traceback}
        else:
            record |= {"status": "ok", **result.columns}
            write_arrays(self.folder, item.key, result.arrays)
            if result.correct:
                write_arrays(self.folder, item.key, result.correct.arrays, CORRECT)
        self.file.append(record)
        self.tally.count(item.key, record, item.seconds)
        return record


def batches_of(kind: Kind, todo: Mapping[str, Cell]) -> list[dict[str, Cell]]:
    """Return cells in the batches of their kind, each batch by the keys of its cells."""
    keys = {id(cell): key for key, cell in todo.items()}
    return [{keys[id(cell)]: cell for cell in batch} for batch in kind.batches([*todo.values()])]


def _shared_columns(workers: CellWorkers, command: str) -> dict[str, Any]:
    return {
        **dict.fromkeys(COLUMNS),
        **describe(),
        "format": FORMAT,
        "threads": workers.threads,
        "jobs": workers.jobs,
        "command": command,
        "map_version": MAP_VERSION,
        "error": "",
        "traceback": "",
        "warnings": [],
    }
