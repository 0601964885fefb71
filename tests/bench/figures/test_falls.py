"""Errors on pairs of samples, over the anchors' spacing, the features and what is stored."""

import re

import pytest

from kmaps.bench.figures.laws import draw_falls, draw_stored
from kmaps.bench.records.columns import COLUMNS
from kmaps.bench.records.row import Row
from kmaps.errors import NothingMeasured


def record(n_anchors, columns=None, **numbers):
    row = Row("anchor", {"n_anchors": n_anchors}).columns
    words = dict.fromkeys(("experiment", "setting", "features", "normalize", "reduction"), "")
    words |= {"kernel": "chi2", "dataset": "digits", "split": 0, "options": {"columns": columns}}
    return {**dict.fromkeys(COLUMNS), **words, **row, "status": "ok", "warnings": [], **numbers}


RECORDS = [
    *(record(n, bias=n**-2, rms=1 / n, train_bytes=1000 * n) for n in (5, 9)),
    *(record(9, d, deviation=d**-0.5, rms=1, train_bytes=100) for d in (10, 40)),
]


def texts(draw, records, folder):
    draw(records, folder / "figure.svg")
    return re.findall(r">([^<>]+)</text>", (folder / "figure.svg").read_text())


def test_each_error_has_an_axes_with_its_guide(tmp_path):
    found = texts(draw_falls, RECORDS, tmp_path)
    shown = {"mean error, per feature", "root mean square error, per feature", "ε²", "1/√D"}
    assert {*shown, "spread of the error, per feature", "features D"} <= set(found)
    assert "chi2, ANNFM, N = 9" in found
    alone = texts(draw_falls, RECORDS[:2], tmp_path)
    assert "chi2" in alone
    assert "features D" not in alone


def test_rows_that_do_not_differ_are_not_drawn(tmp_path):
    with pytest.raises(NothingMeasured):
        draw_falls(RECORDS[:1], tmp_path / "figure.svg")


def test_rows_are_points_over_their_bytes(tmp_path):
    found = texts(draw_stored, RECORDS[:2], tmp_path)
    assert {"stored training set, MB", "ANNFM, N = 5", "ANNFM, N = 9", "chi2"} <= set(found)
