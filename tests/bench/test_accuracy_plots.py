"""Accuracy over outputs a feature."""

import pytest
from PIL import Image

from kmaps.bench.figures.accuracy import accuracy_panels, draw_accuracy
from tests.bench.sample_records import record

RECORDS = [
    record("linear", split=0, accuracy=0.8),
    *(
        record("homogeneous", split=split, accuracy=0.9 + order / 100, params={"order": order})
        | {"label": f"homogeneous order={order} solver=coded"}
        for order in (1, 2)
        for split in (0, 1)
    ),
    record("lowdim", split=0, accuracy=0.94, params={"optimal": True, "dim": 5})
    | {"label": "lowdim optimal=True dim=5"},
    record("lowdim", split=0, status="failed", accuracy=None),
]


def test_lines_go_through_the_values_of_what_decides_the_outputs():
    (panel,) = accuracy_panels(RECORDS).values()
    assert panel["homogeneous solver=coded"] == {
        3: [pytest.approx(91)] * 2,
        5: [pytest.approx(92)] * 2,
    }
    assert panel["lowdim optimal=True"] == {5: [pytest.approx(94)]}
    assert panel["linear"] == {1: [pytest.approx(80)]}  # in every panel


def test_figure_has_an_axes_a_kernel_and_reduction(tmp_path):
    draw_accuracy(RECORDS, tmp_path / "one.png")
    others = [cell | {"kernel": cell["kernel"] and "js"} for cell in RECORDS]
    draw_accuracy([*RECORDS, *others], tmp_path / "two.png")
    with Image.open(tmp_path / "one.png") as one, Image.open(tmp_path / "two.png") as two:
        assert two.width == 2 * one.width
