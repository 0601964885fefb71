"""The search of parameters inside the training split, next to scikit-learn and a plain one."""

from dataclasses import replace

import numpy as np
import pytest
from measured import cells_of
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances
from sklearn.svm import SVC
from spec_text import mistakes

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.kind import Cell
from kmaps.bench.run.measure import measure_cell
from kmaps.bench.work import third_party
from kmaps.bench.work.classify import Choosing, ModelSpec
from kmaps.bench.work.search import search
from kmaps.models import splits, stratified_sample

X, Y = load_digits(return_X_y=True)
X, Y = X[:240].astype(np.float32) / 16, Y[:240]
CHOOSING = Choosing("auto", seed=3, samples=200)
ROWS = """\
experiment: searched
dataset: {name: digits, train: 150, test: 90}
reductions: [ovr]
maps:
  - estimator: sklearn.kernel_approximation.Nystroem
    params: {n_components: 50}
    search: {gamma: auto}
classifiers:
  - {estimator: kmaps.KernelSVC, params: {kernel: exp-chi2}, search: {sigma: auto}}
  - {estimator: sklearn.svm.SVC, search: {gamma: [0.01, 0.1]}}
  - {estimator: sklearn.svm.SVC}
C: auto
"""


def spec(method, params=None, solver="own"):
    return ModelSpec(method, "", params or {}, solver, "ovr", {}, False, 0)


def test_a_width_and_c_are_chosen_on_the_same_folds_as_scikit_learn_would():
    row = spec("sklearn.svm.SVC")
    C, chosen, values, accuracies = search(row, {"gamma": "auto"}, CHOOSING, X, Y)
    rows = stratified_sample(Y, 200, 3)
    x, y = X[rows], Y[rows]
    means = []
    for gamma in values["gamma"]:
        right = dict.fromkeys(C.grid, 0)
        for train, test in splits(y, 3):
            for cost in right:
                model = SVC(gamma=gamma, C=cost).fit(x[train], y[train])
                right[cost] += (model.predict(x[test]) == y[test]).sum()
        means.append(max(right.values()) / len(y))
    # A width has a grid of C of its own, which may be longer than that of the chosen one.
    assert np.all(np.array(accuracies) >= np.array(means) - 1e-12)
    place = values["gamma"].index(chosen["gamma"])
    assert max(C.accuracies) == means[place] == accuracies[place]
    widest = 1 / pairwise_distances(X, metric="sqeuclidean").mean() / 2
    assert values["gamma"][0] == pytest.approx(widest, rel=0.01)


class Peak(BaseEstimator):
    """A classifier that is right the more often, the nearer its parameter is to 20."""

    def __init__(self, depth=1, word="a", flat=1):
        self.depth, self.word, self.flat = depth, word, flat

    def fit(self, X, y):
        self.classes_, self.labels_ = np.unique(y), dict(zip(X[:, 0].tolist(), y, strict=True))
        return self

    def predict(self, X):
        wrong = 8 * abs(np.log2(self.depth / 20)) + 20 * (self.word == "a")
        return np.where(np.arange(len(X)) < wrong, -1, X[:, 1].astype(int))


class Stopping(Peak):
    """One that stops early, as LightGBM's do."""

    def __init__(self, early_stopping_round=None):
        self.early_stopping_round = early_stopping_round

    def fit(self, X, y, eval_set=()):
        self.rows_, self.eval_set_ = y, eval_set
        return self


def test_early_stopping_has_a_tenth_of_each_class():
    y = np.repeat([0, 1], [30, 70])
    third_party.fit(none := Stopping(), np.zeros((100, 1)), y, {})
    third_party.fit(some := Stopping(5), np.zeros((100, 1)), y, {"early_stopping_round": 5})
    assert (len(none.rows_), none.eval_set_) == (100, ())
    [(_, held)] = some.eval_set_
    assert np.bincount(held).tolist() == [3, 7]
    assert np.bincount(some.rows_).tolist() == [27, 63]


@pytest.fixture(scope="module")
def cells() -> dict[str, Cell]:
    return {cell.row.label: cell for cell in cells_of(ROWS)}


@pytest.mark.parametrize("label", [0, 1, 2])
def test_what_is_chosen_is_on_record_and_timed_again(cells, label):
    kind, cell = KINDS["classification"], list(cells.values())[label]
    split = kind.set_up(cell)
    columns = measure_cell(kind, cell, split).columns
    [name] = cell.row.learner["search"]
    assert columns["search_chosen"][name] in columns["search_values"][name]
    assert len(columns["search_values"][name]) == len(columns["search_accuracy"]) > 1
    assert columns["accuracy"] > 0.85
    again = measure_cell(kind, kind.with_C(cell, columns["C"], columns["search_chosen"]), split)
    assert again.columns["accuracy"] == columns["accuracy"]
    assert "search_values" not in again.columns
    if cell.row.method == "kmaps.KernelSVC":
        assert "pickled" not in columns["storage_form"]
        row = replace(cell.row, params={**cell.row.params, **columns["search_chosen"]}, learner={})
        alone = replace(cell, row=row, C={"grid": [columns["C"]], "unit_norm": False})
        assert measure_cell(kind, alone, split).columns["accuracy"] == columns["accuracy"]


def test_mistakes_in_a_search_are_named():
    def of(entry):
        return mistakes(ROWS.replace("search: {gamma: [0.01, 0.1]}", entry))

    assert "gamma: expected a list of values, got 3" in str(of("search: {gamma: 3}"))
    assert "gamma: expected a list of values, got []" in str(of("search: {gamma: []}"))
    both = of("params: {gamma: 1}, search: {gamma: auto}")
    assert "gamma is in params and in search" in str(both)
    for entry in ("search: {degree: auto}", "search: {gamma: auto, degree: [2, 3]}"):
        assert "auto needs the width, gamma or sigma, and it alone" in str(of(entry))
    [told] = third_party.problems("sklearn.svm.SVC", {}, "own", ["gama"])
    assert told == "estimator sklearn.svm.SVC: unknown parameter 'gama', did you mean 'gamma'?"
