"""kmaps check: the report on standard output, the verdict in the exit code."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kmaps.bench.records.arrays import CORRECT, Correct, collect_arrays, write_arrays
from kmaps.cli.main import cli
from tests.bench.sample_records import record

KMAPS = Path(sys.executable).parent / "kmaps"
BASELINE = [record(key=str(i), split=i, storage_bytes=10, model_bytes=1) for i in range(3)]


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("baseline.jsonl", BASELINE)


def write(path, cells):
    Path(path).write_text("".join(json.dumps(cell) + "\n" for cell in cells))


def check(cells, *args, code):
    write("ours.jsonl", cells)
    result = CliRunner().invoke(cli, ["check", "ours.jsonl", "--against", "baseline.jsonl", *args])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


def changed(**columns):
    return [cell | columns for cell in BASELINE]


def test_the_same_results_pass():
    result = check(BASELINE, code=0)
    assert result.stdout == (
        "same  digits intensity ovo chi2 homogeneous  "
        "accuracy 90.00 %, baseline 90.00 ± 0.50\n"
        "1 cell: 1 same\n"
    )
    assert result.stderr == ""


def test_worse_results_exit_1():
    result = check(changed(accuracy=0.8), code=1)
    assert result.stdout.startswith("worse  ")
    assert result.stderr == "error: gate failed: 1 worse\n"


def test_missing_cells_exit_1():
    result = check(BASELINE[:2], code=1)
    assert "missing  " in result.stdout
    assert result.stderr == "error: gate failed: 1 missing\n"


@pytest.mark.parametrize(
    "columns", [{"map_version": 2}, {"status": "failed", "accuracy": None, "error": "no memory"}]
)
def test_what_was_not_measured_exits_5(columns):
    result = check(changed(**columns), code=5)
    assert result.stdout.startswith("not measured  ")
    assert result.stderr == "error: gate undecided: 1 not measured\n"


def test_another_dataset_exits_5():
    result = check(changed(dataset="mnist"), code=5)
    assert result.stdout == ""
    assert result.stderr.startswith("error: no cell in common: ")


def test_no_results_exit_5():
    result = CliRunner().invoke(cli, ["check", "nothing", "--against", "baseline.jsonl"])
    assert result.exit_code == 5
    assert result.stderr.startswith("error: nothing/records.jsonl: no records there")


def write_run(folder, cells):
    Path(folder).mkdir(exist_ok=True)
    write(f"{folder}/records.jsonl", cells)


def reported(*args, code):
    result = CliRunner().invoke(cli, ["check", *args, "--reported"])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


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
    assert reported("nothing", code=5).stderr.startswith("error: nothing: no records there nor")


def write_correct(folder, cells, n=10):
    """Write that the first nine of ten test samples of each cell were right."""
    truth = np.arange(n)
    found = Correct.of(truth, np.minimum(truth, n - 2))
    for cell in cells:
        write_arrays(Path(folder), cell["key"], found.arrays, CORRECT)
    collect_arrays(Path(folder), [cell["key"] for cell in cells], CORRECT)


def test_test_samples_that_the_baseline_has_must_be_there():
    cells = changed(n_test=10)
    for folder in ("theirs", "ours"):
        write_run(folder, cells)
    write_correct("theirs", cells)
    for option in ([], ["--reported"]):
        given = ["check", "ours", "--against", "theirs", *option]
        result = CliRunner().invoke(cli, given)
        assert result.exit_code == 1
        assert (
            "split 0: which test samples were right is not on record (correct.npz), the baseline "
            "has it"
        ) in result.stdout
        # A baseline without them asks for none.
        given = ["check", "theirs", "--against", "ours", *option]
        assert CliRunner().invoke(cli, given).exit_code == 0
    write_correct("ours", cells[:2])
    result = CliRunner().invoke(cli, ["check", "ours", "--against", "theirs"])
    assert result.stdout.startswith("missing  ")
    assert "split 2: which test samples" in result.stdout
    write_correct("ours", cells)
    assert CliRunner().invoke(cli, ["check", "ours", "--against", "theirs"]).exit_code == 0


@pytest.mark.parametrize("option", [[], ["--reported"]])
def test_records_that_their_test_samples_contradict_exit_2(option):
    write_run("ours", changed(n_test=10))
    write_correct("ours", BASELINE)
    given = ["check", "ours", "--against", "ours", *option]
    assert CliRunner().invoke(cli, given).exit_code == 0
    write_run("ours", changed(n_test=10, accuracy=0.89))
    result = CliRunner().invoke(cli, given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "were right make its accuracy 0.9, the record has 0.89" in result.stderr


def test_markdown_and_junit_come_with_the_same_exit_code():
    result = check(changed(accuracy=0.8), "--format", "md", "--junit", "out.xml", code=1)
    assert result.stdout.startswith("### trial: gate failed\n\n1 cell: 1 worse.\n")
    assert '<testsuite name="kmaps check" failures="1"' in Path("out.xml").read_text()


def test_the_baseline_is_required():
    result = CliRunner().invoke(cli, ["check", "baseline.jsonl"])
    assert result.exit_code == 2
    assert "Missing option '--against'" in result.stderr


def test_quiet_shows_what_changed_only():
    assert check(BASELINE, "--quiet", code=0).stdout == "1 cell: 1 same\n"


def test_json_comes_with_the_same_exit_code():
    document = json.loads(check(changed(accuracy=0.8), "--json", code=1).stdout)
    assert document["exit_code"] == 1
    assert document["cells"][0]["verdict"] == "worse"


def test_the_floor_is_the_one_of_the_gate_and_can_be_set():
    check(changed(accuracy=0.896), code=0)
    check(changed(accuracy=0.896), "--floor", "0.001", code=1)


def test_the_installed_script_gives_the_exit_code():
    write("ours.jsonl", changed(accuracy=0.1))
    command = [KMAPS, "check", "ours.jsonl", "--against", "baseline.jsonl"]
    assert subprocess.run(command, capture_output=True).returncode == 1


def test_kinds_that_are_unknown_mixed_or_those_of_another_experiment(tmp_path):
    unknown = check(changed(kind="dance"), code=2)
    assert unknown.stderr.startswith(
        "error: records of the kind 'dance', which this version of kmaps does not know (known: cla"
    )
    for command in (["table", "ours.jsonl"], ["report", "."]):
        Path("records.jsonl").write_text(Path("ours.jsonl").read_text())
        result = CliRunner().invoke(cli, command)
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    mixed = check([BASELINE[0], *changed(kind="toy")[1:]], code=2)
    assert "records of several kinds (classification, toy)" in mixed.stderr
    other = check(changed(kind="toy"), code=5)
    assert other.stderr == (
        "error: the results are of the kind toy, the baseline of the kind classification; check "
        "that it belongs to this experiment\n"
    )


def test_records_of_another_format_exit_2_with_what_to_do():
    older = check([{"key": "a", "accuracy": 0.9}], code=2)
    assert (
        "ours.jsonl:1: a record of format 1, this version of kmaps has format 2; " in older.stderr
    )
    assert "measure again" in older.stderr
    newer = check(changed(format=3), code=2)
    assert "it was written by a newer kmaps: update kmaps" in newer.stderr
