"""Running an experiment: plan the cells, measure those without a record, record each at once."""

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from kmaps.bench.kinds.grid import Cell, cells
from kmaps.bench.kinds.load import Experiment
from kmaps.bench.records.file import COLUMNS, Record, RecordsFile, latest
from kmaps.bench.run.environment import describe
from kmaps.bench.run.processes import call_each
from kmaps.bench.work.samples import fill_cache
from kmaps.data import Dataset, draw_split, load_dataset, load_manifest
from kmaps.features import Report
from kmaps.maps import MAP_VERSION
from kmaps.parallel import threads as compiled_threads

Measure = Callable[[Cell, int], dict[str, Any]]


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    done, failed, total : int
        Cells finished in this run, those of them that failed, and all it has to do.
    seconds_left : float or None
        Estimated from the finished cells, method by method; None before the first.
    last : Record or None
        The record of the cell that just finished.
    """

    done: int
    failed: int
    total: int
    seconds_left: float | None = None
    last: Record | None = None


@dataclass(frozen=True)
class Outcome:
    """What a run leaves behind.

    Attributes
    ----------
    records : list of Record
        The latest record of each of the experiment's cells, in their order, earlier runs included.
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


def plan(experiment: Experiment) -> dict[str, Cell]:
    """Return the cells of an experiment by their keys, in the order they run."""
    digest = load_manifest(experiment.dataset.name).digest
    return {cell.key(digest): cell for cell in cells(experiment)}


def run(
    experiment: Experiment,
    folder: str | Path,
    *,
    jobs: int = 1,
    threads: int | None = None,
    retry_failed: bool = False,
    fail_fast: bool = False,
    progress: Callable[[Progress], None] = lambda progress: None,
    extracted: Report | None = None,
    skip_bad: bool = False,
    measure: Measure | None = None,
) -> Outcome:
    """Measure the cells of an experiment that have no record yet.

    Parameters
    ----------
    experiment : Experiment
    folder : str or Path
        Where ``records.jsonl`` is, or will be.
    jobs : int
        Cells measured at the same time. More than one is for accuracies: concurrent cells compete
        for memory bandwidth, and their times say so.
    threads : int or None
        Threads of each cell; None shares the processors out between the jobs.
    retry_failed : bool
        Whether to measure cells again whose record is a failure.
    fail_fast : bool
        Whether to stop at the first failure; cells under way are abandoned.
    progress : callable
        Called with a :class:`Progress` at the start and after every cell.
    extracted : callable, optional
        ``extracted(label, pictures done, pictures in all)``, called while the features are
        extracted, before the first cell.
    skip_bad : bool
        Whether to leave out pictures that cannot be read, or are too small for the features.
    measure : callable or None
        ``measure(cell, threads)`` returns the measured columns; importable, since it runs in
        another process. None is :func:`kmaps.bench.work.classify.measure_cell`.

    Returns
    -------
    Outcome

    Raises
    ------
    ConfigError
        When the experiment asks for more data than there is, or another run writes the records.
    DataError
        When the dataset is missing or damaged.
    """
    planned = plan(experiment)
    dataset = _checked_data(planned.values(), skip_bad=skip_bad)
    threads = threads or max(1, len(os.sched_getaffinity(0)) // jobs)
    with RecordsFile(folder) as file:
        status = {record["key"]: record["status"] for record in file.records}
        settled = {"ok"} if retry_failed else {"ok", "failed"}
        todo = {key: cell for key, cell in planned.items() if status.get(key) not in settled}
        new: list[Record] = []
        if todo:
            with compiled_threads(threads * jobs):
                fill_cache(todo.values(), dataset, skip_bad=skip_bad, progress=extracted)
            finished = _measured(todo, dataset.digest, jobs, threads, skip_bad, measure)
            tally = _Tally(todo, jobs, progress)
            with closing(finished):
                for record, seconds in finished:
                    file.append(record)
                    new.append(record)
                    tally.count(record, seconds)
                    if fail_fast and record["status"] == "failed":
                        break
    records = latest([*file.records, *new], planned)
    return Outcome(records, len(new), len(planned) - len(records))


def _measured(
    todo: dict[str, Cell],
    digest: str,
    jobs: int,
    threads: int,
    skip_bad: bool,
    measure: Measure | None,
) -> Iterator[tuple[Record, float]]:
    """Yield the record of each cell as it finishes, and the seconds it took."""
    if measure is None:
        # Imported here: planning needs no solver.
        from kmaps.bench.work.classify import measure_cell

        measure = partial(measure_cell, skip_bad=skip_bad)
    shared = {
        **dict.fromkeys(COLUMNS),
        **{"threads": threads, "jobs": jobs, "map_version": MAP_VERSION},
        **{"data_digest": digest, "error": "", "traceback": "", "warnings": []},
        **describe(),
    }
    calls = {key: (cell, threads) for key, cell in todo.items()}
    with closing(call_each(measure, calls, jobs)) as results:
        for done in results:
            started = done.started.isoformat(timespec="seconds")
            identity = {"key": done.key, **_identity(todo[done.key]), "started": started}
            yield {**shared, **identity, **done.result}, done.seconds


def _checked_data(cells: Collection[Cell], *, skip_bad: bool) -> Dataset:
    """Return the dataset of the cells; refuse here what would otherwise fail every one."""
    dataset = load_dataset(next(iter(cells)).dataset, skip_bad=skip_bad)
    for cell in {(str(cell.protocol), cell.split): cell for cell in cells}.values():
        draw_split(dataset, cell.protocol, cell.split)
    return dataset


def _identity(cell: Cell) -> dict[str, Any]:
    columns = asdict(cell)
    choice = columns.pop("C")
    return {
        **columns,
        **{f"C_{name}": value for name, value in choice.items()},
        "label": cell.label,
        "seed": cell.seed,
    }


class _Tally:
    """Counts finished cells and estimates the time left, from what each method's cells took."""

    def __init__(
        self, todo: dict[str, Cell], jobs: int, progress: Callable[[Progress], None]
    ) -> None:
        self._left = {key: cell.method for key, cell in todo.items()}
        self._seconds: dict[str, list[float]] = {}
        self._total, self._failed, self._jobs = len(todo), 0, jobs
        self._progress = progress
        progress(Progress(0, 0, self._total))

    def count(self, record: Record, seconds: float) -> None:
        """Count one record and report."""
        del self._left[record["key"]]
        self._seconds.setdefault(record["method"], []).append(seconds)
        self._failed += record["status"] == "failed"
        every = [seconds for times in self._seconds.values() for seconds in times]
        left = sum(fmean(self._seconds.get(method, every)) for method in self._left.values())
        done = self._total - len(self._left)
        self._progress(Progress(done, self._failed, self._total, left / self._jobs, record))
