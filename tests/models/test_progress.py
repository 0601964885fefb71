"""Long work shows how far it is: in lines, in bars, and to a function that asks."""

import re

import numpy as np
import pytest
from commands import kmaps

from kmaps.cli import progress
from kmaps.progress import ProgressReporter

X = np.random.default_rng(0).random((90, 4)).astype(np.float32)


def test_no_time_is_estimated_from_less_than_a_hundredth(monkeypatch, capsys):
    monkeypatch.setattr("kmaps.progress._ASKED_INTERVAL_S", 0.0)
    work = ProgressReporter("model")
    work.report(0.009, "begun")
    work.report(0.01, "going on")
    assert re.fullmatch(r"\[model\] begun\n\[model\] .*, about .* left\n", capsys.readouterr().out)
    bars, make = [], progress._bar
    monkeypatch.setattr(progress, "_bar", lambda: bars.append(make()) or bars[0])
    monkeypatch.setattr(progress, "_PATIENCE_S", -1.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress.progress_bar("work") as report:
        for done, known in ((8, False), (9, False), (10, True), (11, True)):
            report(done, 1000)
            assert (bars[0].tasks[0].time_remaining is not None) == known


COMPARED, FIRST, SOLVED = "values of C compared", "the first pass", "problems solved"


@pytest.mark.parametrize(
    ("command", "stage"),
    [
        ("train in.npy out.npz --labels y.npy --multiclass ovo", SOLVED),
        ("encode in.npy out.npy --map nystroem", "features decomposed"),
        ("encode in.npy out.npy --map sign-cauchy", "projections made"),
    ],
)
def test_a_terminal_shows_long_work_with_the_time_left(command, stage, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    np.save("in.npy", X)
    np.save("y.npy", np.arange(90) % 3)
    monkeypatch.setattr("kmaps.cli.progress._PATIENCE_S", 0.0)
    monkeypatch.setattr("kmaps.progress._UNASKED_INTERVAL_S", 0.0)
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm"}
    shown = kmaps(*command.split(), env=terminal).stderr
    assert re.search(rf"{stage}(, about 0:00 left| .*100%.*0:00:00)", shown)
    assert stage not in kmaps(*command.split(), "--force", "--quiet", env=terminal).stderr
