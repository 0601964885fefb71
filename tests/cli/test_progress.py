"""Work that takes long speaks where standard error is no terminal, too."""

import re
from time import monotonic, sleep

import pytest

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
        report("read rows, pass 1", 10, 10)
        report("descend", 1, 4)
        told = wait_for(2, capsys)
    assert re.search(r"^descend: 25 %, \d+:\d\d left$", told, re.M)


def test_quiet_is_quiet(often, capsys):
    with progress.progress_bar("train", quiet=True):
        sleep(0.2)
    assert capsys.readouterr().err == ""
