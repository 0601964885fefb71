"""Selections pick rows of records by what the records say."""

import pytest

from kmaps.bench.paper.numbers import parse_selection
from kmaps.bench.records.lines import lines_of
from tests.bench.sample_records import record

CELL = record(
    "anchor", reduction="ovr", params={"n_anchors": 30, "shared": True}, solver="liblinear"
)


def test_values_have_their_types():
    text = "a=3; b=0.5; c=true; d=chi2; e=0:127; f=differences 0:1"
    assert list(parse_selection(text).values()) == [
        3,
        0.5,
        True,
        "chi2",
        "0:127",
        "differences 0:1",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' in '': expected name=value"),
        ("a=1; b", "'b' in 'a=1; b': expected name=value"),
        ("a=", "'a=' in 'a=': expected name=value"),
        ("a=1; a=2", "'a=1; a=2': a stands twice"),
    ],
)
def test_bad_selections_are_refused(text, message):
    with pytest.raises(ValueError) as refused:
        parse_selection(text)
    assert str(refused.value) == message


def picked(selection, *records):
    """Return the records of each row that a selection picks."""
    lines = lines_of(records)
    return [list(lines[line].values()) for line in lines if line.is_picked(selection)]


def test_splits_of_a_row_are_together_and_the_later_record_counts():
    again = [CELL | {"accuracy": 0.1}, CELL | {"split": 1}, CELL | {"accuracy": 0.2}]
    [row] = picked({"method": "anchor"}, *again)
    assert [(record["split"], record["accuracy"]) for record in row] == [(0, 0.2), (1, 0.9)]


def test_failed_cells_are_left_out():
    assert picked({}, CELL | {"status": "failed"}) == []


@pytest.mark.parametrize(
    "other",
    [
        {"params": {"n_anchors": 40, "shared": True}},
        {"solver": "coded"},
        {"reduction": "ovo"},
        {"kernel": "js"},
        {"setting": "x, y in 0:1"},
    ],
)
def test_rows_differ_in_anything_but_the_split(other):
    assert len(picked({"method": "anchor"}, CELL, CELL | other)) == 2


@pytest.mark.parametrize(
    ("selection", "columns", "n"),
    [
        ({"order": 1}, {}, 0),  # a name that the record lacks
        ({"levels": 32}, {"options": {"range": "0:1"}}, 0),
        ({"range": "0:1", "levels": 32}, {"options": {"range": "0:1", "levels": 32}}, 1),
        ({"range": "0:1", "levels": 16}, {"options": {"range": "0:1", "levels": 32}}, 0),
        # A parameter called method stands for the map.
        ({"method": "proj"}, {"method": "lowdim-joint", "params": {"method": "proj"}}, 1),
    ],
)
def test_what_can_be_named(selection, columns, n):
    assert len(picked(selection, CELL | columns)) == n
