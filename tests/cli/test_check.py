"""kmaps check: the report on standard output, the verdict in the exit code."""

import json
from pathlib import Path

import numpy as np
import pytest
from commands import kmaps, refused, write_records

from kmaps.bench.records.arrays import CORRECT, Correct, collect_arrays, write_arrays
from tests.bench.sample_records import record

BASELINE = [record(key=str(i), split=i, storage_bytes=10, model_bytes=1) for i in range(3)]
FILES = {"baseline.jsonl": BASELINE}


def changed(**columns):
    return [cell | columns for cell in BASELINE]


def check(cells, *args, code):
    write_records(cells, "ours.jsonl")
    return kmaps("check", "ours.jsonl", "--against", "baseline.jsonl", *args, code=code)


def test_the_same_results_pass():
    result = check(BASELINE, code=0)
    assert result.stdout == (
        "same  digits intensity ovo chi2 homogeneous  "
        "accuracy 90.00 %, baseline 90.00 ± 0.50\n"
        "1 cell: 1 same\n"
    )
    assert result.stderr == ""
    assert check(BASELINE, "--quiet", code=0).stdout == "1 cell: 1 same\n"
    assert json.loads(check(BASELINE, "--json", code=0).stdout)["exit_code"] == 0


FAILED = {"status": "failed", "accuracy": None, "error": "no memory"}


@pytest.mark.parametrize(
    ("cells", "code", "word", "error"),
    [
        (changed(accuracy=0.8), 1, "worse  ", "gate failed: 1 worse\n"),
        (BASELINE[:2], 1, "missing  ", "gate failed: 1 missing\n"),
        (changed(map_version=2), 5, "not measured  ", "gate undecided: 1 not measured\n"),
        (changed(**FAILED), 5, "not measured  ", "gate undecided: 1 not measured\n"),
        (changed(dataset="mnist"), 5, "", "no cell in common: "),
    ],
)
def test_the_exit_code_says_what_is_wrong(cells, code, word, error):
    result = check(cells, code=code)
    assert result.stdout.startswith(word)
    assert bool(result.stdout) == bool(word)
    assert result.stderr.startswith(f"error: {error}")


def test_a_loss_shows_with_its_interval_and_fails_when_nothing_may_change():
    """With the samples that were right on record, on both sides, of as many as decide."""
    truth, sample = np.repeat([0, 1], 500), np.arange(1000)
    sizes = [(250, 10), (240, 9)]  # wrong of 1,000, and bytes: fewer are right, fewer are stored
    for folder, (n_wrong, nbytes) in zip(("theirs", "ours"), reversed(sizes), strict=True):
        predicted = np.where(sample % 1000 < n_wrong, 1 - truth, truth)
        correct = Correct.of(truth, predicted)
        one = BASELINE[0] | correct.columns
        one |= {"n_test": 1000, "train_bytes": 100 - (folder == "ours"), "storage_bytes": nbytes}
        write_run(folder, [one])
        write_arrays(Path(folder), one["key"], correct.arrays, CORRECT)
        collect_arrays(Path(folder), [one["key"]], CORRECT)
    found = kmaps("check", "ours", "--against", "theirs", "--floor", "0.02", code=0)
    assert found.stdout.startswith("changed")
    assert "accuracy 75.00 %, baseline 76.00" in found.stdout
    assert "(-1.00, 95 % interval -1.8" in found.stdout
    assert "train_bytes -1" in found.stdout
    command = ["check", "ours", "--against", "theirs", "--floor", "0.02", "--strict"]
    assert "1 changed" in kmaps(*command, code=1).stderr
    assert json.loads(kmaps(*command, "--json", code=1).stdout)["exit_code"] == 1


def write_run(folder, cells):
    write_records(cells, f"{folder}/records.jsonl")


def reported(*args, code):
    return kmaps("check", *args, "--reported", code=code)


def test_reported_compares_a_run_with_a_baseline_of_runs():
    write_run("theirs", BASELINE)
    write_run("ours", BASELINE)
    assert reported("ours", "--against", "theirs", "-q", code=0).stderr == ""
    write_run("ours", changed(accuracy=0.89))
    result = reported("ours", "--against", "theirs", "--junit", "out.xml", code=1)
    assert "FAILED digits intensity ovo chi2 homogeneous (trial): worse: accuracy" in result.stdout
    assert result.stderr.startswith("error: 1 failed, first digits intensity ovo chi2 homogeneous")
    assert 'failures="1"' in Path("out.xml").read_text()
    write_run("other", changed(experiment="other"))
    result = reported("other", "--against", "theirs", code=5)
    assert result.stderr.startswith("error: no run in common: the results are of other, the base")
    write_run("ours", changed(map_version=2))
    reported("ours", "--against", "theirs", code=5)


def test_reported_needs_no_baseline_and_comes_as_markdown_and_json():
    write_run("ours", BASELINE)
    assert "### What the papers report" in reported("ours", "--format", "md", code=0).stdout
    document = json.loads(reported("ours", "--json", code=0).stdout)
    assert (document["exit_code"], document["failures"]) == (0, [])
    assert {item["verdict"] for item in document["items"]} == {"not measured"}
    assert reported("nothing", code=5).stderr.startswith("error: nothing: neither it nor its")


def test_the_floor_is_the_one_of_the_gate_and_can_be_set():
    check(changed(accuracy=0.896), code=0)
    check(changed(accuracy=0.896), "--floor", "0.001", code=1)
    told = check(changed(accuracy=0.1), "--floor", "nan", code=2).stderr
    assert "'--floor': nan is not a finite number" in told


def test_kinds_that_are_unknown_mixed_or_those_of_another_experiment():
    write_run(".", changed(kind="dance"))
    message = "the records have the kind 'dance', which this version of kmaps does not know (known"
    for command in (["check", ".", "--against", "."], ["table", "."], ["report", "."]):
        assert refused(*command).startswith(message)
    mixed = check([BASELINE[0], *changed(kind="toy")[1:]], code=2)
    assert "records of several kinds (classification, toy)" in mixed.stderr
    other = check(changed(kind="toy"), code=5)
    assert "the results have the kind toy, the baseline has the kind clas" in other.stderr


def test_records_of_another_format_exit_2_with_what_to_do():
    older = check([{"key": "a", "accuracy": 0.9}], code=2).stderr
    assert "ours.jsonl:1: has a record of format 1, this kmaps reads format 2; " in older
    assert "measure again" in older
    newer = check(changed(format=3), code=2)
    assert "it was written by a newer kmaps: update kmaps" in newer.stderr
