"""Cells: which there are, and that names, seeds and keys depend on what a cell is and no more."""

from dataclasses import replace
from pathlib import Path

import pytest

from kmaps.bench.kinds import grid
from kmaps.bench.kinds import load as spec
from kmaps.bench.kinds.study import study_cells
from kmaps.bench.records.file import read_records
from kmaps.bench.run import runner

RESULTS = Path(__file__).resolve().parents[2] / "results"

TEXT = """\
experiment: small
dataset: {name: digits, train: 200, test: 100}
splits: 2
kernels: [chi2, js]
reductions: [ovo, ovr]
baselines: [linear, exact]
maps:
  - {map: homogeneous, order: [1, 2]}
C: {grid: [0.1, 1], folds: 3}
"""


def study_plan(study) -> dict:
    return {cell.key: cell for cell in study_cells(study)}


def cells(text: str = TEXT) -> list[grid.Cell]:
    return grid.cells(spec.parse(text))


def test_every_combination_once_and_linear_once_for_each_reduction():
    found = cells()
    names = [cell.name for cell in found]
    assert len(set(names)) == len(names) == 2 * 2 * (1 + 2 + 2 * 2)
    assert names[:7] == [
        "split 0 ovo linear",
        "split 0 ovo chi2 exact",
        "split 0 ovo js exact",
        "split 0 ovo chi2 homogeneous order=1",
        "split 0 ovo js homogeneous order=1",
        "split 0 ovo chi2 homogeneous order=2",
        "split 0 ovo js homogeneous order=2",
    ]
    assert [name for name in names if "linear" in name] == [
        f"split {split} {reduction} linear" for split in (0, 1) for reduction in ("ovo", "ovr")
    ]


def test_a_map_may_name_its_own_kernels():
    text = TEXT.replace("order: [1, 2]", "order: 1, kernel: [js]")
    kernels = [cell.kernel for cell in cells(text) if cell.method == "homogeneous"]
    assert set(kernels) == {"js"}
    assert all("kernel" not in cell.params for cell in cells(text))


def test_keys_are_stable():
    # sha256 of the resolved cell; printed by this test's own code. When it changes, every record
    # ever written is measured again: only MAP_VERSION, a default of the map or the columns that
    # make up a cell may do that.
    linear, exact = cells()[:2]
    assert linear.key("0" * 64)[:16] == "b5af5e57f2ab5893"
    assert exact.key("0" * 64)[:16] == "b0c736544d9bb928"
    assert cells()[3].key("0" * 64)[:16] == "7667e96a78a4ab66"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("train: 200", "train: 201"),
        ("C: {grid: [0.1, 1], folds: 3}", "C: 1"),
        ("folds: 3", "folds: 4"),
        ("splits: 2", "splits: 2\nlearner: {loss: logistic}"),
        ("splits: 2", "splits: 2\nfeatures: {normalize: l1}"),
    ],
)
def test_a_key_changes_with_what_is_measured(old, new):
    before, after = cells()[0], cells(TEXT.replace(old, new))[0]
    assert before.key("d") != after.key("d")


def test_a_key_changes_with_the_data_and_the_map_version(monkeypatch):
    cell = cells()[3]
    assert cell.key("d") != cell.key("e")
    before = cell.key("d")
    monkeypatch.setattr(grid, "MAP_VERSION", grid.MAP_VERSION + 1)
    assert cell.key("d") != before


def test_a_key_does_not_change_with_the_rest():
    """The name of the experiment, other rows, and defaults written out are not part of a cell."""
    keys = [cell.key("d") for cell in cells()]
    renamed = TEXT.replace("small", "other").replace("baselines: [linear, exact]\n", "")
    assert {cell.key("d") for cell in cells(renamed)} < set(keys)
    cell = cells()[3]
    written_out = replace(cell, params={**cell.params, "gamma": 1.0})
    assert written_out.key("d") == cell.key("d")


def test_solvers_stand_side_by_side():
    row = "{map: homogeneous, order: [1, 2], solver: [liblinear, coded]}"
    text = TEXT.replace("{map: homogeneous, order: [1, 2]}", row)
    text = text.replace("exact]", "exact, exact-coded]").replace("chi2, js", "chi2, rbf")
    text = text.replace("1, 2], s", "1, 2], kernel: chi2, s")
    text += "learner: {n_levels: 64, tol: 0.1}\n"
    found = [cell for cell in cells(text) if cell.name.startswith("split 0 ovr")]
    assert [cell.label for cell in found] == [
        *("linear", "exact", "exact", "exact-coded"),
        *("homogeneous order=1", "homogeneous order=1 solver=coded"),
        *("homogeneous order=2", "homogeneous order=2 solver=coded"),
    ]
    assert len({cell.key("d") for cell in found}) == len(found)
    liblinear, coded = found[4:6]
    assert liblinear.seed == coded.seed  # the same map
    common = {"loss": "hinge", "bias": 1.0}
    assert liblinear.learner == {"solver": "liblinear", **common, "penalty": "l2", "tol": 0.1}
    own = {"gap": 1e-3, "n_levels": 64, "calibrate": False, "form": "auto"}
    assert coded.learner == found[3].learner == {"solver": "coded", **common, **own}


def test_settings_of_a_solver_do_not_touch_the_keys_of_the_other():
    row = "{map: homogeneous, order: [1, 2], solver: [liblinear, coded]}"
    both = TEXT.replace("{map: homogeneous, order: [1, 2]}", row)
    plain, changed = (
        {cell.label: cell.key("d") for cell in cells(text)}
        for text in (both, both + "learner: {n_levels: 64, gap: 1e-2}\n")
    )
    assert plain["homogeneous order=1"] in {cell.key("d") for cell in cells()}
    differs = {label for label in plain if plain[label] != changed[label]}
    assert differs == {"homogeneous order=1 solver=coded", "homogeneous order=2 solver=coded"}
    form = {cell.label for cell in cells(both.replace("coded]", "coded], form: full"))}
    assert "homogeneous order=1 solver=coded form=full" in form


@pytest.mark.parametrize("name", sorted(path.parent.name for path in RESULTS.glob("*/*.jsonl")))
def test_published_records_are_those_of_their_experiments(name):
    experiment = spec.load(name)
    plan = runner.plan if isinstance(experiment, spec.Experiment) else study_plan
    records = read_records(RESULTS / name)
    assert {record["key"] for record in records} == set(plan(experiment))
    assert all(record["status"] == "ok" for record in records)


def test_the_learner_of_the_maps_does_not_touch_exact():
    changed = TEXT.replace("splits: 2", "splits: 2\nlearner: {loss: logistic}")
    assert cells()[1].key("d") == cells(changed)[1].key("d")
    assert cells()[0].key("d") != cells(changed)[0].key("d")


def test_seeds_come_from_names():
    alone = TEXT.replace("baselines: [linear, exact]\n", "").replace("[1, 2]", "2")
    seeds = {cell.name: cell.seed for cell in cells()}
    assert len(set(seeds.values())) == len(seeds)
    assert all(seeds[cell.name] == cell.seed for cell in cells(alone))


def test_every_method_of_a_split_chooses_c_on_the_same_samples():
    by_split = [{cell.choice_seed for cell in cells() if cell.split == split} for split in (0, 1)]
    assert [len(seeds) for seeds in by_split] == [1, 1]
    assert by_split[0] != by_split[1]
