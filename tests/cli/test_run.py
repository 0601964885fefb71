"""``kmaps run``: exit codes, what goes to which stream, and one real run from end to end."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cell_workers import Each
from click.testing import CliRunner

from kmaps.bench.records.file import read_records
from kmaps.bench.run import runner
from kmaps.cli.main import cli

TEXT = """\
experiment: tiny
dataset: {name: digits, train: 120, test: 80}
kernels: [chi2]
reductions: [ovo]
baselines: [linear, exact]
maps: [{map: homogeneous, order: 1}]
C: 1
"""
CELLS = ["split 0 ovo linear", "split 0 ovo chi2 exact", "split 0 ovo chi2 homogeneous order=1"]


def succeed(cell):
    return {"accuracy": 0.5, "C": 1.0}


def fail_on_exact(cell):
    if cell.row.method == "exact":
        raise ValueError("the Gram matrix needs 9 GiB")
    return succeed(cell)


def measure_by(monkeypatch, worker):
    """Let cells be measured by a function of one."""
    monkeypatch.setattr(runner, "Measuring", lambda kind, threads, skip_bad: Each(worker))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in an empty folder that holds the experiment, with nothing measured."""
    monkeypatch.chdir(tmp_path)
    measure_by(monkeypatch, succeed)
    Path("tiny.yaml").write_text(TEXT)

    def invoke(*arguments: str):
        return CliRunner().invoke(cli, ["run", *arguments])

    return invoke


def test_a_preset_has_a_folder_of_its_own(run):
    Path("tiny.yaml").write_text(f"{TEXT}presets: {{small: {{baselines: [linear], maps: []}}}}\n")
    result = run("tiny.yaml", "--preset", "small")
    assert result.exit_code == 0
    (record,) = read_records("results/small/tiny")
    assert (record["experiment"], record["method"]) == ("tiny-small", "linear")
    assert not Path("results/tiny").exists()


def test_records_by_default_in_results_and_the_table_alone_on_stdout(run):
    result = run("tiny.yaml")
    assert result.exit_code == 0
    assert len(read_records("results/tiny")) == 3
    assert "accuracy, %; 1 split" in result.stdout.splitlines()[0]
    lines = result.stderr.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(f"1/3  {CELLS[0]}: accuracy 50.00 %, ")
    assert lines[2] == f"3/3  {CELLS[2]}: accuracy 50.00 %, 0:00 left"


def test_a_second_run_does_nothing_and_says_so(run):
    first = run("tiny.yaml", "--out", "here")
    second = run("tiny.yaml", "--out", "here")
    assert second.exit_code == 0
    assert second.stderr == "nothing to do: all 3 cells are in here\n"
    assert second.stdout == first.stdout


def test_quiet(run):
    assert run("tiny.yaml", "--quiet").stderr == ""
    assert run("tiny.yaml", "--quiet").stderr == ""


def test_dry_run_lists_and_runs_nothing(run, monkeypatch):
    result = run("tiny.yaml", "--dry-run")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [f"to do   {name}" for name in CELLS]
    assert result.stderr == "3 cells: 0 done, 0 failed, 3 to do\n"
    assert [path.name for path in Path().iterdir()] == ["tiny.yaml"]
    measure_by(monkeypatch, fail_on_exact)
    run("tiny.yaml")
    states = [
        line.split("  ")[0].strip() for line in run("tiny.yaml", "--dry-run").stdout.splitlines()
    ]
    assert states == ["done", "failed", "done"]


def test_dry_run_needs_neither_the_data_nor_a_solver(tmp_path):
    path = tmp_path / "tiny.yaml"
    path.write_text(TEXT.replace("digits", "mnist"))
    program = f"""
import sys
from kmaps.cli.main import cli
cli(["run", {str(path)!r}, "--dry-run"], standalone_mode=False)
heavy = {{"matplotlib", "liblinear", "libsvm", "rich", "kmaps.svm", "kmaps.bench.work.classify"}}
sys.exit(" ".join(heavy & set(sys.modules)) or 0)
"""
    environment = {**os.environ, "KMAPS_DATA_DIR": str(tmp_path / "empty")}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"to do   {name}" for name in CELLS]


def test_failed_cells_exit_3_with_one_line_after_the_table(run, monkeypatch):
    measure_by(monkeypatch, fail_on_exact)
    result = run("tiny.yaml", "--quiet")
    assert result.exit_code == 3
    assert "homogeneous, r = 3" in result.stdout
    assert result.stderr == (
        "error: 1 of 3 cells failed: split 0 ovo chi2 exact "
        "(ValueError: the Gram matrix needs 9 GiB). --retry-failed measures them again\n"
    )
    again = run("tiny.yaml")
    assert again.exit_code == 3  # a recorded failure is not forgotten
    measure_by(monkeypatch, succeed)
    retried = run("tiny.yaml", "--retry-failed")
    assert retried.exit_code == 0
    assert retried.stderr.startswith("1/1  split 0 ovo chi2 exact: accuracy 50.00 %")


def test_fail_fast(run, monkeypatch):
    measure_by(monkeypatch, fail_on_exact)
    result = run("tiny.yaml", "--quiet", "--fail-fast")
    assert result.exit_code == 3
    assert "1 of 3 cells failed, 1 not run: split 0 ovo chi2 exact" in result.stderr


def test_mistakes_in_the_experiment_all_at_once(run):
    Path("tiny.yaml").write_text(TEXT.replace("chi2", "chi").replace("order", "ordr"))
    result = run("tiny.yaml")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        "error: tiny.yaml:3:11: kernels[0]: unknown kernel 'chi', did you mean 'chi2'? "
        "(known: chi2, intersection, js, hellinger, linear, exp-chi2, exp-intersection, "
        "exp-js, exp-hellinger, rbf)",
        "tiny.yaml:6:27: maps[0].ordr: unknown key, did you mean 'order'?",
    ]
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["quikstart"], "error: no experiment 'quikstart', did you mean 'quickstart'?"),
        (["nowhere.yaml"], "error: nowhere.yaml: cannot be read: No such file or directory"),
        (["tiny.yaml", "--jobs", "0"], "Invalid value for '--jobs'"),
        (["tiny.yaml", "--threads", "many"], "Invalid value for '--threads'"),
    ],
)
def test_bad_arguments(run, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_missing_data_is_exit_4_and_writes_nothing(run, monkeypatch, tmp_path):
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path / "empty"))
    Path("tiny.yaml").write_text(TEXT.replace("digits", "mnist"))
    result = run("tiny.yaml")
    assert result.exit_code == 4
    assert "run `kmaps download mnist`" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not Path("results").exists()


def kmaps(folder, *arguments, **options) -> subprocess.Popen:
    command = [sys.executable, "-c", "from kmaps.cli.main import main; main()", *arguments]
    return subprocess.Popen(command, cwd=folder, text=True, stderr=subprocess.PIPE, **options)


def test_from_end_to_end(tmp_path):
    (tmp_path / "tiny.yaml").write_text(TEXT)
    with kmaps(tmp_path, "run", "tiny.yaml", stdout=subprocess.PIPE) as process:
        stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    records = read_records(tmp_path / "results" / "tiny")
    assert [record["status"] for record in records] == ["ok"] * 3
    assert all(record["accuracy"] > 0.75 for record in records)
    assert "one-vs-one: accuracy" in stdout
    for record in records:
        assert f"{100 * record['accuracy']:.2f}" in stdout


def test_interrupted_is_exit_130_and_keeps_the_finished_cells(tmp_path):
    text = TEXT.replace("C: 1", "splits: 30\nC: {grid: [0.1, 1, 10, 100], folds: 5}")
    (tmp_path / "tiny.yaml").write_text(text)
    with kmaps(tmp_path, "run", "tiny.yaml", start_new_session=True) as process:
        first = process.stderr.readline()
        assert first.startswith("1/90"), first + process.stderr.read()
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stderr.splitlines()[-2:] == [
        "the finished cells are kept; the same command resumes",
        "interrupted",
    ]
    assert "Traceback" not in stderr
    lines = (tmp_path / "results" / "tiny" / "records.jsonl").read_text().splitlines()
    assert 1 <= len(lines) < 90
    assert all(json.loads(line)["status"] == "ok" for line in lines)
