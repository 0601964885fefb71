"""Work that takes long speaks where standard error is no terminal, too."""

import re
from time import monotonic, sleep

import pytest

import kmaps
from kmaps.cli import progress


@pytest.fixture
def often(monkeypatch):
    """A simulated minute of 60 ms: 30 s are 30 ms."""
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.03)


def wait_for(lines, capsys):
    """Return what was printed on standard error once it has some lines."""
    told = ""
    started = monotonic()
    while told.count("\n") < lines and monotonic() - started < 60:
        sleep(0.01)
        told += capsys.readouterr().err
    return told


def test_a_stage_without_a_report_is_seen(often, capsys):
    with progress.progress_bar("train"):
        told = wait_for(2, capsys)
    assert re.match(r"train: 0:00 so far\n", told)


def test_a_line_has_the_stage_how_far_it_is_and_the_time_left(often, capsys):
    with progress.stage_bars() as report:
        report("count", 10, 10)
        report("descend", 1, 4)
        told = wait_for(2, capsys)
    assert re.search(r"^descend: 25 %, \d+:\d\d left$", told, re.M)


def test_quiet_is_quiet(often, capsys):
    with progress.progress_bar("train", quiet=True):
        sleep(0.2)
    assert capsys.readouterr().err == ""


def test_a_bar_is_drawn_once_a_stage_has_taken_long(monkeypatch):
    stage = progress._Stage("train")
    stage.done, stage.total = 1, 2
    stage.draw()
    assert stage._bar is None
    monkeypatch.setattr(progress, "_PATIENCE_S", -1.0)
    stage.draw()
    assert [task.completed for task in stage._bar.tasks] == [1]
    stage.close()


def test_compiling_is_announced_where_no_loop_is_compiled(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(kmaps, "compiled_folder", lambda: tmp_path, raising=False)
    progress.say_compiling(quiet=True)
    assert capsys.readouterr().err == ""
    progress.say_compiling(quiet=False)
    assert capsys.readouterr().err.startswith("compiling the loops, once")
    (tmp_path / "loop.nbi").touch()
    progress.say_compiling(quiet=False)
    assert capsys.readouterr().err == ""
