"""Measuring a cell: C from the training split alone, honest sizes, memory, times, threads."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cell_workers import instant
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score
from sklearn.svm import SVC
from threadpoolctl import threadpool_info

from kmaps import gram
from kmaps.bench.kinds import grid
from kmaps.bench.kinds import load as spec
from kmaps.bench.records.file import COLUMNS
from kmaps.bench.work import classify as measure
from kmaps.bench.work.storage import storage
from kmaps.maps import MAPS, HomogeneousMap
from kmaps.parallel import num_threads
from kmaps.svm import KernelSVC

TEXT = """\
experiment: small
dataset: {name: digits, train: 150, test: 90}
kernels: [chi2]
reductions: [ovo]
baselines: [linear, exact, exact-coded]
maps:
  - {map: homogeneous, order: 1, solver: [liblinear, coded]}
  - {map: spline, penalty: 1, solver: [liblinear, coded]}
learner: {gap: 1e-3}
C: {grid: [0.01, 0.1, 1, 10], folds: 3}
"""
CODED = "homogeneous order=1 solver=coded"
METHODS = ("linear", "exact", "homogeneous order=1", "exact-coded", CODED)


@pytest.fixture(scope="module")
def cells() -> dict[str, grid.Cell]:
    return {cell.label: cell for cell in grid.cells(spec.parse(TEXT))}


@pytest.fixture(scope="module")
def split(cells) -> measure.Split:
    return measure.load_split(cells["linear"])


def with_c(cell: grid.Cell, *values: float, **choice) -> grid.Cell:
    defaults = {"folds": 3, "samples": None, "unit_norm": False}
    return replace(cell, C={"grid": list(values), **defaults, **choice})


@pytest.mark.parametrize("method", METHODS)
def test_a_measurement_fills_the_columns_of_a_record(cells, method):
    measured = measure.measure_cell(cells[method], 1)
    assert set(measured) < set(COLUMNS)
    assert 0.75 < measured["accuracy"] <= 1
    assert (measured["n_train"], measured["n_test"], measured["n_features"]) == (150, 90, 64)
    dims = {"linear": 64, "exact": 150, "exact-coded": 64}
    assert measured["dim"] == {**dims, "homogeneous order=1": 192, CODED: 64}[method]
    assert measured["C"] in (0.01, 0.1, 1, 10)
    assert measured["train_peak_bytes"] <= measured["peak_bytes"]
    times = [name for name in COLUMNS if name.endswith("_s")]
    assert all(measured[name] >= 0 for name in times)
    assert min(measured["train_s"], measured["predict_s"], measured["cv_s"]) > 0
    if "coded" not in method:  # whose fits start from one another
        assert measured["cv_s"] > measured["train_s"]  # twelve fits on two thirds against one


@pytest.mark.parametrize("method", METHODS)
def test_the_test_split_has_no_say_in_the_choice_of_c(cells, split, monkeypatch, method):
    cell = cells[method]
    honest = measure.measure_cell(cell, 1)
    rng = np.random.default_rng(0)
    other = replace(
        split,
        y_test=rng.permutation(split.y_test),
        x_test=rng.random(split.x_test.shape, np.float32),
    )
    monkeypatch.setattr(measure, "load_split", lambda cell, skip_bad: other)
    spoiled = measure.measure_cell(cell, 1)
    assert spoiled["accuracy"] < 0.5 < honest["accuracy"]
    assert (spoiled["C"], spoiled["cv_accuracy"]) == (honest["C"], honest["cv_accuracy"])


def test_cross_validation_agrees_with_scikit_learn(cells, split):
    """The same folds, LIBSVM through scikit-learn's own copy."""
    cell = cells["exact"]
    _, accuracies = measure.choose_c(cell, split.x_train, split.y_train)
    order = measure.stratified_order(split.y_train, cell.choice_seed)
    fold = np.empty(len(order), int)
    fold[order] = np.arange(len(order)) % 3
    matrix = gram(split.x_train, kernel="chi2").astype(float)
    for C, accuracy in zip(cell.C["grid"], accuracies, strict=True):
        right = 0
        for held_out in range(3):
            train, test = fold != held_out, fold == held_out
            model = SVC(C=C, kernel="precomputed").fit(
                matrix[np.ix_(train, train)], split.y_train[train]
            )
            predicted = model.predict(matrix[np.ix_(test, train)])
            right += np.sum(predicted == split.y_train[test])
        assert accuracy == right / 150


def test_the_choice_is_the_best_and_ties_go_to_the_smallest(cells, split):
    C, accuracies = measure.choose_c(cells["linear"], split.x_train, split.y_train)
    best = int(np.argmax(accuracies))
    assert (C, best > 0) == (cells["linear"].C["grid"][best], True)
    assert min(accuracies) < max(accuracies)
    # Two far blobs: every C separates them.
    x = np.repeat(np.eye(2, dtype=np.float32), 30, axis=0)
    y = np.repeat([0, 1], 30)
    for method in METHODS:
        chosen, accuracies = measure.choose_c(with_c(cells[method], 1.0, 2.0, 4.0), x, y)
        assert (chosen, accuracies) == (1.0, [1.0, 1.0, 1.0])


def test_one_value_of_c_is_no_choice(cells, split):
    cell = with_c(cells["linear"], 0.5)
    assert measure.choose_c(cell, split.x_train, split.y_train) == (0.5, [])
    assert measure.measure_cell(cell, 1)["C"] == 0.5


def test_c_can_be_chosen_on_fewer_samples(cells, split, monkeypatch):
    seen = []

    def predictor(cell, x, y):
        seen.append((x, y))
        return lambda grid, train, test: [y[test]] * len(grid)

    monkeypatch.setattr(measure, "_predictor", predictor)
    for method in METHODS:
        cell = with_c(cells[method], 0.1, 1.0, samples=40)
        measure.choose_c(cell, split.x_train, split.y_train)
    assert all(len(x) == len(y) == 40 for x, y in seen)
    assert all(np.array_equal(x, seen[0][0]) for x, _ in seen)  # the same for every method
    share = np.bincount(seen[0][1], minlength=10) - 40 / 150 * np.bincount(split.y_train)
    assert np.abs(share).max() < 1  # stratified
    everything = with_c(cells["linear"], 0.1, 1.0, samples=4000)
    measure.choose_c(everything, split.x_train, split.y_train)
    assert len(seen[-1][0]) == 150


def test_stratified_order():
    y = np.array([2, 0, 1, 0, 2, 0] * 10)
    order = measure.stratified_order(y, 1)
    assert sorted(order) == list(range(60))
    assert (np.diff(y[order]) >= 0).all()
    assert not np.array_equal(order, measure.stratified_order(y, 2))
    assert not np.array_equal(order, np.argsort(y, kind="stable"))


def test_warm_up_comes_first_on_few_samples_of_every_class(cells, split, monkeypatch):
    seen = []
    evaluate = measure.evaluate

    def spy(cell, C, split, *trained):
        seen.append((len(split.y_train), np.unique(split.y_train).tolist(), len(split.y_test)))
        return evaluate(cell, C, split, *trained)

    rare = split.y_train.copy()
    rare[:] = 0
    rare[77] = 1
    monkeypatch.setattr(measure, "load_split", lambda cell, skip_bad: replace(split, y_train=rare))
    monkeypatch.setattr(measure, "evaluate", spy)
    measure.measure_cell(with_c(cells["homogeneous order=1"], 1.0), 1)
    assert seen == [(51, [0, 1], 50), (150, [0, 1], 90)]


def test_accuracies(cells, split):
    found = measure.evaluate(cells["exact"], 1.0, split)
    model = KernelSVC("chi2", C=1.0, multiclass="ovo").fit(split.x_train, split.y_train)
    predicted = model.predict(split.x_test)
    assert found["accuracy"] == np.mean(predicted == split.y_test)
    balanced = balanced_accuracy_score(split.y_test, predicted)
    assert found["accuracy_per_class"] == pytest.approx(balanced, abs=1e-12)
    assert found["accuracy_per_class"] != found["accuracy"]


def test_storage_by_hand(cells, split):
    """150 training rows of 64 features; order 1 has three outputs a feature; 45 pairs."""
    sizes = {method: measure.evaluate(cells[method], 1.0, split) for method in METHODS}
    train = {method: size["train_bytes"] for method, size in sizes.items()}
    raw = 150 * 64 * 4
    codes = -(-150 * 64 * 5 // 8)  # 17 grey values, 5 bits
    assert train == {
        **{"linear": raw, "exact": raw, "homogeneous order=1": 3 * raw},
        **{"exact-coded": codes, CODED: codes},
    }
    assert sizes["linear"]["model_bytes"] == 45 * (64 + 1) * 4
    assert sizes["homogeneous order=1"]["model_bytes"] == 45 * (192 + 1) * 4
    assert sizes["exact"]["model_bytes"] > 50 * 64 * 4  # dozens of support vectors
    for size in sizes.values():
        parts = size["train_bytes"], size["table_bytes"], size["model_bytes"]
        assert size["storage_bytes"] == sum(parts)


def test_storage_of_sparse_rows_and_of_codes():
    raw = np.eye(5, dtype=np.float32)
    counted = storage(raw, None, sparse.csr_matrix(raw), 11)
    assert counted["train_bytes"] == 5 * 4 + 5 * 4 + 6 * 4
    coded = SimpleNamespace(code_bits_=5, table_bytes_=7)
    counted = storage(raw, coded, np.zeros((5, 15), np.float32), 11)
    assert counted["train_bytes"] == 16  # 125 bits
    assert counted["storage_bytes"] == 16 + 7 + 11
    assert storage(raw, SimpleNamespace(code_bits_=None), raw, 0)["train_bytes"] == 100


def test_peak_memory_is_what_the_block_needs():
    size = 64 * 2**20
    held = np.ones(size, np.uint8)
    del held  # an earlier peak, which must not count
    kept = np.ones(size // 2, np.uint8)
    with measure.peak_memory() as peak:
        np.ones(size, np.uint8)
    assert peak.bytes == pytest.approx(size, rel=0.1)
    with measure.peak_memory() as peak:
        np.ones(size // 4, np.uint8)
        peak.note_training()
        np.ones(size, np.uint8)
    assert peak.training_bytes == pytest.approx(size // 4, rel=0.1)
    assert peak.bytes == pytest.approx(size, rel=0.1)
    with measure.peak_memory() as peak:
        kept.sum()
    assert peak.bytes < size / 8


def test_exact_needs_more_memory_than_linear(cells, split):
    protocol = {"train": 1200, "test": 90}
    linear, exact = (
        measure.measure_cell(replace(with_c(cells[method], 1.0), protocol=protocol), 1)[
            "peak_bytes"
        ]
        for method in ("linear", "exact")
    )
    # The Gram matrix, and LIBSVM's copy of it at 16 bytes a value.
    assert exact > 1200**2 * (4 + 16) > 4 * linear


@pytest.mark.parametrize("n", [1, 2])
def test_pinned_threads_are_the_same_everywhere(n):
    before = num_threads(), threadpool_info()
    with measure.pinned(n):
        assert num_threads() == n
        assert {library["num_threads"] for library in threadpool_info()} == {n}
    assert (num_threads(), threadpool_info()) == before


def test_a_map_and_its_solver_are_seeded_by_the_cell(cells, monkeypatch):
    class Random(HomogeneousMap):
        def __init__(self, kernel="chi2", order=1, random_state=None):
            super().__init__(kernel, order)
            self.random_state = random_state

    monkeypatch.setitem(MAPS, "homogeneous", Random)
    cell = cells["homogeneous order=1"]
    assert measure.make_map(cell).random_state == cell.seed
    fixed = replace(cell, params={"order": 1, "random_state": 3})
    assert measure.make_map(fixed).random_state == 3


def test_the_solver_warns_in_the_record(cells):
    hard = with_c(cells["linear"], 1e4)
    assert any("ConvergenceWarning" in text for text in measure.measure_cell(hard, 1)["warnings"])
    assert measure.measure_cell(cells["linear"], 1)["warnings"] == []


def test_the_stand_in_for_measuring_looks_like_the_real_one(cells):
    assert set(instant(cells["linear"], 1)) < set(measure.measure_cell(cells["linear"], 1))


@pytest.mark.parametrize("method", METHODS)
def test_unit_norm_makes_the_scale_of_the_data_irrelevant(cells, split, method):
    cell = with_c(cells[method], 1.0, 10.0, unit_norm=True)
    scaled = replace(split, x_train=7 * split.x_train, x_test=7 * split.x_test)
    for C in cell.C["grid"]:
        # Every kernel here is homogeneous: the rows are as if scaled by 7, or by its root.
        ours, theirs = (measure.evaluate(cell, C, s)["accuracy"] for s in (split, scaled))
        assert theirs == pytest.approx(ours, abs=0.012)  # one test sample of 90
    chosen = [measure.choose_c(cell, s.x_train, s.y_train) for s in (split, scaled)]
    np.testing.assert_allclose(chosen[0][1], chosen[1][1], atol=0.014)
    plain = replace(cell, C={**cell.C, "unit_norm": False})
    assert measure.evaluate(plain, 1e-4, scaled) != measure.evaluate(cell, 1e-4, scaled)


@pytest.mark.parametrize("method", ["homogeneous order=1", "spline penalty=1"])
@pytest.mark.parametrize("unit_norm", [False, True])
def test_both_solvers_solve_the_same_problem(cells, split, method, unit_norm):
    """At C and bias of the cell, scaled or not: a wrong scale moves the machine, and samples."""
    pair = [
        with_c(cells[f"{method}{suffix}"], 0.01, unit_norm=unit_norm)
        for suffix in ("", " solver=coded")
    ]
    pair = [
        replace(c, learner={**c.learner, "tol": 1e-4} if i == 0 else c.learner)
        for i, c in enumerate(pair)
    ]
    found = []
    for cell in pair:
        C = 0.05 if unit_norm else 0.002  # far from separable, so that C counts
        found.append(measure.evaluate(cell, C, split)["accuracy"])
    assert found[0] == pytest.approx(found[1], abs=0.012)
    far = measure.evaluate(pair[1], 1000 * C, split)["accuracy"]
    assert abs(far - found[1]) > 0.02


def test_mean_square_is_the_mean_of_the_kernels_diagonal(split):
    x = split.x_train
    for kernel in ("chi2", "intersection", "js", "hellinger", "exp-chi2", "rbf"):
        sigma = 1.0 if kernel in ("exp-chi2", "rbf") else None
        diagonal = np.diag(gram(x, kernel=kernel, sigma=sigma))
        assert measure._mean_square(x, kernel) == pytest.approx(diagonal.mean(), rel=1e-5)
    norms = (x.astype(float) ** 2).sum(axis=1)
    assert measure._mean_square(x) == pytest.approx(norms.mean(), rel=1e-5)
    assert measure._mean_square(sparse.csr_array(x)) == pytest.approx(norms.mean(), rel=1e-5)
