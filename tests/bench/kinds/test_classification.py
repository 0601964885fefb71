"""Classifications: which cells there are, and what measuring one of them gives."""

from dataclasses import replace

import numpy as np
import pytest
from measured import TOLD, cells_of

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.kind import Cell
from kmaps.bench.records.columns import COLUMNS, warned
from kmaps.bench.run.measure import measure_cell
from kmaps.bench.work import classify
from kmaps.bench.work.samples import Split

KIND = KINDS["classification"]

MEASURED = """\
experiment: small
dataset: {name: digits, train: 150, test: 90}
kernels: [chi2]
reductions: [ovo]
baselines: [linear, exact, exact-coded]
maps:
  - {map: homogeneous, order: 1, solver: [liblinear, coded]}
learner: {gap: 1e-3}
C: {grid: [0.01, 0.1, 1, 10], folds: 3}
defaults: 1
"""
CODED = "homogeneous order=1 solver=coded"
METHODS = ("linear", "exact", "homogeneous order=1", "exact-coded", CODED)


def test_a_limit_of_passes_is_a_setting_only_where_it_is_said(cells, split):
    limited = {
        cell.row.label: cell
        for cell in cells_of(MEASURED.replace("{gap: 1e-3}", "{gap: 1e-3, max_iter: 2}"))
    }
    assert [name for name, cell in limited.items() if "max_iter" not in cell.settings] == ["exact"]
    for label in ("linear", CODED):
        columns = measure_cell(KIND, with_c(limited[label], 10), split).columns
        assert warned(columns) == ["stopped"]


@pytest.fixture(scope="module")
def cells() -> dict[str, Cell]:
    return {cell.row.label: cell for cell in cells_of(MEASURED)}


@pytest.fixture(scope="module")
def split(cells) -> Split:
    return KIND.set_up(cells["linear"])


@pytest.fixture(scope="module", params=METHODS)
def honest(request, cells, split) -> tuple[str, dict]:
    """A method, and the columns of its measurement on the split."""
    return request.param, measure_cell(KIND, cells[request.param], split).columns


def with_c(cell: Cell, *values: float) -> Cell:
    return replace(cell, C={"grid": list(values), "unit_norm": False})


def test_a_measurement_fills_the_columns_of_a_record(honest):
    method, columns = honest
    assert set(columns) == {*KIND.shown.fills, *TOLD} < set(COLUMNS)
    assert 0.75 < columns["accuracy"] <= 1
    assert (columns["n_train"], columns["n_test"], columns["n_features"]) == (150, 90, 64)
    dims = {"linear": 64, "exact": 150, "exact-coded": 64}
    assert columns["dim"] == {**dims, "homogeneous order=1": 192, CODED: 64}[method]
    assert columns["C"] in (0.01, 0.1, 1, 10)
    assert columns["train_peak_bytes"] <= columns["peak_bytes"]
    times = [name for name in COLUMNS if name.endswith("_s")]
    assert all(columns[name] >= 0 for name in times)
    assert min(columns["train_s"], columns["predict_s"], columns["cv_s"]) > 0
    if "coded" not in method:  # whose fits start from one another
        assert columns["cv_s"] > columns["train_s"]  # twelve fits on two thirds against one


def test_the_test_split_has_no_say_in_the_choice_of_c(cells, split, honest):
    method, columns = honest
    rng = np.random.default_rng(0)
    other = replace(
        split,
        y_test=rng.permutation(split.y_test),
        x_test=rng.random(split.x_test.shape, np.float32),
    )
    spoiled = measure_cell(KIND, cells[method], other).columns
    assert spoiled["accuracy"] < 0.5 < columns["accuracy"]
    assert (spoiled["C"], spoiled["cv_accuracy"]) == (columns["C"], columns["cv_accuracy"])


def test_the_scores_that_c_was_chosen_by_are_on_record(cells, split):
    given = measure_cell(KIND, with_c(cells["linear"], 0.5), split).columns
    assert (given["C"], given["cv_C"], given["cv_accuracy"], given["cv_se"]) == (0.5, [], [], [])
    columns = measure_cell(KIND, cells["linear"], split).columns
    assert columns["cv_C"] == [0.01, 0.1, 1, 10]
    means, errors = columns["cv_accuracy"], columns["cv_se"]
    assert columns["C"] == columns["cv_C"][means.index(max(means))]
    # 149 and not 150: the variance of a sample.
    assert errors == pytest.approx([(p * (1 - p) / 149) ** 0.5 for p in means])


def test_machine_and_choice_are_seeded_by_the_cell(cells, split, monkeypatch):
    seen = []
    choose_c = classify.choose_c

    def spy(machine, choosing, *samples):
        seen.append((machine.seed, choosing.seed))
        return choose_c(machine, choosing, *samples)

    monkeypatch.setattr(classify, "choose_c", spy)
    cell = cells["homogeneous order=1"]
    measure_cell(KIND, cell, split)
    assert seen == [(cell.seed, cell.choice_seed)]
    assert cell.seed != cell.choice_seed
