"""Timing again: interleaved, resumed, refused on a busy machine, and of the same work alone."""

import json
from functools import partial

import cell_workers
import pytest
from spec_text import SMALL as TEXT

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds import load as spec
from kmaps.bench.records.file import read_records
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.times import read_times
from kmaps.bench.run import repeats, runner
from kmaps.bench.run.clock import Load
from kmaps.bench.run.repeats import time_again
from kmaps.errors import ConfigError
from tests.bench.records.published import ROOT

CELLS = [
    "split 0 ovo linear",
    "split 0 ovo chi2 exact",
    "split 1 ovo linear",
    "split 1 ovo chi2 exact",
]
IDLE = Load(0.1, 0.0, 0.0, 2)
BUSY = Load(0.1, 1.2, 0.0, 2)
EXPERIMENT = spec.parse(TEXT)


@pytest.fixture
def folder(tmp_path):
    runner.run(EXPERIMENT, tmp_path / "out", measure=cell_workers.Each(cell_workers.timed))
    return tmp_path / "out"


def again(folder, worker=cell_workers.timed, experiment=EXPERIMENT, load=IDLE, **options):
    given = {"measure": cell_workers.Each(worker), "look": lambda: load}
    return time_again(experiment, folder, **{**given, **options})


def rewrite(path, change):
    """Put every line of a file through a function."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(change(line)) + "\n" for line in lines))


def ordered(folder, **options):
    """Return the cells in the order in which they are measured, and what is left behind."""
    log = folder.parent / "log"
    log.unlink(missing_ok=True)
    found = again(folder, partial(cell_workers.listed, str(log)), **options)
    return log.read_text().splitlines() if log.exists() else [], found


def test_a_line_says_what_was_timed_and_where(folder):
    again(folder, repeats=1, command="kmaps run --again out", threads=1)
    line = read_times(folder)[0]
    assert line["seconds"] == {
        **{"fit_s": 0.0, "encode_s": 0.0, "convert_s": 0.0},
        **{"train_s": 0.1, "predict_s": 0.1},
    }
    assert line["bytes"] == {"peak_bytes": 700}
    assert (line["C"], line["threads"], line["jobs"]) == (0.1, 1, 1)
    assert line["command"] == "kmaps run --again out"
    assert line["judged"]["accuracy"] == read_records(folder)[0]["accuracy"]
    assert line["started"].endswith("+00:00")


def test_more_repeats_add_to_those_there_are(folder):
    again(folder, repeats=1)
    order, found = ordered(folder, repeats=3)
    assert (len(order), found.measured) == (8, 8)
    order, found = ordered(folder, repeats=3)
    assert (order, found.total) == ([], 0)
    (folder / "times.jsonl").unlink()
    assert len(ordered(folder, repeats=2)[0]) == 8


def test_a_busy_machine_is_refused_before_anything_is_measured(folder):
    told = r"not idle \(1\.20 processors are busy with other work\), .*, with even_if_busy=True"
    with pytest.raises(ConfigError, match=told):
        again(folder, load=BUSY)
    assert not (folder / "times.jsonl").exists()
    found = again(folder, load=BUSY, even_if_busy=True, repeats=2)
    assert (found.measured, found.load) == (8, BUSY)
    assert {line["busy"] for line in read_times(folder)} == {BUSY.reason}
    assert again(folder, load=BUSY, repeats=2).total == 0  # nothing to do is not refused


def test_work_that_begins_later_marks_the_repeats_from_then_on(folder):
    looks = iter([IDLE, BUSY, Load(9.0, 0.0, 0.0, 2)])  # by then the average is our own
    again(folder, repeats=3, look=lambda: next(looks))
    assert [bool(line["busy"]) for line in read_times(folder)] == 4 * [False] + 4 * [True] + [
        False
    ] * 4


def test_a_cell_that_comes_out_otherwise_gets_no_time(folder):
    found = again(folder, cell_workers.inaccurate, repeats=3)
    accuracy = read_records(folder)[1]["accuracy"]
    told = f"split 0 ovo chi2 exact: accuracy is 0.0, on record {accuracy}: its times belong to"
    assert found.failures[0].startswith(told)
    assert len(found.failures) == 2
    assert found.measured == 6  # three of each linear cell
    assert not any("repeats" in r for r in read_records(folder) if r["method"] == "exact")
    assert again(folder, repeats=1).measured == 2


@pytest.mark.parametrize(("cpu", "n_failed"), [({}, 4), ({"cpu": "another"}, 0)])
def test_accuracy_may_move_by_half_a_point_on_another_processor_alone(folder, cpu, n_failed):
    path = folder / "records.jsonl"
    for n, (off, failed) in enumerate([(0.004, n_failed), (0.002, 4)], 1):
        rewrite(path, lambda cell, off=off: cell | cpu | {"accuracy": cell["accuracy"] - off})
        assert len(again(folder, repeats=n).failures) == failed


def test_a_cell_whose_process_dies_fails_once_and_the_others_go_on(folder):
    seen = []
    found = again(folder, cell_workers.out_of_memory, repeats=2, progress=seen.append)
    assert [failure.partition(":")[0] for failure in found.failures] == [CELLS[1], CELLS[3]]
    assert "SIGKILL" in found.failures[0]
    assert found.measured == 4
    assert (seen[0].total, seen[-1].total) == (8, 6)
    assert seen[-1].done == 6
    assert seen[-1].seconds_left == 0


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("small", "other", "records of small, not of other; name their experiment"),
        ("train: 120", "train: 130", "the file or the version of the maps has changed"),
        ("baselines: [linear, exact]", "baselines: [linear]", "2 of 4 records are not of the cell"),
    ],
)
def test_an_experiment_that_changed_is_refused(folder, old, new, told):
    with pytest.raises(ConfigError, match=told):
        again(folder, experiment=spec.parse(TEXT.replace(old, new)))
    assert not (folder / "times.jsonl").exists()


def test_the_real_measuring_code_has_times_of_the_same_work(tmp_path):
    experiment = spec.parse(TEXT.replace("splits: 2", "splits: 1"))
    runner.run(experiment, tmp_path, threads=1)
    found = again(tmp_path, experiment=experiment, measure=None, repeats=1, common_C=0.5)
    assert (found.measured, found.failures) == (4, [])
    for line in read_times(tmp_path):
        assert set(line["seconds"]) == {"fit_s", "encode_s", "convert_s", "train_s", "predict_s"}
        assert line["C"] in ((0.5,) if line["common"] else (0.1, 1.0))
    assert all(len(MEASURES["time"].repeats(r)) == 1 for r in read_records(tmp_path))


def test_only_fractions_may_differ_on_another_processor():
    kind = KINDS["classification"]
    record = read_records(ROOT / "results" / "quickstart")[0]
    moved = {**record, "accuracy": record["accuracy"] - 0.004}
    assert repeats._difference(kind, moved, record, floor=0.005) == ""
    assert repeats._difference(kind, moved, record, floor=0.0) != ""
    larger = {**record, "train_bytes": record["train_bytes"] + 1}
    assert repeats._difference(kind, larger, record, floor=2.0) != ""
