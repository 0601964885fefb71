"""Newton's method on outputs, against LIBLINEAR's primal solver on the same outputs."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from kmaps import LandmarkSVC, RandomFeatureSVC, threads
from kmaps.models import mapped_rows
from kmaps.models.output_design import OutputDesign
from tests.oracles import machines


def overlapping(n=4000, d=5):
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.5
    return rng.poisson(2 + 0.3 * y[:, None], (n, d)).astype(np.float32), y


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize(
    "model",
    [LandmarkSVC(n_landmarks=40, sigma=None), RandomFeatureSVC(n_frequencies=20, sigma=1.0)],
)
def test_objective_is_that_of_the_primal_solver(monkeypatch, model, stored):
    if stored:
        monkeypatch.setattr(mapped_rows, "MOST_VALUES", 1000)
    X, y = overlapping()
    weights = np.random.default_rng(1).random(len(X)) + 0.5
    model.set_params(C=100.0, loss="squared_hinge", tol=1e-6)
    model.fit(X, y, weights)
    assert model.duality_gap_[0] <= 1e-6
    assert model.n_iter_[0] < 10
    outputs = np.hstack([model.map_.transform(X), np.ones((len(X), 1))]).astype(np.float64)
    other = LinearSVC(C=100.0, dual=False, fit_intercept=False, tol=1e-10, max_iter=10_000)
    w = other.fit(outputs, y, weights).coef_[0]
    signs = np.where(y, 1, -1)
    expected = machines.primal(w @ w, signs * (outputs @ w), 100 * weights, "squared_hinge")
    own = np.append(model.map_coef_[0], model.intercept_[0]).astype(np.float64)
    objective = machines.primal(own @ own, signs * (outputs @ own), 100 * weights, "squared_hinge")
    assert objective == pytest.approx(expected, rel=3e-6)


def test_block_moments_are_the_diagonal_of_the_second_moments():
    rng = np.random.default_rng(2)
    outputs = rng.normal(size=(9, 4)).astype(np.float32)
    rows = mapped_rows.MappedRows(SimpleNamespace(n_outputs_=4), None, outputs)
    factors, places = rng.random(3), np.array([5, 0, 2])
    design = OutputDesign(rows, np.arange(1, 8))
    expected = outputs[places + 1].T * factors @ outputs[places + 1]
    moments = design.second_moments(factors, places)
    np.testing.assert_allclose(np.tril(moments[:4, :4]), np.tril(expected), rtol=1e-6)
    diagonal = np.ravel(design.block_moments(factors, places))
    np.testing.assert_allclose(diagonal[:4], np.diag(expected), rtol=1e-6)
    np.testing.assert_array_equal(np.concatenate(design.block_places())[:, 0], np.arange(4))


def test_the_hinge_is_certified_on_any_number_of_threads():
    X, y = overlapping()
    labels = y + (X[:, 0] > 3)
    models = []
    for n_threads in (1, 2):
        with threads(n_threads):
            model = LandmarkSVC(n_landmarks=40, sigma=None, C=1000.0, tol=1e-4)
            models.append(model.fit(X, labels))
    assert models[0].duality_gap_.max() <= 1e-4
    assert models[0].n_iter_.max() < 100
    assert (models[0].map_coef_ == models[1].map_coef_).all()
