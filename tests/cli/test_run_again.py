"""kmaps run --again: exit codes, what goes to which stream, and the pages that show the repeats."""

from pathlib import Path

import cell_workers
import pytest
from commands import kmaps

from kmaps.bench.records.file import read_records
from kmaps.bench.records.times import read_times
from kmaps.bench.run import repeats
from kmaps.bench.run.clock import Load
from tests.cli import test_run

TEXT = test_run.TEXT.replace("maps: [{map: homogeneous, order: 1}]\n", "")


@pytest.fixture
def worker(monkeypatch):
    """Return what measures cells and how busy the machine is, to be changed."""
    used = {"measure": cell_workers.timed, "load": Load(0.1, 0.0, 0.0, 2)}

    def measuring(*given, **options):
        return cell_workers.Each(used["measure"])

    def time_again(*given, **options):
        return repeats_time_again(*given, **options, look=lambda: used["load"])

    repeats_time_again = repeats.time_again
    monkeypatch.setattr(repeats, "Measuring", measuring)
    monkeypatch.setattr("kmaps.bench.run.runner.Measuring", measuring)
    monkeypatch.setattr(repeats, "time_again", time_again)
    return used


@pytest.fixture
def results(worker):
    Path("tiny.yaml").write_text(TEXT)
    kmaps("run", "tiny.yaml", "--quiet")
    return Path("runs/tiny")


def timed(results, *arguments, code=0):
    return kmaps("run", "--again", results, "--experiment", "tiny.yaml", *arguments, code=code)


def test_the_table_of_the_repeats_goes_to_standard_output(results):
    found = timed(results, "--repeats", 3, "--common-C", 4)
    assert "train, s; median (quartiles) of 3 repeats; 1 split" in found.stdout
    assert "fit + encode + convert + train at one C for all, s" in found.stdout
    assert "6/12  split 0 ovo chi2 exact: accuracy" not in found.stdout
    assert found.stderr.startswith("1/12  split 0 ovo linear: accuracy")
    assert found.stderr.splitlines()[-1].endswith(", 0:00 left")
    lines = read_times(results)
    assert len(lines) == 12
    command = "kmaps run --again runs/tiny --experiment tiny.yaml --repeats 3 --common-C 4"
    assert lines[0]["command"] == command
    again = timed(results, "--repeats", 3)
    assert again.stdout == found.stdout
    assert again.stderr == "nothing to do: all repeats are in runs/tiny\n"


def test_a_busy_machine_is_one_line_and_the_flag_that_helps(results, worker):
    worker["load"] = Load(0.1, 1.2, 0.0, 2)
    refused = timed(results, code=2).stderr
    assert "is not idle (1.20 processors are busy with other work)" in refused
    assert refused.endswith("time nevertheless and mark the times, with --even-if-busy\n")
    marked = timed(results, "--even-if-busy", "--repeats", 1)
    assert "‡ other work ran meanwhile" in marked.stdout
    assert "warning: 1.20 processors are busy with other work: the times are" in marked.stderr


def test_a_system_that_does_not_report_the_load(results, worker):
    worker["load"] = Load(None, None, None)
    said = "warning: this system does not report whether other work runs\n"
    assert said in timed(results, "--repeats", 1).stderr


def test_a_cell_that_comes_out_otherwise_has_exit_code_3(results, worker):
    worker["measure"] = cell_workers.inaccurate
    found = timed(results, "--repeats", 2, "--quiet", code=3)
    assert found.stderr.count("\n") == 1
    assert "error: 1 cell could not be timed: split 0 ovo chi2 exact: accuracy is" in found.stderr
    assert "linear" in found.stdout


def test_records_of_a_preset(results):
    Path("tiny.yaml").write_text(TEXT + "presets: {small: {baselines: [linear]}}\n")
    kmaps("run", "tiny.yaml", "--preset", "small", "--quiet")
    small = Path("runs/tiny-small")
    timed(small, "--preset", "small", "--repeats", 2, "--quiet")
    assert len(read_times(small)) == 2
    assert "records of tiny-small, not of tiny; name their exp" in timed(small, code=2).stderr


def test_usage(results):
    Path("tiny.yaml").unlink()  # the experiment next to the records is the one
    kmaps("run", "--again", results, "--repeats", 2, "--quiet")
    assert len(read_times(results)) == 2 * len(read_records(results))
    assert "has no records" in kmaps("run", "--again", "nowhere", code=5).stderr
    kept = results / "experiment.yaml"
    kept.rename("kept.yaml")
    assert "no experiment 'tiny'" in kmaps("run", "--again", results, code=2).stderr
    Path("kept.yaml").rename(kept)
    Path("tiny.yaml").write_text(TEXT.replace("tiny", "other"))
    assert "records of tiny, not of other; name their exp" in timed(results, code=2).stderr
    timed(results, "--common-C", "0", code=2)
