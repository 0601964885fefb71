"""A clock on the wall that jumps by a day, to and fro: nothing waits for it or gives up by it."""

import time
from itertools import cycle

import numpy as np
import pytest

from kmaps import CodedSVC
from kmaps.cli import progress
from kmaps.data import transfer

DAY_S = 86_400


@pytest.fixture(autouse=True)
def _jumping(monkeypatch):
    real, jumps = time.time, cycle((DAY_S, -DAY_S, 0))
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))


def test_a_download_goes_on(serve, tmp_path):
    """Patience is counted by a clock that nobody sets: a second is not a day that was too slow."""
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "file").write_bytes(bytes(10**6))
    server = serve(tmp_path / "www", cuts=[1000, 500])  # two pauses
    transfer.fetch_url(f"{server.url}/file", tmp_path / "in", lambda *_: None, largest=10**7)
    assert (tmp_path / "in").stat().st_size == 10**6


def test_bars_and_lines_of_progress_show_no_days(monkeypatch, capsys):
    shown = []
    monkeypatch.setattr(progress, "_PATIENCE_S", 600.0)  # of a day nothing would be left
    monkeypatch.setattr(progress, "_bar", lambda: shown.append(1))
    with progress.progress_bar("work") as report:
        report(1, 2)  # by the wall, a day may have passed
        assert not shown
    monkeypatch.setattr("kmaps.progress._ASKED_INTERVAL_S", 0.0)
    X, y = np.random.default_rng(0).random((20, 3)), np.arange(20) % 4
    model = CodedSVC(multiclass="ovo", verbose=1).fit(X, y)
    told = capsys.readouterr().out
    assert told.count("about 0:") == told.count(" left") >= 6
    assert 0 < model.timings_["train_s"] < DAY_S / 2
