"""Runs: every cell once, failures kept, resumed after any end, the same with any number of jobs."""

import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import cell_workers
import numpy as np
import psutil
import pytest
from spec_text import SMALL

from kmaps.bench.kinds import load as spec
from kmaps.bench.records.arrays import read_correct
from kmaps.bench.records.file import read_records
from kmaps.bench.run import runner
from kmaps.bench.run.plan import plan
from kmaps.data import draw_split, load_dataset

TEXT = SMALL + "maps: [{map: homogeneous, order: [1, 2]}]\n"
N_CELLS = 8
VARYING = (
    *("started", "jobs", "threads", "peak_bytes", "train_peak_bytes"),
    *("load_before", "load_after", "other_cpus", "stolen_cpus"),
)


def run(folder, worker=cell_workers.instant, text=TEXT, **options):
    measure = worker and cell_workers.Each(worker)
    return runner.run(spec.parse(text), folder, measure=measure, **options)


def content(folder) -> dict[str, dict]:
    """Return the records by key without what varies from run to run."""

    def stable(record: dict) -> dict:
        varies = [name for name in record if name in VARYING or name.endswith("_s")]
        return {name: value for name, value in record.items() if name not in varies}

    return {record["key"]: stable(record) for record in read_records(folder)}


def test_a_record_describes_its_cell_and_where_it_ran(tmp_path):
    run(tmp_path, threads=1)
    cell = next(cell for cell in plan(spec.parse(TEXT)).values() if cell.row.params == {"order": 2})
    record = next(r for r in read_records(tmp_path) if r["params"] == {"order": 2})
    expected = cell.columns | {"format": 2, "status": "ok", "error": "", "map_version": 1}
    expected |= {"threads": 1, "jobs": 1, "features": "intensity", "feature_version": 1}
    assert {name: record[name] for name in expected} == expected
    assert record["settings"]["loss"] == "hinge"
    assert record["key"] == cell.key(record["data_digest"])
    assert len(record["data_digest"]) == 64
    assert record["versions"]["numpy"]
    assert record["started"].endswith("+00:00")


def test_measurements_are_the_same_with_any_number_of_jobs(tmp_path):
    """The real measuring code: linear, exact and two maps on two splits."""
    run(tmp_path / "one", None, jobs=1)
    run(tmp_path / "two", None, jobs=2)
    one, two = content(tmp_path / "one"), content(tmp_path / "two")
    assert one == two
    assert len(one) == N_CELLS
    assert all(record["status"] == "ok" and record["accuracy"] > 0.8 for record in one.values())
    correct = read_correct(tmp_path / "one", one.values())  # which checks their accuracies
    assert correct.keys() == one.keys()
    for key, record in one.items():
        tested = draw_split(digits := load_dataset("digits"), record["protocol"], record["split"])[
            1
        ]
        in_order = tested[np.argsort(digits.y[tested], kind="stable")]
        np.testing.assert_array_equal(correct[key].samples, in_order)
    assert {path.name for path in (tmp_path / "one").iterdir()} == {"records.jsonl", "correct.npz"}


def test_samples_that_were_right_are_kept_over_runs_that_stop(tmp_path):
    worker, auto = cell_workers.Seen(80), TEXT.replace("{grid: [0.1, 1], folds: 3}", "auto")

    def stop(at):
        if at.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.run(spec.parse(auto), tmp_path, measure=worker, progress=stop)
    records = read_records(tmp_path)
    assert len(records) == 3
    parts = sorted((tmp_path / "correct").glob("*.npz"))
    assert {path.stem for path in parts} == {record["key"] for record in records}
    assert read_correct(tmp_path, records).keys() == {record["key"] for record in records}
    outcome = runner.run(spec.parse(auto), tmp_path, measure=worker)
    records = outcome.records
    assert (outcome.measured, {record["C_grid"] for record in records}) == (N_CELLS - 3, {"auto"})
    assert not (tmp_path / "correct").exists()
    assert read_correct(tmp_path, records).keys() == {record["key"] for record in records}
    assert len(records) == N_CELLS


def test_an_exception_is_a_record_that_stays_until_it_is_asked_for(tmp_path):
    outcome = run(tmp_path, cell_workers.broken)
    assert [record["params"] for record in outcome.failed] == [{"order": 2}] * 2
    assert outcome.missing == 0
    record = outcome.failed[0]
    assert (record["status"], record["error"]) == ("failed", "ValueError: two lines")
    assert "in broken" in record["traceback"]
    assert (record["accuracy"], record["dataset"]) == (None, "digits")
    assert run(tmp_path).measured == 0
    retried = run(tmp_path, retry_failed=True)
    assert (retried.measured, retried.failed) == (2, [])
    assert [record["status"] for record in read_records(tmp_path)] == ["ok"] * N_CELLS


@pytest.mark.parametrize(
    ("worker", "n_failed", "error"),
    [
        (
            cell_workers.out_of_memory,
            2,
            "the process was ended by SIGKILL (the system does that when memory runs out)",
        ),
        (cell_workers.gone, N_CELLS, "the process ended with exit code 7"),
    ],
)
def test_a_process_that_dies_is_a_record(tmp_path, worker, n_failed, error):
    outcome = run(tmp_path, worker, jobs=2)
    assert [record["error"] for record in outcome.failed] == [error] * n_failed
    assert len(read_records(tmp_path)) == N_CELLS


LONGER = TEXT.replace("splits: 2", "splits: 6")


def script(folder: Path, worker: str) -> list:
    """Write a program that runs the experiment, two cells at a time, into ``folder/out``."""
    path = folder / "script.py"
    path.write_text(
        f"""\
import sys
from functools import partial
sys.path.insert(0, {str(Path(__file__).parent)!r})
import cell_workers
from kmaps.bench.run import runner
from kmaps.bench.kinds import load as spec
if __name__ == "__main__":
    measure = cell_workers.Each({worker})
    runner.run(spec.parse({LONGER!r}), {str(folder / "out")!r}, jobs=2, measure=measure)
"""
    )
    return [sys.executable, path]


@pytest.mark.slow
def test_what_a_cell_prints_stays_off_standard_output(tmp_path):
    command = script(tmp_path, "cell_workers.chatty")
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == ""
    assert done.stderr.count("noise") == 2 * 3 * N_CELLS


@pytest.fixture
def begun(tmp_path):
    """Return the process of a run that has opened its records and begins to import."""
    command = script(tmp_path, f"partial(cell_workers.logged, {str(tmp_path)!r}, 0.5)")
    records = tmp_path / "out" / "records.jsonl"
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE) as process:
        wait_until(lambda: records.exists() or process.poll() is not None, 120)
        yield process
        process.kill()


def wait_until(condition, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def under_way(folder: Path) -> set[int]:
    def pids(state: str) -> set[int]:
        return {int(path.name.split(".")[-2]) for path in folder.glob(f"*.{state}")}

    return pids("started") - pids("finished")


@pytest.mark.slow
def test_a_killed_run_resumes_without_losing_or_repeating_a_cell(tmp_path, begun):
    records = tmp_path / "out" / "records.jsonl"
    wait_until(lambda: records.read_bytes().count(b"\n") >= 4 or begun.poll() is not None, 120)
    assert begun.poll() is None, begun.stderr.read().decode()
    wait_until(lambda: len(under_way(tmp_path)) == 2, 10)
    orphans = under_way(tmp_path)
    begun.kill()  # SIGKILL: no chance to tidy up
    begun.wait()
    wait_until(lambda: not any(map(alive, orphans)), 20)
    before = {record["key"]: record for record in read_records(tmp_path / "out")}
    finished = sorted(tmp_path.glob("*.finished"))
    outcome = run(tmp_path / "out", partial(cell_workers.logged, str(tmp_path), 0), LONGER)
    assert outcome.measured == 3 * N_CELLS - len(before) > 0
    assert len(outcome.records) == records.read_bytes().count(b"\n") == 3 * N_CELLS
    assert all(record in outcome.records for record in before.values())
    assert len(list(tmp_path.glob("*.finished"))) == len(finished) + outcome.measured


def test_the_time_left_is_that_of_the_cells_that_are_left():
    seen = []
    tally = runner.Tally(dict.fromkeys("abcd", "linear"), 2, seen.append)
    tally.drop("d")
    tally.count("a", {"status": "ok"}, 10.0)
    tally.count("b", {"status": "failed"}, 20.0)
    assert [(at.done, at.failed, at.total, at.seconds_left) for at in seen] == [
        (0, 0, 4, None),
        (1, 0, 3, 10.0),
        (2, 1, 3, 7.5),
    ]
