"""Accuracy over outputs per feature."""

import pytest
from PIL import Image

from kmaps.bench.figures.learned import accuracy_lines, draw_accuracy
from kmaps.errors import NothingMeasured
from tests.bench.sample_records import record

RECORDS = [
    record("linear", split=0, accuracy=0.8),
    *(
        record(
            "homogeneous",
            split=split,
            accuracy=0.9 + order / 100,
            params={"order": order},
            solver="coded",
        )
        for order in (1, 2)
        for split in (0, 1)
    ),
    record("lowdim", split=0, accuracy=0.94, params={"optimal": True, "dim": 5}),
    record("lowdim", split=0, status="failed", accuracy=None),
]


def test_lines_go_through_the_values_of_what_decides_the_outputs():
    measured = [cell for cell in RECORDS if cell["status"] == "ok"]
    assert accuracy_lines(measured, measured) == {
        "homogeneous": {3: [pytest.approx(91)] * 2, 5: [pytest.approx(92)] * 2},
        "optimal": {5: [pytest.approx(94)]},
    }


def test_references_are_levels_or_named_where_they_are_far_below(tmp_path):
    draw_accuracy(RECORDS, tmp_path / "far.svg")
    assert "far below: linear 80.00 %" in (tmp_path / "far.svg").read_text()
    near = [RECORDS[0] | {"accuracy": 0.9}, *RECORDS[1:]]
    draw_accuracy(near, tmp_path / "near.svg")
    text = (tmp_path / "near.svg").read_text()
    assert ">linear</text>" in text
    assert "far below" not in text


def test_figure_has_an_axes_a_kernel_and_reduction(tmp_path):
    draw_accuracy(RECORDS, tmp_path / "one.png")
    others = [cell | {"kernel": cell["kernel"] and "js"} for cell in RECORDS]
    draw_accuracy([*RECORDS, *others], tmp_path / "two.png")
    with pytest.raises(NothingMeasured, match="none of the rows"):
        draw_accuracy(RECORDS[:1], tmp_path / "none.png")  # linear has no kernel
    with Image.open(tmp_path / "one.png") as one, Image.open(tmp_path / "two.png") as two:
        assert two.width == 2 * one.width
