"""What is published of `kmaps recommend` against full grids."""

import json
import shlex
from pathlib import Path

import pytest

from kmaps.bench.kinds.load import load
from kmaps.bench.recommend.choices import points_by_key, unbeaten
from kmaps.bench.recommend.study import best_of, page
from kmaps.bench.recommend.written import options_of
from kmaps.bench.records.correct import read_correct
from kmaps.bench.records.file import read_records
from kmaps.bench.run.plan import plan

FOLDER = Path(__file__).resolve().parents[3] / "results" / "recommend"
DATASETS = ("caltech101", "daimler", "digits", "mnist")


def compared(name):
    return json.loads((FOLDER / name / "recommended.json").read_text())


def test_the_page_is_what_the_folders_give():
    assert (FOLDER / "README.md").read_text() == page(FOLDER)
    assert sorted(path.parent.name for path in FOLDER.glob("*/recommended.json")) == [*DATASETS]


def test_readme_tells_the_largest_difference():
    readme = (FOLDER.parents[1] / "README.md").read_text()
    largest = -min(compared(name)["difference"] for name in DATASETS)
    assert f"at most {largest:.1f} points below the best of a grid twice as large" in readme


@pytest.mark.parametrize("name", DATASETS)
def test_recommend_is_at_most_a_point_below_the_best_of_the_full_grid(name):
    found = compared(name)
    assert found["difference"] >= -1
    low, high = found["interval"]
    assert low < found["difference"] < high
    assert found["difference"] == pytest.approx(
        100 * (found["accuracy"] - found["best_accuracy"]), abs=1e-9
    )


@pytest.mark.parametrize("name", DATASETS)
def test_the_best_is_the_best_of_all_planned_machines(name):
    records = read_records(FOLDER / name)
    experiment = load(FOLDER / name / "experiment.yaml")
    assert {record["key"] for record in records} == plan(experiment).keys()
    best = best_of(records)
    assert compared(name)["best_accuracy"] == best["accuracy"]
    assert read_correct(FOLDER / name, records)[best["key"]].accuracy == best["accuracy"]
    assert {record["status"] for record in records} == {"ok"}


@pytest.mark.parametrize("name", DATASETS)
def test_what_is_recommended_is_the_first_of_what_was_tried(name):
    tried = read_records(FOLDER / name / "tried.jsonl")
    first = unbeaten(tried, points_by_key(tried))[0]
    assert compared(name)["options"] == shlex.join(options_of(first.record))
    assert compared(name)["held_out_accuracy"] == first.record["accuracy"]
