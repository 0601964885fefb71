"""Accuracy over times and memory: which point a row is."""

import pytest
from PIL import Image

from kmaps.bench.figures.costs import draw, points_of
from kmaps.bench.kinds import KINDS
from kmaps.bench.report.side_by_side import side_by_side
from tests.bench.sample_records import record

TIMES = {"fit_s": 0.5, "encode_s": 0.5, "convert_s": 1.0, "predict_s": 0.25}
SIZES = {"peak_bytes": 3e6, "storage_bytes": 4e6, "storage_form": "codes"}


def own(**columns):
    return record("sklearn.svm.SVC", kernel="", solver="own", **TIMES, **SIZES, **columns)


RECORDS = [
    record("exact", split=0, accuracy=0.9, train_s=1, **TIMES, **SIZES),
    record("exact", split=1, accuracy=0.8, train_s=3, **TIMES, **SIZES),
    own(split=0, accuracy=0.95, train_s=8),
    record("linear", split=0, status="failed", accuracy=None),
]


def test_a_row_is_its_mean_accuracy_and_costs():
    points = points_of(RECORDS, "accuracy")
    assert list(points) == ["chi2 exact", "SVC"]  # what failed has none
    assert points["chi2 exact"] == {
        "accuracy": pytest.approx(85),
        "spread": pytest.approx(7.07, abs=0.01),
        "time": 4.0,
        "predict": 0.25,
        "memory": 3.0,
    }
    assert points["SVC"]["spread"] == 0
    no_memory = [{**cell, "peak_bytes": 0} for cell in RECORDS]
    assert "memory" not in points_of(no_memory, "accuracy")["SVC"]


def test_the_figure_has_three_axes(tmp_path):
    draw(RECORDS, {}, tmp_path / "costs.png")
    with Image.open(tmp_path / "costs.png") as image:
        assert image.width > 2.5 * image.height


def test_rows_stand_side_by_side_the_most_accurate_first():
    lines = side_by_side(RECORDS).splitlines()
    assert lines[2:] == [
        "| SVC | 95.00 | 10.0 | 0.250 | 3.00 | 4.00 |",
        "| chi2 exact | 85.00 ± 7.07 | 4.00 | 0.250 | 3.00 | 4.00 |",
    ]
    other = [*RECORDS, {**RECORDS[2], "reduction": "ovr"}]
    assert "| ovr SVC | 95.00 |" in side_by_side(other)


def test_only_runs_with_rows_of_others_have_them_side_by_side():
    kind = KINDS["classification"]
    [(heading, _)] = kind.sections(RECORDS)
    assert heading == "Side by side"
    assert kind.sections(RECORDS[:2]) == []
