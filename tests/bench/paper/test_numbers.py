"""All 245 printed numbers are there, and each is measured or has a reason why it is not."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from kmaps.bench.paper.numbers import parse_selection, printed_numbers, printed_tables
from kmaps.bench.paper.reproduced import (
    compare,
    margin_of,
    outcome_of_points,
    outcome_of_ratio,
    outcome_of_size,
)
from kmaps.bench.records.lines import lines_of
from kmaps.errors import InputError
from tests.bench.records.published import ROOT, records
from tests.bench.sample_records import record
from tests.loops import failures

# How many numbers a table prints, how many of them are not measured, and their sum.
TABLES = {
    ("annfm", "Table 1"): (64, 0, 5975.45),
    ("annfm", "Table 2"): (12, 0, 600.35),
    ("annfm", "Table 3"): (54, 3, 66021.81),
    ("annfm", "Table 4"): (50, 4, 5749.92),
    ("annfm", "storage"): (8, 0, 893.4),
    ("ldefm", "Table 1"): (24, 0, 101.3622),
    ("ldefm", "Table 2"): (12, 0, 0.692),
    ("ldefm", "Figure 4"): (2, 0, 0.01),
    ("ldefm", "Figure 5"): (4, 0, 20.512),
    ("genrbf", "text"): (11, 11, 109.0),
    ("lac", "text"): (3, 3, 111.0),
    ("ldefm", "text"): (1, 1, 28.0),
}
UNITS = {"per-class": "%", "time": "s", "storage-train": "MB"}

NUMBERS = printed_numbers()
MEASURED = [number for number in NUMBERS if number.experiment]


def of(paper, table):
    return [number for number in NUMBERS if (number.paper, number.table) == (paper, table)]


def named(name):
    [number] = [number for number in NUMBERS if number.name == name]
    return number


def test_there_are_245_and_none_stands_twice():
    assert len(NUMBERS) == sum(n for n, _, _ in TABLES.values()) == 245
    assert Counter(number.name for number in NUMBERS).most_common(1)[0][1] == 1
    assert set(printed_tables()) == set(TABLES)


def check_sum(table):
    """The sum is a control: a number typed wrongly changes it."""
    found = of(*table)
    n, n_reasons = len(found), sum(bool(number.reason) for number in found)
    total = sum(number.value for number in found)
    assert (n, n_reasons, pytest.approx(total, abs=1e-9)) == TABLES[table]


def test_tables_are_whole():
    assert failures(check_sum, TABLES) == []


def check_source(number):
    tied = [number.experiment, number.select, number.measure]
    assert all(tied) != bool(number.reason)
    assert any(tied) != bool(number.reason)
    if number.experiment:
        assert (ROOT / "experiments" / f"{number.experiment}.yaml").is_file()
        assert number.unit == UNITS.get(number.measure, "")


def test_each_has_an_experiment_or_a_reason():
    assert failures(check_source, NUMBERS) == []


def test_rows_are_measured_once():
    """Two numbers of one measure never come from one row: selections are not copied by mistake."""
    places = Counter((n.experiment, n.select, n.measure, n.paper, n.table) for n in MEASURED)
    assert places.most_common(1)[0][1] == 1


def check_reference(table):
    times = [number for number in of(table.paper, table.table) if number.unit == "s"]
    if not times:
        assert not table.reference_row
        return
    [reference] = [
        n for n in times if (n.row, n.column) == (table.reference_row, table.reference_column)
    ]
    assert reference.experiment
    [found] = compare([reference], records())
    assert (found.printed, found.ours, found.outcome) == (1, 1, "reference")


def test_times_have_a_reference_that_is_measured():
    assert failures(check_reference, printed_tables().values()) == []


def test_a_run_or_a_row_that_is_not_there_is_missing():
    number = named("annfm Table 1: exact, χ² acc. (%)")
    others = [r for r in records()[number.experiment] if r["method"] != "exact"]
    for held in ({}, {number.experiment: others}):
        [found] = compare([number], held)
        assert (found.ours, found.outcome) == (None, "missing")
    # A time without that of the reference.
    exact = [r for r in records()[number.experiment] if r["method"] == "exact"]
    time = named("annfm Table 1: exact, χ² time (s)")
    [found] = compare([time], {number.experiment: exact})
    assert found.outcome == "missing"


def test_a_selection_of_several_rows_is_refused():
    given = "method=homogeneous; order=1"
    number = replace(named("annfm Table 1: VZ 3, χ² acc. (%)"), select=given)
    with pytest.raises(InputError, match=f"'{given}' picks 6 rows of annfm-table1-mnist"):
        list(compare([number], records()))


@pytest.mark.parametrize(
    ("ours", "outcome"),
    [(92.0, "reproduced"), (91.99, "worse"), (93.0, "reproduced"), (93.01, "better")],
)
def test_percentages_are_judged_on_both_sides(ours, outcome):
    assert outcome_of_points(92.5, ours, 0.5) == outcome


@pytest.mark.parametrize(
    ("ours", "outcome"),
    [(2.0, "reproduced"), (1.99, "better"), (8.0, "reproduced"), (8.01, "worse")],
)
def test_ratios_of_times_have_a_factor_of_two(ours, outcome):
    assert outcome_of_ratio(4.0, ours) == outcome


@pytest.mark.parametrize(
    ("ours", "outcome"),
    [(0.19, "reproduced"), (0.189, "better"), (0.21, "reproduced"), (0.211, "worse")],
)
def test_errors_and_megabytes_have_five_percent(ours, outcome):
    assert outcome_of_size(0.2, ours) == outcome


def test_the_margin_is_twice_the_standard_error_and_never_below_half_a_point():
    """Five splits there and four here: 2 · s · √(1/5 + 1/4), s = 1.29 of 1, 2, 3, 4."""
    assert margin_of([1, 2, 3, 4], 5) == pytest.approx(2 * np.std([1, 2, 3, 4], ddof=1) * 0.45**0.5)
    assert margin_of([2.0, 2.1, 1.9, 2.0], 5) == 0.5
    assert margin_of([1, 2, 3, 4], 0) == margin_of([3.0], 5) == 0.5  # no random splits; one alone


def test_differences_to_the_exact_kernel_are_compared_split_by_split():
    number = named("annfm Table 3: VZ 5, χ² acc. (%)")
    [found] = compare([number], records())
    exact = named("annfm Table 3: exact, χ² acc. (%)")
    lines = lines_of(records()[number.experiment])
    ours = [
        np.mean([record["accuracy_per_class"] for record in lines[line].values()])
        for one in (number, exact)
        for line in lines
        if line.is_picked(one.selection)
    ]
    assert found.to_exact.printed == pytest.approx(87.03 - 87.45)
    assert found.to_exact.ours == pytest.approx(100 * (ours[0] - ours[1]))
    assert (found.outcome, found.to_exact.outcome) == ("worse", "reproduced")
    [exact] = compare([exact], records())
    assert exact.to_exact is None


CELL = record(
    "anchor", reduction="ovr", params={"n_anchors": 30, "shared": True}, solver="liblinear"
)


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
