"""One machine on one split: C from the training split alone, honest sizes, the same problem."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from kmaps import gram
from kmaps.bench.run.clock import UNTIMED
from kmaps.bench.work import classify
from kmaps.bench.work.classify import Choosing, ModelSpec, choose_c, evaluate
from kmaps.bench.work.samples import Split, load_split
from kmaps.features import make_feature
from kmaps.maps import MAPS, HomogeneousMap, NystroemMap
from kmaps.maps.registry import make_map
from kmaps.models import stratified_order

GRID = [0.01, 0.1, 1.0, 10.0]
LIBLINEAR = {"loss": "hinge", "penalty": "l2", "bias": 1.0, "tol": None}
CODED = {"loss": "hinge", "bias": 1.0, "gap": 1e-3, "n_levels": 256, "calibrate": False}


def machine(method, kernel="chi2", params=None, solver="liblinear"):
    settings = {"liblinear": LIBLINEAR, "libsvm": {}, "coded": {**CODED, "form": "auto"}}[solver]
    return ModelSpec(method, kernel, params or {}, solver, "ovo", settings, False, seed=7)


MACHINES = {
    "linear": machine("linear", ""),
    "exact": machine("exact", solver="libsvm"),
    "homogeneous": machine("homogeneous", params={"order": 1}),
    "exact-coded": machine("exact-coded", solver="coded"),
    "homogeneous coded": machine("homogeneous", params={"order": 1}, solver="coded"),
    "homogeneous libsvm": machine("homogeneous", params={"order": 1}, solver="libsvm"),
    "signs libsvm": machine("sign-cauchy", params={"n_projections": 300}, solver="libsvm"),
    "spline": machine("spline", "intersection", {"penalty": 1}),
    "spline coded": machine("spline", "intersection", {"penalty": 1}, "coded"),
}
METHODS = tuple(MACHINES)[:6]


@pytest.fixture(scope="module")
def split() -> Split:
    protocol = {"train": 150, "test": 90}
    return load_split("digits", protocol, 0, make_feature("intensity", {}), "none")


def tried(method, C, split, **changes):
    """Return the columns of a machine, and its accuracy."""
    columns, predicted = evaluate(replace(MACHINES[method], **changes), C, split, UNTIMED)
    return {**columns, "accuracy": np.mean(predicted == split.y_test)}


def chosen(method, split, *grid, unit_norm=False, **options):
    made = replace(MACHINES[method], unit_norm=unit_norm)
    choosing = Choosing(list(grid or GRID), seed=3, unit_norm=unit_norm, **options)
    return choose_c(made, choosing, split.x_train, split.y_train)


def test_cross_validation_agrees_with_scikit_learn(split):
    """The same folds, LIBSVM through scikit-learn's own copy.

    On odd against even digits: tied votes of ten classes go to other ones there.
    """
    odd = split.y_train % 2
    accuracies = chosen("exact", replace(split, y_train=odd)).accuracies
    order = stratified_order(odd, 3)
    fold = np.empty(len(order), int)
    fold[order] = np.arange(len(order)) % 3
    matrix = gram(split.x_train, kernel="chi2").astype(float)
    for C, accuracy in zip(GRID, accuracies, strict=True):
        right = 0
        for held_out in range(3):
            train, test = fold != held_out, fold == held_out
            model = SVC(C=C, kernel="precomputed").fit(matrix[np.ix_(train, train)], odd[train])
            right += np.sum(model.predict(matrix[np.ix_(test, train)]) == odd[test])
        assert accuracy == right / 150


def test_the_choice_is_the_best_and_ties_go_to_the_smallest(split):
    found = chosen("linear", split)
    C, accuracies = found.C, found.accuracies
    best = int(np.argmax(accuracies))
    assert (C, best > 0) == (GRID[best], True)
    assert min(accuracies) < max(accuracies)
    auto = choose_c(MACHINES["linear"], Choosing("auto", 3), split.x_train, split.y_train)
    assert {0.1, 1.0, 10.0} < {*auto.grid}
    assert not auto.is_at_edge
    # Two far blobs: every C separates them.
    x = np.repeat(np.eye(2, dtype=np.float32), 30, axis=0)
    y = np.repeat([0, 1], 30)
    blobs = Split(x, y, x, y)
    for method in METHODS:
        found = chosen(method, blobs, 1.0, 2.0, 4.0)
        assert (found.C, found.accuracies, found.errors) == (1.0, (1.0,) * 3, (0.0,) * 3)


def test_storage_by_hand(split):
    """150 training rows of 64 features; order 1 has three outputs per feature; 45 pairs."""
    sizes = {method: tried(method, 1.0, split) for method in METHODS}
    train = {method: size["train_bytes"] for method, size in sizes.items()}
    codes = -(-150 * 64 * 5 // 8)  # 17 grey values, 5 bits
    raw = codes + 17 * 4  # and the values
    values = np.unique(HomogeneousMap(order=1).fit_transform(split.x_train))
    assert 32 < len(values) <= 1 + 3 * 16  # those of zero are all zero
    outputs = 150 * 192 * 6 // 8 + len(values) * 4
    assert train == {
        **{"linear": raw, "exact": raw, "homogeneous": outputs},
        **{"exact-coded": codes, "homogeneous coded": codes, "homogeneous libsvm": codes},
    }
    forms = {method: size["storage_form"] for method, size in sizes.items()}
    assert forms == dict.fromkeys(METHODS, "5-bit codes") | {"homogeneous": "6-bit codes"}
    assert sizes["homogeneous"]["paper_train_bytes"] == 150 * 192 * 2
    assert sizes["exact"]["gram_bytes"] == 150 * 150 * 4
    assert sizes["exact"]["copy_bytes"] == 150 * (16 * 152 + 8)
    assert sizes["homogeneous libsvm"]["gram_bytes"] == sizes["exact"]["gram_bytes"]
    assert sizes["homogeneous libsvm"]["copy_bytes"] == sizes["exact"]["copy_bytes"]
    assert codes // 2 < sizes["homogeneous libsvm"]["model_bytes"] < sizes["exact"]["model_bytes"]
    n_nonzero = np.count_nonzero(split.x_train)
    assert sizes["linear"]["copy_bytes"] == 16 * (n_nonzero + 2 * 150) + 8 * 150
    assert sizes["homogeneous"]["copy_bytes"] > 2 * sizes["linear"]["copy_bytes"]
    assert sizes["linear"]["model_bytes"] == 45 * (64 + 1) * 4
    assert sizes["homogeneous"]["model_bytes"] == 45 * (192 + 1) * 4
    assert sizes["exact"]["model_bytes"] > 50 * 64 * 4  # dozens of support vectors
    for size in sizes.values():
        parts = size["train_bytes"], size["table_bytes"], size["model_bytes"]
        assert size["storage_bytes"] == sum(parts)


def test_a_map_and_its_solver_are_seeded_by_the_machine(split, monkeypatch):
    class Random(NystroemMap):
        def fit(self, X, y=None):
            seen.append(self.random_state)
            return super().fit(X)

    class Seeded(classify.LiblinearSVC):
        def fit(self, X, y):
            seen.append(self.random_state)
            return super().fit(X, y)

    seen = []
    monkeypatch.setitem(MAPS, "nystroem", Random)
    monkeypatch.setattr(classify, "LiblinearSVC", Seeded)
    of_map = replace(MACHINES["homogeneous"], method="nystroem", seed=11)
    for params in ({"n_points": 20}, {"n_points": 20, "random_state": 3}):
        evaluate(replace(of_map, params=params), 1.0, split, UNTIMED)
    assert seen == [11, 11, 3, 11]
    seen.clear()
    coded = replace(MACHINES["homogeneous coded"], method="nystroem", params={"n_points": 20})
    choose_c(coded, Choosing(GRID, seed=3), split.x_train, split.y_train)
    assert seen == [7] * 3  # a fit per fold serves all values of C


@pytest.mark.parametrize("name", ["homogeneous", "signs"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_libsvm_on_a_map_is_libsvm_on_its_outputs(split, name, form):
    """By scikit-learn's copy of it; the grey values are levels, so nothing is rounded."""
    made = MACHINES[f"{name} libsvm"]
    feature_map = make_map(made.method, "chi2", made.params, random_state=made.seed)
    x_train, x_test = feature_map.fit_transform(split.x_train), feature_map.transform(split.x_test)
    given = replace(split, x_train=form(split.x_train), x_test=form(split.x_test))
    odd = replace(given, y_train=given.y_train % 2, y_test=given.y_test % 2)
    columns, found = evaluate(made, 3.0, odd, UNTIMED)
    expected = SVC(kernel="linear", C=3.0).fit(x_train, odd.y_train).predict(x_test)
    assert np.mean(found == expected) > 0.97
    assert np.mean(found == odd.y_test) > 0.8
    assert columns["dim"] == x_train.shape[1]
    # C is for rows of mean square norm one: the same machine at another C.
    scale = np.square(x_train).sum(axis=1).mean()
    in_units = evaluate(replace(made, unit_norm=True), 3 * scale, odd, UNTIMED)[1]
    assert np.mean(in_units == found) > 0.98
    choices = [
        choose_c(
            replace(made, unit_norm=unit),
            Choosing([f, 10 * f], 3, unit_norm=unit),
            odd.x_train,
            odd.y_train,
        ).accuracies
        for unit, f in ((False, 1.0), (True, scale))
    ]
    np.testing.assert_allclose(*choices, atol=0.014)


def test_mean_square_is_the_mean_of_the_kernels_diagonal(split):
    x = split.x_train
    for kernel in ("chi2", "intersection", "js", "hellinger", "exp-chi2", "rbf"):
        sigma = 1.0 if kernel in ("exp-chi2", "rbf") else None
        diagonal = np.diag(gram(x, kernel=kernel, sigma=sigma))
        assert classify._mean_square(x, kernel) == pytest.approx(diagonal.mean(), rel=1e-5)
    norms = (x.astype(float) ** 2).sum(axis=1)
    assert classify._mean_square(x) == pytest.approx(norms.mean(), rel=1e-5)
    assert classify._mean_square(sparse.csr_array(x)) == pytest.approx(norms.mean(), rel=1e-5)
