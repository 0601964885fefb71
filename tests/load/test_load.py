"""Thousands of cells in one run, and files of a million rows: no slower and no larger with more.

Sizes come from the environment, for a quick look. Short forms are in ``bench/run/test_progress``
and ``cli/test_encode``.
"""

import os
import time
from pathlib import Path
from statistics import median

import cell_workers
import numpy as np
import psutil
import pytest

from kmaps import CodedSVC
from kmaps.bench.kinds import load as spec
from kmaps.bench.records.file import read_records
from kmaps.bench.run import runner
from tests.faults.forked import Forked

pytestmark = pytest.mark.soak
CELLS = int(os.environ.get("KMAPS_SOAK_CELLS", "5000"))
ROWS = int(os.environ.get("KMAPS_SOAK_ROWS", "1000000"))
COLUMNS = int(os.environ.get("KMAPS_SOAK_COLUMNS", "100"))
FEW_ROWS = 50_000  # more than commands read without compiled loops, which take memory of their own
BLOCK_ROWS = 10_000
ROWS_OF_A_SPLIT = 10

EXPERIMENT = f"""\
experiment: many
dataset: {{name: digits, train: 120, test: 80}}
splits: {CELLS // ROWS_OF_A_SPLIT}
kernels: [chi2]
reductions: [ovr]
baselines: [linear]
maps: [{{map: homogeneous, order: [1, 2, 3, 4, 5, 6, 7, 8, 9]}}]
C: 1
"""


def test_the_driver_of_many_cells_does_not_slow_down(tmp_path, record_property):
    used, passed = [], []

    def note(state):
        used.append(time.process_time())
        passed.append(time.perf_counter())

    measure = cell_workers.Seen(80)
    runner.run(spec.parse(EXPERIMENT), tmp_path, measure=measure, jobs=2, progress=note)
    # By a line through all tenths of the run: one alone tells of what else the machine did.
    tenths = [
        [median(tenth) for tenth in np.array_split(1e3 * np.diff(times), 10)]
        for times in (used, passed)
    ]
    work, wall = (np.polyval(np.polyfit(range(10), ms, 1), (0, 9)) for ms in tenths)
    assert len(read_records(tmp_path)) == CELLS
    assert work[1] < 1.2 * work[0], f"ms of the driver for a cell, by tenths: {tenths[0]}"
    shown = "load: cells, {:.1f} ms each at the start, {:.1f} ms at the end"
    record_property("soak", (shown.format(*wall), CELLS))


def write_rows(folder: Path, n: int) -> None:
    """Write rows block by block, and labels that the first column tells."""
    random = np.random.default_rng(0)
    with open(folder / "rows.npy", "wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (n, COLUMNS)}
        np.lib.format.write_array_header_1_0(file, header)
        labels = []
        for start in range(0, n, BLOCK_ROWS):
            block = random.random((min(BLOCK_ROWS, n - start), COLUMNS), np.float32)
            labels.append(block[:, 0] > 0.5)
            file.write(block.tobytes())
    np.save(folder / "labels.npy", np.concatenate(labels).astype(np.int64))


TRAIN = ["train", "rows.npy", "m.npz", "--labels", "labels.npy", "-C", "1e-3", "--tol", "0.05"]
# What more rows may take, in bytes a row: train holds a code of one byte a value, labels, and what
# its solver knows of a row; the others nothing but blocks, and predict the labels.
LIMITS = {
    "encode": (["encode", "rows.npy", "out.npy"], 0),
    "train": (TRAIN, COLUMNS + 150),
    "predict": (["predict", "m.npz", "rows.npy", "out.txt", "--labels", "labels.npy"], 100),
}
SLACK_BYTES = 60e6


def test_memory_of_files_of_any_size(tmp_path, record_property):
    peaks, seconds = {}, {}
    with Forked() as forked:
        for n in (FEW_ROWS, ROWS):
            folder = tmp_path / str(n)
            folder.mkdir()
            write_rows(folder, n)
            for name, (arguments, _) in LIMITS.items():
                begun = time.perf_counter()
                done = forked.run(folder, [*arguments, "--quiet"])
                seconds[name] = time.perf_counter() - begun
                assert done.code == 0, done.stderr
                peaks[name, n] = 1e3 * done.peak_kb
                (folder / "out.npy").unlink(missing_ok=True)
            (folder / "rows.npy").unlink()
    for name, (_, a_row) in LIMITS.items():
        more = peaks[name, ROWS] - peaks[name, FEW_ROWS]
        assert more < SLACK_BYTES + a_row * ROWS, f"{name}: {more / 1e6:.0f} MB more"
        what = f"load: rows of {name}, {peaks[name, ROWS] / 1e6:.0f} MB, {seconds[name]:.0f} s"
        record_property("soak", (what, ROWS))


def test_predictions_leak_nothing(record_property):
    X, memory = np.random.default_rng(0).random((90, 6), np.float32), psutil.Process().memory_info
    model, resident = CodedSVC(probability="temperature").fit(X, X[:, 0] > 0.5), []
    for calls in (1000, 10_000):
        for _ in range(calls):
            model.predict_proba(X[:9])
        resident.append(memory().rss)
    assert resident[1] - resident[0] < 2e6
    record_property("soak", ("load: predictions by one model", 10_000))
