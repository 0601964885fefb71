"""The papers' printed numbers pass the criteria of their own claims; wrong numbers do not."""

import csv
from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from statistics import fmean

import pytest

from kmaps.bench.paper import statements
from kmaps.bench.paper.entries import claim_entries, packaged
from kmaps.bench.paper.numbers import parse_selection, printed_numbers, printed_tables
from kmaps.bench.paper.reproduced import compare
from kmaps.bench.paper.statements import claims, criteria, criterion, wrong_rows
from kmaps.bench.paper.verdicts import decide
from kmaps.bench.records.lines import compared, lines_of
from kmaps.bench.records.measures import MEASURES
from kmaps.errors import InputError
from tests.bench.records.published import records
from tests.loops import failures

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
    ("C6", ""): "Figure 5 is a plot there",
    ("A12", ""): "Table 3's times stand next to other rows of ours",
}


def check_printed(key):
    pairs = printed_pairs()[key]
    assert bool(pairs) != (key in LACKING)
    found = [(left, right, verdict(key, left.value, right.value)) for left, right in pairs]
    assert [one for one in found if one[2] != "holds"] == []


def test_the_printed_numbers_pass_the_criterion_of_their_claim():
    assert failures(check_printed, PRINTED) == []


SHUFFLED = [key for key in PRINTED if key not in LACKING]


def check_shuffles(name):
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


def test_most_shuffles_of_the_rows_of_its_tables_fail():
    assert failures(check_shuffles, {name for name, _ in SHUFFLED}) == []


def check_wrong(line):
    """Those of linear models, of maps of one order less, of a tenth of the anchors."""
    key, measure = (line["id"], line["part"]), MEASURES[line["measure"]]
    lines = lines_of(records()[line["run"]])
    sides = {side: parse_selection(line[side]) for side in ("left", "right")}

    def mean(of):
        return measure.scale * fmean(map(measure.value, lines[of].values()))

    pairs = compared(sides, lines)
    assert "fails" in {verdict(key, mean(left), mean(right)) for left, right in pairs}


def test_measured_numbers_of_other_rows_fail():
    assert failures(check_wrong, WRONG) == []


def test_the_printed_accuracy_of_a_linear_model_fails():
    for key in {("A2", "MNIST"), ("A2", "Caltech-101"), ("A3", "exact"), ("A7", ""), ("A9", "")}:
        pairs = [pair for pair in printed_pairs()[key] if pair[0].table in LINEAR]
        found = {verdict(key, LINEAR[n.table].value, right.value) for n, right in pairs}
        assert found == {"fails"}, key


def check_stated(line):
    rule = criterion(line["id"], line["part"])
    values = float(line["stated"]), float(line["wrong"])
    assert [decide(rule.relation, rule.by, v, v) for v in values] == ["holds", "fails"]


def test_what_the_sentence_says_passes_and_an_order_less_does_not():
    assert failures(check_stated, STATED) == []


EQUAL = {"above": 0, "smaller": 1, "about": float("inf")}
GAINS = {key for key, of in criteria().items() if of.by > EQUAL[of.relation]}  # equal rows fail
LOST = {  # no number of the paper is in the texts that are left
    *(("C4", "far away"), ("G2", "growth"), ("G3", "loss"), ("G3", "larger C")),
    *(("L1", "linear on Daimler"), ("L1", "linear on MNIST"), ("L4", "time"), ("L4", "degree")),
    *(("V1", "addKPCA where fitted"), ("V3", "")),
}


def test_each_criterion_is_tried_on_both_sides():
    assert {name for name, _ in criteria()} == claims().keys()
    assert all(one.sentence and one.reason for one in criteria().values())
    stated, wrong = ({(of["id"], of["part"]) for of in lines} for lines in (STATED, WRONG))
    assert criteria().keys() - stated - set(SHUFFLED) == LOST
    assert criteria().keys() - stated - wrong - set(SHUFFLED) - GAINS == set()


def test_a_part_that_a_claim_does_not_have_is_refused():
    with pytest.raises(InputError, match="claim A5 has no part 'all'"):
        criterion("A5", "all")


def judged_on():
    """Return what is compared under each part of a claim, run by run."""
    found = defaultdict(list)
    for run, entries in claim_entries(packaged()).items():
        for entry in entries:
            if entry["id"] in claims() and run in records():
                found[entry["id"], entry["part"], run].append(entry)
    return found


def test_a_wrong_row_is_tried_on_every_run_that_a_claim_is_judged_on():
    assert wrong_rows().keys() == judged_on().keys()


def values_of(row):
    """Return what the criterion compares of a wrong row and each row that it stands next to."""
    measure = MEASURES[row.measure]
    lines = lines_of(records()[row.source])
    sides = {"left": parse_selection(row.left), "right": parse_selection(row.right)}
    others = lines_of(records()[row.right_source]) if row.right_source else lines
    if row.right_source:
        pairs = [
            (left, right)
            for left in lines
            for right in others
            if left.is_picked(sides["left"]) and right.is_picked(sides["right"])
        ]
    else:
        pairs = list(compared(sides, lines))

    def mean(held):
        known = [value for one in held.values() if (value := measure.value(one)) is not None]
        return measure.scale * fmean(known)

    ratio = criterion(row.id, row.part).relation == "smaller"
    numbers = [(mean(lines[left]), mean(others[right])) for left, right in pairs]
    return [right / left if ratio else left - right for left, right in numbers]


def test_numbers_of_wrong_rows_are_those_of_the_records():
    """Of several rows next to it the one that it comes nearest to passing against."""
    for key, row in wrong_rows().items():
        if not row.source:
            assert {row.left, row.right, row.measure} == {""}, key
            continue
        values = values_of(row)
        about = criterion(row.id, row.part).relation == "about"
        nearest = min(values, key=abs) if about else max(values)
        assert float(row.value) == pytest.approx(nearest, rel=6e-4, abs=6e-3), key


NOT_DECISIVE = {
    # Arithmetic: the same for all data.
    ("A8", "MNIST", "annfm-table1-mnist"),
    ("A8", "Caltech-101", "annfm-storage-caltech101"),
    ("A8", "Daimler", "annfm-table4-daimler"),
    # Half a point separates the linear model from the exact kernel on pixels of MNIST.
    ("A2", "MNIST", "annfm-table1-mnist"),
    ("A3", "exact", "annfm-table1-mnist"),
    ("A4", "accuracy", "annfm-table1-mnist"),
    ("A7", "", "annfm-table2-mnist-kmeans"),
    # The linear model is above 2,000 projections.
    ("A9", "", "annfm-table3-caltech101"),
}
"""Where a wrong row meets the criterion: what is judged there has no verdict. A criterion that is
loosened, so that its wrong row passes, is one more here."""


def passing():
    return {key for key, row in wrong_rows().items() if row.passes()}


def test_wrong_rows_fail_wherever_there_is_a_verdict():
    assert passing() == NOT_DECISIVE


@pytest.mark.parametrize("key", [("A2", "Caltech-101"), ("L4", "time"), ("G1", "PHOG")])
def test_a_criterion_that_is_loosened_decides_nothing(key, monkeypatch):
    loose = {"A2": -20.0, "L4": 1.0, "G1": -1.0}[key[0]]
    others = {**criteria(), key: replace(criteria()[key], by=loose)}
    monkeypatch.setattr(statements, "criteria", lambda: others)
    assert {run for *part, run in passing() - NOT_DECISIVE if tuple(part) == key}


def test_the_linear_model_of_a_printed_table_is_that_of_the_records():
    for table in printed_tables().values():
        if table.linear:
            lines = lines_of(records()[table.linear_run])
            [line] = [one for one in lines if one.is_picked(parse_selection(table.linear_select))]
            ours = fmean(100 * one["accuracy_per_class"] for one in lines[line].values())
            assert float(table.linear) == pytest.approx(ours, abs=0.005)


def test_what_the_linear_model_would_reproduce_has_no_verdict():
    """Of MNIST's printed numbers; those of the other sets it does not come near."""
    numbers = [number for number in printed_numbers() if number.unit == "%" and number.experiment]
    found = list(compare(numbers, records()))
    tables = Counter(one.number.table for one in found if one.outcome == "not decisive")
    assert tables == {"Table 1": 3, "Table 2": 6}
    differences = [one for one in found if one.to_exact]
    tables = Counter(
        one.number.table for one in differences if one.to_exact.outcome == "not decisive"
    )
    assert tables == {"Table 1": 21}
    assert sum(one.number.table == "Table 1" for one in differences) == 28
    assert all(one.linear is not None for one in found if one.outcome == "not decisive")


def test_a_better_baseline_differs_and_times_of_another_solver_are_not_compared():
    numbers = [number for number in printed_numbers() if number.experiment]
    found = list(compare(numbers, records()))
    differs = [one.number.row for one in found if one.outcome == "differs"]
    assert len(differs) == 16
    assert set(differs) == {"linear", "exact", "MB 10", "MB 20"}
    better = [one.number.row for one in found if one.outcome == "better"]
    assert not set(better) & set(differs)
    of_solver = [one.number for one in found if one.outcome == "not comparable"]
    assert {(number.table, number.unit) for number in of_solver} == {("Table 3", "s")}
    assert len(of_solver) == 23
