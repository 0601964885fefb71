"""CodedSVC against LIBLINEAR on the same features, a quadratic programme, and its contract."""

import numpy as np
import pytest

import kmaps
from tests.oracles import machines

LOSSES = ("hinge", "squared_hinge")


def nearest(X, levels):
    """Return the number of the level nearest to each value, by looking at all of them."""
    levels = np.broadcast_to(levels, (X.shape[1], levels.shape[1]))
    distances = np.abs(X[:, :, None].astype(float) - levels[None])
    # The last of the nearest, which may be two, or repeated.
    return (levels.shape[1] - 1 - distances[:, :, ::-1].argmin(axis=2)).astype(np.uint8)


def features(model, X):
    return kmaps.LookupTable(model.map_.tabulate(model.levels_)).take(nearest(X, model.levels_))


@pytest.mark.parametrize("kernel", ["chi2", "js", "intersection", "hellinger"])
@pytest.mark.parametrize("loss", LOSSES)
def test_kernels_are_exact(histograms, kernel, loss):
    X, y = histograms
    model = kmaps.CodedSVC(kernel, C=1.0, loss=loss).fit(X, y)
    assert model.levels_.shape == (1, 256)
    rounded = model.levels_[0][nearest(X, model.levels_)]
    kernel_matrix = kmaps.gram(rounded, kernel=kernel) + 1
    signs = np.where(y == 1, 1.0, -1.0)
    alpha, dual = machines.solve_dual(kernel_matrix, signs, np.ones(len(y)), loss)
    assert model.objective_[0] * (1 - model.duality_gap_[0]) == pytest.approx(dual, rel=1e-3)
    assert model.objective_[0] == pytest.approx(dual, rel=1e-3)
    scores = kernel_matrix @ (alpha * signs)
    assert np.abs(model.decision_function(X) - scores).max() < 0.015  # measured: 0.011
    # The levels are fine enough for new samples.
    new = (X[:50] + X[50:100]) / 2
    expected = kmaps.gram(new, rounded, kernel=kernel) @ (alpha * signs) + (alpha * signs).sum()
    assert np.abs(model.decision_function(new) - expected).max() < 0.03  # measured: 0.011


@pytest.mark.parametrize("n_blocks", [1, 3])
def test_same_model_on_any_number_of_threads(digits, n_blocks):
    models = []
    for n in (1, 2, 3):
        with kmaps.threads(n):
            models.append(kmaps.CodedSVC("chi2", 0.1, n_blocks=n_blocks).fit(*digits))
        assert (models[-1].n_blocks_ == n_blocks).all()
    for model in models[1:]:
        assert model.model_.weights.tobytes() == models[0].model_.weights.tobytes()
        np.testing.assert_array_equal(model.model_.intercept, models[0].model_.intercept)
