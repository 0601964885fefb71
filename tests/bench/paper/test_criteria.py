"""The papers' printed numbers pass the criteria of their own claims; wrong numbers do not."""

import csv
from collections import defaultdict
from functools import cache
from pathlib import Path
from random import Random
from statistics import fmean

import pytest

from kmaps.bench.paper.entries import claim_entries, packaged
from kmaps.bench.paper.numbers import parse_selection, printed_numbers
from kmaps.bench.paper.statements import claims, criteria, criterion
from kmaps.bench.paper.verdicts import decide
from kmaps.bench.records.lines import compared, lines_of
from kmaps.bench.records.measures import MEASURES
from kmaps.errors import InputError
from tests.bench.records.published import records

UNITS = {"accuracy": "%", "per-class": "%", "time": "s", "storage-paper": "MB"}
NOT_PRINTED = {"A10", "C4", "A7"}  # A7 is between two tables, below
LINEAR = {n.table: n for n in printed_numbers() if n.row == "linear" and n.unit == "%"}


def table(name):
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


WRONG, STATED = table("wrong.csv"), table("stated.csv")


def printed_of(run, line, measure):
    """Return the number that the paper prints for a row of a run; None where it prints none."""
    found = [
        number
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
                numbers = [printed_of(run, line, entry["measure"]) for line in pair]
                if None not in numbers:
                    found[entry["id"], entry["part"]].append(tuple(numbers))
    uniform, kmeans = (
        {n.column: n for n in printed_numbers() if (n.paper, n.table, n.row) == ("annfm", *of)}
        for of in (("Table 1", "AN. 40"), ("Table 2", "40"))
    )
    found["A7", ""] = [(uniform[c], kmeans[c]) for c in uniform if c.endswith("acc. (%)")]
    return found


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
    found = [(left, right, verdict(key, left.value, right.value)) for left, right in pairs]
    assert [one for one in found if one[2] != "holds"] == []


SHUFFLED = [key for key in PRINTED if key not in LACKING]


@pytest.mark.parametrize("name", sorted({name for name, _ in SHUFFLED}))
def test_most_shuffles_of_the_rows_of_its_tables_fail(name):
    failed = set()
    for key in [key for key in SHUFFLED if key[0] == name]:
        pairs = printed_pairs()[key]
        own = {(n.paper, n.table, n.measure) for pair in pairs for n in pair}
        rows = [n for n in printed_numbers() if (n.paper, n.table, n.measure) in own]
        for seed in range(200):
            values = dict(zip(rows, Random(seed).sample(rows, len(rows)), strict=True))
            moved = [(values[left].value, values[right].value) for left, right in pairs]
            failed |= {seed} if "fails" in {verdict(key, *pair) for pair in moved} else set()
    least = {"A7": 100, "C2": 80, "C3": 80}  # of two rows every other shuffle changes nothing
    assert len(failed) > least.get(name, 120)


@pytest.mark.parametrize("line", WRONG, ids=lambda of: f"{of['id']} {of['part']}: {of['what']}")
def test_measured_numbers_of_other_rows_fail(line):
    """Those of linear models, of maps of one order less, of a tenth of the anchors."""
    key, measure = (line["id"], line["part"]), MEASURES[line["measure"]]
    lines = lines_of(records()[line["run"]])
    sides = {side: parse_selection(line[side]) for side in ("left", "right")}

    def mean(of):
        return measure.scale * fmean(map(measure.value, lines[of].values()))

    pairs = compared(sides, lines)
    assert "fails" in {verdict(key, mean(left), mean(right)) for left, right in pairs}


def test_the_printed_accuracy_of_a_linear_model_fails():
    for key in {("A2", "MNIST"), ("A2", "Caltech-101"), ("A3", "exact"), ("A7", ""), ("A9", "")}:
        pairs = [pair for pair in printed_pairs()[key] if pair[0].table in LINEAR]
        found = {verdict(key, LINEAR[n.table].value, right.value) for n, right in pairs}
        assert found == {"fails"}, key


@pytest.mark.parametrize("line", STATED, ids=lambda of: f"{of['id']} {of['part']}")
def test_what_the_sentence_says_passes_and_an_order_less_does_not(line):
    rule = criterion(line["id"], line["part"])
    values = float(line["stated"]), float(line["wrong"])
    assert [decide(rule.relation, rule.by, v, v) for v in values] == ["holds", "fails"]


EQUAL = {"above": 0, "smaller": 1, "about": float("inf")}
GAINS = {key for key, of in criteria().items() if of.by > EQUAL[of.relation]}  # equal rows fail
OF_ACCURACY = ("accuracy", "per-class", "ap")
LOST = {  # no number of the paper is in the texts that are left
    *(("C4", "far away"), ("G2", "growth"), ("G3", "loss"), ("G3", "larger C"), ("L6", "")),
    *(("L1", "linear on Daimler"), ("L1", "linear on MNIST"), ("L4", "time"), ("L4", "degree")),
    *(("V1", "addKPCA where fitted"), ("V3", "")),
}


def test_each_criterion_is_tried_on_both_sides():
    assert {name for name, _ in criteria()} == claims().keys()
    assert all(one.sentence and one.reason for one in criteria().values())
    stated, wrong = ({(of["id"], of["part"]) for of in lines} for lines in (STATED, WRONG))
    assert criteria().keys() - stated - set(SHUFFLED) == LOST
    assert criteria().keys() - stated - wrong - set(SHUFFLED) - GAINS == set()
    entries = [entry for of in claim_entries(packaged()).values() for entry in of]
    accurate = {(of["id"], of["part"]) for of in entries if of["measure"] in OF_ACCURACY}
    linear = {(of["id"], of["part"]) for of in WRONG if of["what"] == "linear"} | {("A7", "")}
    assert {key for key in accurate if key[0] in claims()} - linear - GAINS == set()


def test_a_part_that_a_claim_does_not_have_is_refused():
    with pytest.raises(InputError, match="claim A5 has no part 'all': expected part: 'anchors', "):
        criterion("A5", "all")
