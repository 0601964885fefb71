"""Scaling experiments: which cells there are."""

import pytest
from spec_text import refuses, text_of

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds import load as spec

TEXT = text_of("scaling")


def test_each_row_at_each_size_up_to_its_limit():
    cells = KINDS["scaling"].cells(spec.parse(TEXT))
    assert [cell.row.label for cell in cells if cell.protocol["train"] == 400] == [
        "exact-coded n=400",
        "homogeneous order=1 n=400",
        "homogeneous order=1 solver=coded n=400",
    ]
    assert [cell.protocol["train"] for cell in cells] == [100] * 5 + [200] * 4 + [400] * 3
    assert len({cell.key("d") for cell in cells}) == len(cells)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("exact: 200", "exat: 200", "5:16: limits.exat: unknown method 'exat', did you mean"),
        ("[200, 100, 400]", "[200]", "4:8: sizes: List should have at least 2 items"),
        ("official: true", "train: 9, test: 9", "1:1: a scaling experiment needs dataset: off"),
    ],
)
def test_mistakes(old, new, expected):
    refuses(f"experiment.yaml:{expected}", TEXT, old, new)
