"""One C per row, chosen in the training set of the first split and used on all of them."""

import os
from pathlib import Path

import cell_workers
import numpy as np
import pytest

from kmaps.bench.kinds import load as spec
from kmaps.bench.report.choice import choice_parts
from kmaps.bench.run import runner
from kmaps.errors import ConfigError

CHOICE = "{grid: [0.01, 0.1, 1, 10, 100], folds: 3, unit_norm: true}"
ONCE = CHOICE.replace("}", ", chosen_on: first-split}")
TEXT = f"""\
experiment: sets
dataset:
  files: {{data: t.csv, label_column: kind, split_column: set}}
  choose: 2
  train: [a, b, c]
  test: [s, t]
splits: 6
kernels: [chi2]
reductions: [ovr]
baselines: [linear, exact]
maps: [{{map: homogeneous, order: 1}}]
C: {ONCE}
"""


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory):
    """A folder with the experiment and data in five sets, in which labels differ in noise."""
    folder, rng = tmp_path_factory.mktemp("sets"), np.random.default_rng(3)
    rows = ["v,w,x,y,kind,set"]
    for noise, name in zip((0.05, 0.4, 1.5, 0.5, 0.5), "abcst", strict=True):
        values = rng.gamma(1.0, size=(60, 4))
        up = values[:, 0] - values[:, 1] + noise * rng.normal(size=60) > 0
        rows += [
            ",".join([*(f"{x:.6g}" for x in row), "up" if one else "down", name])
            for row, one in zip(values, up, strict=True)
        ]
    (folder / "t.csv").write_text("\n".join([*rows, ""]))
    patch = pytest.MonkeyPatch()
    patch.setenv("KMAPS_DATA_DIR", str(folder / "cache"))
    yield folder
    patch.undo()


def run(folder: Path, to: str, text: str = TEXT, **options):
    (folder / "sets.yaml").write_text(text)
    return runner.run(spec.load(folder / "sets.yaml"), folder / to, threads=1, **options)


@pytest.fixture(scope="module")
def measured(folder):
    return run(folder, "out").records


def test_every_split_has_the_choice_of_the_first(folder, measured):
    assert [record["status"] for record in measured] == ["ok"] * 18
    alone = run(folder, "alone", TEXT.replace(ONCE, CHOICE)).records
    for method in ("linear", "exact", "homogeneous"):
        rows = [record for record in measured if record["method"] == method]
        first = next(one for one in alone if one["method"] == method and one["split"] == 0)
        assert {(row["C"], *row["cv_accuracy"]) for row in rows} == {
            (first["C"], *first["cv_accuracy"])
        }
        # A run with that C given has the same accuracies.
        given = TEXT.replace(ONCE, f"{{grid: [{first['C']}], unit_norm: true}}")
        given = given.replace("splits: 6", "splits: 2")
        expected = run(folder, f"given-{method}", given, only=[method]).records
        assert [row["accuracy"] for row in rows[:2]] == [row["accuracy"] for row in expected]
    assert len({(one["method"], one["C"]) for one in alone}) > 3  # else the test shows nothing
    assert {r["cv_s"] is None for r in measured if r["split"]} == {True}
    assert not {r["key"] for r in measured} & {r["key"] for r in alone}
    assert "set of the first split, one C for all splits, from" in choice_parts(measured)[0].text


def test_without_a_choice_the_other_splits_fail_until_there_is_one(folder):
    failing = run(folder, "failing", measure=cell_workers.Each(first_fails))
    errors = {record["split"]: record["error"] for record in failing.failed}
    assert errors[0] == "ValueError: too odd"
    assert errors[5] == "no C was chosen: its cell on split 0 failed (ValueError: too odd)"
    assert (len(failing.failed), failing.measured) == (6, 18)
    again = run(folder, "failing", retry_failed=True)
    assert (again.measured, again.failed) == (6, [])


def first_fails(cell):
    if cell.row.method == "exact":
        assert cell.split == 0, os.getpid()
        raise ValueError("too odd")
    return {"accuracy": 0.5, "C": 1.0}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "chosen_on: first-split",
            "chosen_on: first",
            "C.chosen_on: should be 'first-split', got 'first'",
        ),
        (ONCE, "{grid: [1], chosen_on: first-split}", "chosen_on: needs several values of C, got"),
        ("choose: 2\n  train: [a, b, c]\n  test: [s, t]", "train: 0.5", "other splits test on; it"),
    ],
)
def test_a_choice_that_cannot_be_is_one_line(folder, old, new, expected):
    assert TEXT.count(old) == 1
    (folder / "bad.yaml").write_text(TEXT.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        spec.load(folder / "bad.yaml")
    (line,) = str(caught.value).splitlines()
    assert expected in line
