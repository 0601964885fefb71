"""Runs side by side: rows by what they are, differences on the same samples, what changed."""

import pytest

from kmaps.bench.paper.compared_runs import Run, as_markdown, as_text, changed_conditions
from kmaps.bench.paper.compared_runs import compare_runs as compare
from kmaps.bench.records.arrays import read_correct
from tests.bench.records.published import ROOT, records

LEVELS = ROOT / "results" / "levels-daimler"
CHI2 = "ovr chi2 homogeneous, r = 3, LIBLINEAR"


def run(name, path=LEVELS, change=None, **columns):
    held = [one | columns | (change(one) if change else {}) for one in records()[path.name]]
    return Run(name, held, read_correct(path, records()[path.name]))


def row(rows, measure, name=CHI2):
    [found] = [one for one in rows if (one.row, one.measure) == (name, measure)]
    return found


def test_a_run_is_as_accurate_as_itself_and_takes_as_long():
    alone = {"other_cpus": 0.0, "stolen_cpus": 0.0}
    rows = compare([run("a", **alone), run("b", **alone)], ["accuracy", "time"])
    assert len(rows) == 12
    [same] = row(rows, "accuracy").estimates
    low, high = same.bounds(0.05)
    assert same.value == 0
    assert -0.05 < low < 0 < high < 0.05
    assert row(rows, "time").estimates[0].value == pytest.approx(1)
    assert changed_conditions([run("a"), run("b")]) == []


def test_differences_and_ratios_are_of_a_run_to_the_first_one():
    larger = run("b", change=lambda record: {"train_bytes": 3 * record["train_bytes"]})
    rows = compare([run("a"), larger], ["storage-train"])
    assert row(rows, "storage-train").estimates[0].value == pytest.approx(3)
    better = Run("c", [one | {"accuracy": one["accuracy"] + 0.01} for one in larger.records], {})
    [found] = row(compare([run("a"), better], ["accuracy"]), "accuracy").estimates
    assert found.value == pytest.approx(1)
    assert "not on record" in found.note


def test_forms_show_what_differs():
    versions = {"versions": {"numpy": "9.9"}}
    runs = [run("a"), run("b", cpu="<b>another", **versions)]
    rows = compare(runs, ["accuracy"])
    assert "\nversion of numpy " in as_text(runs, rows)
    assert "| cpu | AMD" in as_markdown(runs, rows)
    assert "&lt;b>another |" in as_markdown(runs, rows)
