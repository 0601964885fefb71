"""What the papers report against a baseline: each change is noticed, by its name."""

import json
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from kmaps.bench.kinds import SHOWN
from kmaps.bench.paper import numbers, reported, reported_forms, statements
from kmaps.bench.paper.entries import claim_entries
from kmaps.bench.records.arrays import read_correct
from kmaps.bench.records.row import Row
from kmaps.errors import InputError, NothingMeasured
from tests.bench.records.published import ROOT, records
from tests.bench.sample_records import record

RESULTS = ROOT / "results"
DAIMLER = "annfm-table4-daimler"
JUDGED = {name: shown.judged for name, shown in SHOWN.items()}


@pytest.fixture(scope="module")
def baseline():
    return reported.read_stored(RESULTS)


def items_of(name, changed=None):
    runs = {name: changed or records()[name]}
    return reported.reported(runs, claim_entries(runs), {name: correct_of(name, runs[name])})


@cache
def correct_on_record(name):
    return read_correct(RESULTS / name, records()[name])


def correct_of(name, held):
    """Return which test samples were right, fewer where an accuracy was made lower."""
    found = dict(correct_on_record(name))
    for cell in held:
        if cell["key"] in found:
            bits = found[cell["key"]].correct.copy()
            bits[np.flatnonzero(bits)[: bits.sum() - round(cell["accuracy"] * len(bits))]] = False
            found[cell["key"]] = replace(found[cell["key"]], correct=bits)
    return found


def failed(name, changed, baseline):
    """Return what fails when the records of a run are changed: numbers, claims, and cells."""
    runs, theirs = {name: changed}, {name: records()[name]}
    return [
        *reported.failures(items_of(name, changed), baseline, runs),
        *reported.cell_failures(runs, theirs, JUDGED, 0.005, correct={}, baseline_correct={}),
    ]


CODED = {"method": "exact-coded", "kernel": "intersection"}


@pytest.mark.parametrize(
    ("cells", "change", "reason"),
    [
        (CODED | {"split": 0}, None, "missing: no record of split 0"),
        # The six combinations differ by two points: a tolerance on their mean would not see it.
        (CODED | {"split": 0}, {"accuracy": -0.006}, "worse: accuracy "),
        (CODED | {"split": 5}, {"accuracy": -0.006}, "worse: accuracy "),
        (CODED | {"split": 0}, {"accuracy": -2 / 9800}, ""),  # a sample
        ({"method": "anchor", "kernel": "chi2"}, {"train_bytes": 1}, "worse: train_bytes +1"),
        ({"split": 0}, {"map_version": 98}, "not measured: split 0: baseline incompatible: map_v"),
    ],
)
def test_a_changed_record_fails_with_the_name_of_its_cell(cells, change, reason, baseline):
    held = deepcopy(records()[DAIMLER])
    i = next(i for i, one in enumerate(held) if cells.items() <= one.items())
    changed = held.pop(i) if change is None else held[i]
    for column, by in (change or {}).items():
        changed[column] += by
    found = failed(DAIMLER, held, baseline)
    if not reason:
        assert found == []
        return
    assert "daimler" in found[-1].name
    row = f"{changed['reduction']} {changed['kernel'] or 'any'} {Row.of(changed).label}"
    assert found[-1].name.endswith(row)
    verdict, _, number = reason.partition(": ")
    assert found[-1].reason.startswith(verdict)
    assert number in found[-1].reason
    assert found[-1].undecided == ("map_version" in (change or {}))
    assert reported.outcome(found).exit_code == (5 if found[-1].undecided else 1)
    assert change is None or len(found) == 1


def test_a_number_that_is_not_reproduced_any_more_fails(baseline):
    cells = [cell | {"linf": 1.2 * cell["linf"]} for cell in records()["ldefm-table1"]]
    found = failed("ldefm-table1", cells, baseline)
    by_name = {failure.name: failure.reason for failure in found}
    assert by_name["ldefm Table 1: Ours 7D, χ² L∞"] == "worse, in the baseline reproduced"


def test_a_claim_that_does_not_hold_any_more_fails(baseline):
    """The error of continuous frequencies grows by a tenth: they no longer halve the other's."""
    cells = deepcopy(records()["ldefm-figure4-rbf"])
    for cell in cells:
        if cell["params"].get("continuous"):
            cell["linf"] *= 1.1
    by_name = {f.name: f.reason for f in failed("ldefm-figure4-rbf", cells, baseline)}
    assert by_name["C3 in ldefm-figure4-rbf"] == "fails, in the baseline holds"


def test_an_edited_printed_number_fails(baseline, monkeypatch):
    edited = [
        replace(n, text="92.30") if n.name == "annfm Table 4: exact, χ² acc. (%)" else n
        for n in numbers.printed_numbers()
    ]
    monkeypatch.setattr(reported, "printed_numbers", lambda: edited)
    [found] = reported.failures(items_of(DAIMLER), baseline, [DAIMLER])
    assert found.name == "annfm Table 4: exact, χ² acc. (%)"
    assert found.reason == "the paper's words are '92.30 %', the baseline has '92.29 %'"


def test_an_edited_sentence_fails(baseline, monkeypatch):
    known = statements.claims()
    edited = known | {"A2": replace(known["A2"], text="homogeneous map = exact")}
    monkeypatch.setattr("kmaps.bench.paper.claims.paper_claims", lambda: edited)
    [found] = reported.failures(items_of(DAIMLER), baseline, [DAIMLER])
    assert found.name == "A2 in annfm-table4-daimler"
    assert found.reason.startswith("the paper's words are 'homogeneous map = exact'")


def test_a_claim_that_is_not_there_any_more_is_missing(baseline):
    items = [item for item in items_of(DAIMLER) if item.name != f"A8 in {DAIMLER}"]
    [found] = reported.failures(items, baseline, [DAIMLER])
    assert (found.name, found.reason) == (f"A8 in {DAIMLER}", "missing, the baseline has it")


def test_a_run_that_the_baseline_has_is_missing(baseline):
    theirs = {name: records()[name] for name in ("levels-mnist", "quickstart")}
    ours = {"quickstart": theirs["quickstart"]}
    [found] = reported.cell_failures(ours, theirs, JUDGED, 0.005, correct={}, baseline_correct={})
    assert (found.name, found.reason) == ("levels-mnist", "missing: no run of it")


def test_of_a_baseline_of_runs_the_one_that_is_checked_is_expected():
    one, two = {"a": [record()]}, {"a": [record()], "b": [record()]}
    assert list(reported.expected(one, two)) == ["a"]
    assert list(reported.expected(two, two)) == ["a", "b"]
    with pytest.raises(NothingMeasured, match=r"no run in common: .* c, "):
        reported.expected({"c": [record()]}, two)


def test_rows_of_a_run_stand_before_those_of_its_paper_and_those_before_all_others():
    items = items_of(DAIMLER)
    ordered = reported.in_order_of_runs(items, [DAIMLER])
    of_run = [item.run == DAIMLER for item in ordered]
    assert of_run == sorted(of_run, reverse=True)
    of_paper = [item.of.startswith("annfm") for item in ordered if item.run != DAIMLER]
    assert of_paper == sorted(of_paper, reverse=True)
    assert {True, False} == set(of_paper) == set(of_run)
    assert sorted(ordered, key=str) == sorted(items, key=str)


def test_runs_of_folders(tmp_path):
    with pytest.raises(NothingMeasured, match="have records"):
        reported.read_runs(tmp_path)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "records.jsonl").write_text(json.dumps(record()) + "\n")
    assert list(reported.read_runs(tmp_path / "a")) == ["trial"]
    with pytest.raises(InputError, match="a second run of trial"):
        reported.read_runs(tmp_path)


@pytest.mark.parametrize("text", ["", "[{}]", '{"a": 1}', "[1]", '[{"name": []}]', "[" * 100_000])
def test_a_damaged_file_of_what_is_kept_is_refused(tmp_path, text):
    assert reported.read_stored(tmp_path) is None
    (tmp_path / reported.STORED).write_text(text)
    with pytest.raises(InputError, match=r"reported.json: .*`kmaps report --all`"):
        reported.read_stored(tmp_path)


FAILURE = reported.CheckFailure(
    "A8 in annfm-table4-daimler", DAIMLER, "missing, the baseline has it"
)


def test_junit_has_a_case_an_item_and_a_case_a_cell():
    items = items_of(DAIMLER)
    cell = reported.CheckFailure("daimler ovr js exact-coded", DAIMLER, "missing: no record", False)
    odd = reported.CheckFailure("daimler <ovr> & more", DAIMLER, "other data", undecided=True)
    suite = ElementTree.fromstring(reported_forms.as_junit(items, [FAILURE, cell, odd]))
    assert int(suite.get("tests")) == len(suite.findall("testcase")) == len(items) + 2
    assert (suite.get("failures"), suite.get("errors")) == ("2", "1")
    [case] = [c for c in suite if c.get("name") == FAILURE.name]
    assert case.find("failure").get("message") == FAILURE.reason
    assert Path(case.get("classname")).name == DAIMLER
