"""The papers' printed numbers pass the criteria of their own claims; wrong numbers do not."""

from collections import defaultdict
from functools import cache

import pytest

from kmaps.bench.paper.entries import claim_entries, packaged
from kmaps.bench.paper.numbers import printed_numbers
from kmaps.bench.paper.statements import claims, criteria, criterion
from kmaps.bench.paper.verdicts import decide
from kmaps.bench.records.lines import compared, lines_of
from kmaps.errors import InputError
from tests.bench.records.published import records

UNITS = {"accuracy": "%", "per-class": "%", "time": "s", "storage-paper": "MB"}
NOT_PRINTED = {"A10", "C4", "A7"}  # A7 is between two tables, below


def printed_of(run, line, measure):
    """Return the number that the paper prints for a row of a run; None where it prints none."""
    found = [
        number.value
        for number in printed_numbers()
        if number.experiment == run
        and (number.unit == UNITS[measure] if measure in UNITS else number.measure == measure)
        and line.is_picked(number.selection)
    ]
    assert len(found) <= 1
    return found[0] if found else None


@cache
def printed_pairs():
    """Return the printed numbers of all comparisons under the papers' claims, by claim and part."""
    found = defaultdict(list)
    for run, entries in claim_entries(packaged()).items():
        entries = [entry for entry in entries if entry["id"] in claims()]
        lines = lines_of(records()[run]) if entries and run in records() else {}
        for entry in entries:
            for pair in compared(entry, lines):
                values = [printed_of(run, line, entry["measure"]) for line in pair]
                if None not in values:
                    found[entry["id"], entry["part"]].append(tuple(values))
    uniform, kmeans = ({n.column: n.value for n in rows} for rows in _with_forty_anchors())
    found["A7", ""] = [(uniform[c], kmeans[c]) for c in uniform if c.endswith("acc. (%)")]
    return found


def _with_forty_anchors():
    for table, row in (("Table 1", "AN. 40"), ("Table 2", "40")):
        yield [n for n in printed_numbers() if (n.paper, n.table, n.row) == ("annfm", table, row)]


def verdict(key, left, right):
    rule = criterion(*key)
    value = right / left if rule.relation == "smaller" else left - right
    return decide(rule.relation, rule.by, round(value, 6), round(value, 6))


PRINTED = [key for key in criteria() if key[0][0] in "AC" and key[0] not in NOT_PRINTED] + [
    ("A7", "")
]
LACKING = {
    ("A1", "Daimler"): "Table 4 has no linear row",
    ("C2", "on 0..255"): "Figure 5 is a plot there",
}


@pytest.mark.parametrize("key", PRINTED, ids=" ".join)
def test_the_printed_numbers_pass_the_criterion_of_their_claim(key):
    pairs = printed_pairs()[key]
    assert bool(pairs) != (key in LACKING)
    assert [pair for pair in pairs if verdict(key, *pair) != "holds"] == []


ONE_SIDED = [key for key in PRINTED if key not in LACKING and criteria()[key].by >= 0]


@pytest.mark.parametrize("key", [*ONE_SIDED, ("A7", "")], ids=" ".join)
def test_swapped_rows_fail(key):
    assert "fails" in {verdict(key, right, left) for left, right in printed_pairs()[key]}


@pytest.mark.parametrize(
    "key", [("A2", ""), ("A3", "exact"), ("A4", "accuracy"), ("A9", "")], ids=" ".join
)
def test_the_accuracy_of_a_linear_model_fails(key):
    linear = min(n.value for n in printed_numbers() if n.row == "linear" and n.unit == "%")
    assert {verdict(key, linear, right) for _, right in printed_pairs()[key]} == {"fails"}


def test_every_claim_has_its_criteria_and_every_criterion_its_reason():
    assert {name for name, _ in criteria()} == claims().keys()
    assert all(one.sentence and one.reason for one in criteria().values())


def test_a_part_that_a_claim_does_not_have_is_refused():
    with pytest.raises(InputError, match="claim A5 has no part 'all': expected part: 'anchors', "):
        criterion("A5", "all")
