"""Times measured again: what is read with the records, and what is refused."""

import json

import pytest

from kmaps.bench.records.file import read_records
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.summary import mixed_conditions
from kmaps.bench.records.times import (
    TimesFile,
    doubtful_splits,
    forecast,
    is_busy,
    ran_alone,
    without_doubtful_times,
)
from kmaps.errors import InputError
from tests.bench.sample_records import again, record, times

CELL = record(key="a", C=1.0, train_s=7.0, fit_s=0.0, encode_s=0.0, convert_s=0.0)


@pytest.fixture
def folder(tmp_path):
    lines = [json.dumps(cell) for cell in (CELL, CELL | {"key": "b", "split": 1})]
    (tmp_path / "records.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def write(folder, *lines):
    with TimesFile(folder) as file:
        for line in lines:
            file.append(line)


def test_repeats_are_read_with_the_records_and_their_median_counts(folder):
    write(folder, *times(CELL, 4.0, 9.0, 3.0))
    timed, other = read_records(folder)
    assert MEASURES["train"].repeats(timed) == [4.0, 9.0, 3.0]
    assert MEASURES["train"].value(timed) == 4.0
    assert (MEASURES["time"].value(timed), MEASURES["waited_s"].scale) == (4.0, 1)
    assert MEASURES["train"].value(other) == 7.0
    assert MEASURES["accuracy"].value(timed) == 0.9
    assert "repeats" not in other


def test_the_sum_of_a_repeat_counts_not_that_of_medians():
    lines = times(CELL, 1.0, 5.0, 6.0)
    for line, fit_s in zip(lines, (9.0, 2.0, 3.0), strict=True):
        line["seconds"]["fit_s"] = fit_s
    assert MEASURES["time"].value(CELL | {"repeats": lines}) == 9.0


def test_peaks_of_memory_are_repeated_but_not_those_of_older_lines(folder):
    older, *lines = times(CELL, 4.0, 5.0, 6.0)
    del older["bytes"]
    peaks = [{"peak_bytes": 9}, {"peak_bytes": 7}]
    (folder / "times.jsonl").write_text(json.dumps(older) + "\n")
    write(folder, *(line | {"bytes": peak} for line, peak in zip(lines, peaks, strict=True)))
    cell = read_records(folder)[0]
    assert MEASURES["memory"].repeats(cell) == [9, 7]
    assert MEASURES["memory"].value(cell | {"peak_bytes": 100}) == 8
    assert MEASURES["train"].repeats(cell) == [4.0, 5.0, 6.0]


def test_times_of_another_c_and_earlier_ones_of_a_repeat_are_left_out(folder):
    write(folder, *times(CELL, 7.0, C=3.0), *times(CELL, 4.0, 6.0), *times(CELL, 5.0))
    assert MEASURES["train"].repeats(read_records(folder)[0]) == [5.0, 6.0]


def test_times_of_other_cells_are_refused_with_what_to_do(folder):
    stale = times(record(key="x", C=1.0), 1.0)
    write(folder, *stale, *times(CELL, 1.0))
    assert len(read_records(folder)) == 2  # some are of these cells
    (folder / "times.jsonl").unlink()
    write(folder, *stale)
    with pytest.raises(InputError, match=r"times\.jsonl: has times of other cells"):
        read_records(folder)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{}", "is not a time that `kmaps run --again` wrote"),
        ("3", "is not a time that `kmaps run --again` wrote"),
        *(
            (json.dumps(times(CELL, seconds)[0]), "has a value that no measurement gives")
            for seconds in (-1.0, float("nan"), True)
        ),
        *(
            (json.dumps(times(CELL, 1.0, **wrong)[0]), "has a value that no measurement gives")
            for wrong in ({"seconds": 3}, {"bytes": None}, {"bytes": {"peak_bytes": -1}})
        ),
    ],
)
def test_what_is_no_time_is_refused_with_its_line(folder, line, told):
    good = json.dumps(times(CELL, 1.0)[0])
    (folder / "times.jsonl").write_text(f"{good}\n{line}\n{good}\n")
    with pytest.raises(InputError, match=rf"times\.jsonl:2: {told}"):
        read_records(folder)


def test_conditions_are_those_of_the_repeats():
    made = {"cpu": "a", "cores": 2, "threads": 1, "jobs": 2}
    cells = [record(split=i) | made for i in range(2)]
    assert mixed_conditions([cells[0], again(cells[1], 1.0, **made)]) == []
    assert mixed_conditions([cells[0], again(cells[1], 1.0, **made | {"jobs": 1})]) == ["jobs"]
    timed = [again(cell, 1.0, **made | {"jobs": 1}) for cell in cells]
    assert mixed_conditions(timed) == []


@pytest.mark.parametrize(
    ("columns", "busy"),
    [
        ({}, False),
        ({"other_cpus": 0.04, "stolen_cpus": 0.05}, False),
        ({"other_cpus": 0.06, "stolen_cpus": 0.05}, True),
        ({"busy": "0.50 processors are busy with other work"}, True),
    ],
)
def test_other_work_is_known_from_the_repeat(columns, busy):
    assert is_busy(times(CELL, 1.0, **columns)[0]) is busy


@pytest.mark.parametrize(
    ("columns", "alone"),
    [
        ({"other_cpus": 0.0, "stolen_cpus": 0.0}, True),
        ({"other_cpus": 0.06, "stolen_cpus": 0.05}, False),
        ({"other_cpus": 0.0, "load_before": 9.0, "cores": 2}, True),
        ({"other_cpus": None}, False),  # nothing is on record
        ({"other_cpus": None, "load_before": 1.4, "cores": 2}, True),
        ({"other_cpus": None, "load_before": 1.6, "cores": 2}, False),
        ({"other_cpus": None, "load_before": 1.4, "cores": None}, False),
    ],
)
def test_whether_a_cell_ran_alone(columns, alone):
    assert ran_alone(record(**columns)) is alone


ALONE, BESIDE = (record(train_s=2.0, cv_s=1.0, other_cpus=others) for others in (0.0, 1.0))


def test_one_cell_beside_other_work_takes_the_times_of_its_split():
    failed = record(status="failed", other_cpus=None)
    assert without_doubtful_times([ALONE, ALONE, failed])[:2] == [ALONE, ALONE]
    first, second = without_doubtful_times([ALONE, BESIDE])
    for one in (first, second):
        assert (one["train_s"], one["cv_s"], one["accuracy"]) == (None, None, 0.9)
    other = BESIDE | {"split": 1}
    assert without_doubtful_times([ALONE, other])[0] == ALONE
    assert doubtful_splits([ALONE, other, ALONE | {"draw": 3}]) == {1}


def test_repeats_stay_and_what_was_not_timed_again_goes():
    timed = again(BESIDE, 4.0, 9.0, 3.0)
    assert not doubtful_splits([timed, ALONE])
    first, second = without_doubtful_times([timed, ALONE])
    assert (MEASURES["train"].value(first), MEASURES["cv"].value(first)) == (4.0, None)
    assert MEASURES["train"].value(second) == 2.0
    first, second = without_doubtful_times([timed, BESIDE])
    assert MEASURES["train"].repeats(first) == [4.0, 9.0, 3.0]
    assert MEASURES["train"].value(second) is None


def test_a_forecast_counts_what_was_measured_of_the_cells_that_are_asked_for():
    here = {"cpu": "one", "threads": 2}
    measured = record(key="a", fit_s=1.0, train_s=2.0, peak_bytes=7, **here)
    failed = record(key="b", status="failed", train_s=50.0, peak_bytes=99, cpu="two", threads=1)
    other = record(key="c", train_s=100.0, **here)
    found = forecast(["a", "b"], [measured, failed, other])
    assert (found.cells, found.known, found.seconds, found.peak_bytes) == (2, 1, 3.0, 7)
    assert found.where == "one, threads: 2"
    nothing = forecast(["b"], [failed])
    assert (nothing.known, nothing.seconds, nothing.peak_bytes) == (0, None, None)
