"""Stand-ins for measuring cells; importable, because they run in other processes."""

import gc
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from kmaps.bench.kinds.kind import Cell, Measured
from kmaps.bench.records.arrays import Correct
from kmaps.bench.records.columns import cell_name
from kmaps.bench.run.processes import Finished, failure


@dataclass(frozen=True)
class Each:
    """Measures the cells of a batch one after the other by a function of a cell."""

    worker: Callable[[Cell], dict[str, Any]]

    def __call__(self, batch: Mapping[str, Cell]) -> Iterator[tuple[str, Any]]:
        for key, cell in batch.items():
            try:
                yield key, Measured(self.worker(cell))
            except ValueError as error:
                yield key, failure(error)


@dataclass(frozen=True)
class Seen:
    """Measures cells at once, each right on all test samples but one."""

    n_test: int

    def __call__(self, batch: Mapping[str, Cell]) -> Iterator[tuple[str, Any]]:
        truth = np.arange(self.n_test) % 2
        predicted = truth + (np.arange(self.n_test) == 0)
        correct = Correct.of(truth, predicted)
        for key in batch:
            yield key, Measured({"n_test": self.n_test, **correct.columns}, correct=correct)


def in_this_process(function, batches, jobs, preloaded=()):
    """Measure cells as the runner's processes do, in this one."""
    gc.freeze()  # as they do: every measurement of memory collects
    for batch in batches:
        for key, result in function(batch):
            yield Finished(key, result, datetime.now(UTC), 0.0)


def instant(cell: Cell) -> dict[str, Any]:
    """Return at once what depends on the cell alone."""
    return {"accuracy": cell.seed / 2**31, "C": cell.C["grid"][0], "storage_bytes": cell.seed}


def timed(cell: Cell) -> dict[str, Any]:
    """Return what depends on the cell alone, and times, the longer the larger its first C."""
    parts = {"fit_s": 0.0, "encode_s": 0.0, "convert_s": 0.0, "predict_s": 0.1, "cv_s": 3.0}
    peaks = {"peak_bytes": 700, "train_peak_bytes": None}
    return instant(cell) | parts | peaks | {"train_s": cell.C["grid"][0]}


def listed(path: str, cell: Cell) -> dict[str, Any]:
    """Add a line with the cell and its values of C to a file."""
    with open(path, "a") as file:
        file.write(f"{cell_name(cell.columns)} C={cell.C['grid']}\n")
    return timed(cell)


def inaccurate(cell: Cell) -> dict[str, Any]:
    """Return another accuracy for the exact cells."""
    found = timed(cell)
    return found | ({"accuracy": 0.0} if cell.row.method == "exact" else {})


def logged(folder: str, seconds: float, cell: Cell) -> dict[str, Any]:
    """Leave a file with the process's id at the start and another at the end."""
    name = cell_name(cell.columns).replace(" ", "_")
    Path(folder, f"{name}.{os.getpid()}.started").touch()
    time.sleep(seconds)
    Path(folder, f"{name}.{os.getpid()}.finished").touch()
    return instant(cell)


def chatty(cell: Cell) -> dict[str, Any]:
    """Print, as solvers do from C."""
    os.write(1, b"noise\n")
    print("noise", flush=True)
    return instant(cell)


def broken(cell: Cell) -> dict[str, Any]:
    """Fail with two lines for a map of order 2."""
    if cell.row.params == {"order": 2}:
        raise ValueError("two\n  lines")
    return instant(cell)


def out_of_memory(cell: Cell) -> dict[str, Any]:
    """End for the exact cells as the system ends a process when memory runs out."""
    if cell.row.method == "exact":
        psutil.Process().kill()
    return timed(cell)


def gone(cell: Cell) -> dict[str, Any]:
    """Exit without a word."""
    os._exit(7)


def squares(batch: Mapping[str, int]) -> Iterator[tuple[str, Any]]:
    """Yield squares; a negative number ends the process, one above 100 is a failure."""
    for key, number in batch.items():
        if number < 0:
            psutil.Process().kill()
        if number > 100:
            yield key, failure(ValueError("too large"))
        else:
            yield key, (number**2, os.getpid())


def modules(batch: Mapping[str, Any]) -> Iterator[tuple[str, set[str]]]:
    """Yield the names of the modules that the process has."""
    for key in batch:
        yield key, set(sys.modules)


def data_folder(batch: Mapping[str, None]) -> Iterator[tuple[str, Any]]:
    """Yield where the data are."""
    for key in batch:
        yield key, os.environ["KMAPS_DATA_DIR"]


def leave_a_worker(batch: Mapping) -> Iterator[tuple[str, int]]:
    """Yield the number of a process that was started for each item and is left waiting for more."""
    for key in batch:
        worker = multiprocessing.Process(target=time.sleep, args=(60,))
        worker.start()
        yield key, worker.pid


def losing_its_worker(folder: str, cell: Cell) -> dict[str, Any]:
    """End the process that started this one when the exact cells are measured first."""
    name = cell_name(cell.columns).replace(" ", "_")
    tried = Path(folder, f"{name}.tried")
    if cell.row.method == "exact" and not tried.exists():
        tried.touch()
        psutil.Process().parent().kill()
        time.sleep(60)
    return logged(folder, 0, cell)
