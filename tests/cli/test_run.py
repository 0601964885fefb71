"""``kmaps run``: exit codes, what goes to which stream, and one real run from end to end."""

import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import yaml
from cell_workers import Each
from commands import kmaps, refused

from kmaps.bench.kinds.load import load
from kmaps.bench.records.file import read_records
from kmaps.bench.run import runner

TEXT = """\
experiment: tiny
dataset: {name: digits, train: 120, test: 80}
kernels: [chi2]
reductions: [ovo]
baselines: [linear, exact]
maps: [{map: homogeneous, order: 1}]
C: 1
defaults: 1
"""
ROOT = Path(__file__).resolve().parents[2]
CELLS = ["split 0 ovo linear", "split 0 ovo chi2 exact", "split 0 ovo chi2 homogeneous order=1"]


def succeed(cell):
    return {"accuracy": 0.5, "C": 1.0}


def fail_on_exact(cell):
    if cell.row.method == "exact":
        raise ValueError("the Gram matrix needs 9 GiB")
    return succeed(cell)


def measure_by(monkeypatch, worker):
    monkeypatch.setattr(runner, "Measuring", lambda *given, **options: Each(worker))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in a folder that holds the experiment, with nothing measured."""
    measure_by(monkeypatch, succeed)
    Path("tiny.yaml").write_text(TEXT)
    compiled = tmp_path / "compiled"
    compiled.mkdir()
    (compiled / "loop.nbi").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(compiled))
    return partial(kmaps, "run")


def test_records_by_default_in_runs_and_the_table_alone_on_stdout(run):
    result = run("tiny.yaml")
    assert len(read_records("runs/tiny")) == 3
    assert "accuracy, %; 1 split" in result.stdout.splitlines()[0]
    lines = result.stderr.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(f"1/3  {CELLS[0]}: accuracy 50.00 %, ")
    assert lines[2] == f"3/3  {CELLS[2]}: accuracy 50.00 %, 0:00 left"


def test_dry_run_lists_and_runs_nothing(run, monkeypatch):
    result = run("tiny.yaml", "--dry-run")
    assert result.stdout.splitlines() == [f"to do   {name}" for name in CELLS]
    assert result.stderr == (
        "3 cells: 0 done, 0 failed, 3 to do, in runs/tiny\n"
        "there is no estimate: no record of these cells is published\n"
    )
    assert not Path("runs").exists()
    measure_by(monkeypatch, fail_on_exact)
    run("tiny.yaml", code=3)
    listed = run("tiny.yaml", "--dry-run").stdout.splitlines()
    assert [line.split()[0] for line in listed] == ["done", "failed", "done"]


def test_changed_keys_are_another_run(run):
    run("tiny.yaml", "--set", "splits=2", "--set", "C=10", "--only", "linear")
    records = read_records("runs/tiny-splits-2-C-10")
    assert [(r["experiment"], r["split"], r["C_grid"]) for r in records] == [
        ("tiny-splits-2-C-10", 0, [10.0]),
        ("tiny-splits-2-C-10", 1, [10.0]),
    ]
    assert not Path("runs/tiny").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("quikstart", "no experiment 'quikstart', did you mean 'quickstart'?"),
        ("nowhere.yaml", "nowhere.yaml: cannot be read: No such file or directory"),
        ("tiny.yaml --only exat", "--only exat: no row has this name, did you mean 'exact'?"),
        (
            "tiny.yaml --set dataset.train=1700 --set dataset.test=200 --dry-run",
            "digits: train 1700 and test 200 need 1900 samples, and the dataset has 1797",
        ),
        ("tiny.yaml --set split=2", "--set split=2: split: unknown key, did you mean 'splits'?"),
        ("tiny.yaml --set splits", "--set splits: expected KEY=VALUE, such as splits=2"),
        ("tiny.yaml --set maps.3.order=1", "maps is a list of 1: expected a number from 0"),
        ("tiny.yaml --set C.grid=auto", "--set C.grid=auto: C is 1, which has no keys"),
        ("tiny.yaml --set splits=[", "--set splits=[:2:1: did not find expected node content"),
    ],
)
def test_mistakes_are_one_line_and_make_no_folder(run, arguments, message):
    assert message in refused("run", *arguments.split())


OWN = """\
experiment: own
dataset: {files: {data: ../t.csv, label_column: kind}, train: 0.5}
kernels: [chi2]
reductions: [ovo]
baselines: [linear]
C: 1
presets:
  small: {dataset: {files: {data: ../t.csv, label_column: kind}, train: 4}}
"""


@pytest.mark.parametrize(
    ("given", "name"),
    [([], "own"), (["--preset", "small"], "own-small"), (["--set", "splits=2"], "own-splits-2")],
)
def test_a_kept_experiment_finds_its_files(run, monkeypatch, given, name):
    Path("project/experiments").mkdir(parents=True)
    Path("project/experiments/own.yaml").write_text(OWN)
    Path("project/t.csv").write_text("a,b,kind\n" + "1,2,up\n2,1,down\n" * 6)
    run("project/experiments/own.yaml", *given, "--out", f"project/runs/{name}", "--quiet")
    Path("project").rename("moved")  # as a whole
    monkeypatch.chdir("moved/runs")
    listed = run(f"{name}/experiment.yaml", "--out", name, "--dry-run")
    assert {line.split()[0] for line in listed.stdout.splitlines()} == {"done"}, listed.stderr
    # Resuming writes it anew, from itself.
    Path(name, "records.jsonl").unlink()
    run(f"{name}/experiment.yaml", "--out", name, "--quiet")
    assert run(f"{name}/experiment.yaml", "--out", name).stderr.startswith("nothing to do")
    assert load(Path(name, "experiment.yaml")).folder == Path("../experiments").resolve()


def test_claims_that_are_added_after_a_run_are_judged_from_its_records(run):
    """Nothing is measured again, and the page has them."""
    Path("t.csv").write_text("a,b,kind\n" + "1,2,up\n2,1,down\n" * 60)
    content = yaml.safe_load(OWN.replace("../t.csv", "t.csv"))
    content |= {"baselines": ["linear", "exact"], "presets": {}}
    claim = {
        "id": "exact-as-linear",
        "text": "The exact kernel is as accurate as the linear model.",
        "left": {"method": "exact", "kernel": "chi2"},
        "right": {"method": "linear"},
        "relation": "about",
    }
    for claims in ([], [claim]):
        Path("own.yaml").write_text(yaml.safe_dump(content | {"claims": claims}))
        said = run("own.yaml", "--out", "ours").stderr
    assert said.startswith("nothing to do")
    assert "kmaps report ours" in said
    assert len(read_records("ours")) == 2
    kmaps("report", "ours", "-o", "page.md", "--quiet")
    assert claim["text"] in Path("page.md").read_text()
    assert "kmaps report" not in run("own.yaml", "--out", "ours").stderr


def test_failed_cells_exit_3_with_one_line_after_the_table(run, monkeypatch):
    measure_by(monkeypatch, fail_on_exact)
    result = run("tiny.yaml", "--quiet", code=3)
    assert "homogeneous, r = 3" in result.stdout
    assert result.stderr == (
        "error: 1 of 3 cells failed: split 0 ovo chi2 exact "
        "(ValueError: the Gram matrix needs 9 GiB). --retry-failed measures them again\n"
    )
    run("tiny.yaml", code=3)  # a recorded failure is not forgotten
    measure_by(monkeypatch, succeed)
    retried = run("tiny.yaml", "--retry-failed")
    assert retried.stderr.startswith("1/1  split 0 ovo chi2 exact: accuracy 50.00 %")
    measure_by(monkeypatch, fail_on_exact)
    fast = run("tiny.yaml", "--out", "fast", "--quiet", "--fail-fast", code=3).stderr
    assert "1 of 3 cells failed, 1 not run: split 0 ovo chi2 exact" in fast


def test_missing_data_is_exit_4_and_writes_nothing(run, monkeypatch, tmp_path):
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path / "empty"))
    Path("tiny.yaml").write_text(TEXT.replace("digits", "mnist"))
    assert "run `kmaps download mnist`" in refused("run", "tiny.yaml", code=4)


def test_interrupted_is_exit_130_and_keeps_the_finished_cells(tmp_path):
    text = TEXT.replace("C: 1", "splits: 30\nC: {grid: [0.1, 1, 10, 100], folds: 5}")
    (tmp_path / "tiny.yaml").write_text(text)
    command = [sys.executable, "-m", "kmaps", "run", "tiny.yaml"]
    with subprocess.Popen(
        command, cwd=tmp_path, text=True, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        lines = iter(process.stderr.readline, "")  # what is compiled first is announced
        assert any(line.startswith("1/90") for line in lines)
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stderr.splitlines()[-2:] == [
        "the finished cells are kept; the same command resumes",
        "interrupted",
    ]
    assert "Traceback" not in stderr
    lines = (tmp_path / "runs" / "tiny" / "records.jsonl").read_text().splitlines()
    assert 1 <= len(lines) < 90
    assert all(json.loads(line)["status"] == "ok" for line in lines)
