"""Selections pick rows of records by what the records say."""

import pytest

from kmaps.bench.paper.numbers import measured_rows, parse_selection, select_rows
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


def test_splits_of_a_row_are_together_and_the_later_record_counts():
    records = [CELL | {"accuracy": 0.1}, CELL | {"split": 1}, CELL | {"accuracy": 0.2}]
    [row] = select_rows({"method": "anchor"}, measured_rows(records))
    assert [record["split"] for record in row.records] == [0, 1]
    assert row.records[0]["accuracy"] == 0.2


def test_failed_cells_are_left_out():
    assert select_rows({}, measured_rows([CELL | {"status": "failed"}])) == []


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
    assert len(select_rows({"method": "anchor"}, measured_rows([CELL, CELL | other]))) == 2


def test_a_name_that_a_record_lacks_does_not_match():
    assert select_rows({"order": 1}, measured_rows([CELL])) == []
    assert select_rows({"levels": 32}, measured_rows([CELL | {"options": {"range": "0:1"}}])) == []


def test_a_parameter_called_method_stands_for_the_map():
    joint = CELL | {"method": "lowdim-joint", "params": {"method": "proj", "dim": 31}}
    assert len(select_rows({"method": "proj"}, measured_rows([joint]))) == 1


def test_ranges_and_levels_of_a_study_can_be_named():
    study = CELL | {"options": {"range": "0:1", "levels": 32}}
    assert len(select_rows({"range": "0:1", "levels": 32}, measured_rows([study]))) == 1
    assert select_rows({"range": "0:1", "levels": 16}, measured_rows([study])) == []
