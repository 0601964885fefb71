"""The price of curvature, against a dense problem that states it and another solver."""

from functools import partial

import numpy as np
import pytest

from kmaps import CodedSVC, ExactMap, NystroemMap, SplineMap
from kmaps.kernels import get_kernel
from tests.oracles import machines

LEVELS = np.array([0.0, 0.1, 0.15, 0.4, 0.5, 0.8, 0.9, 1.3, 1.9, 2.0])


@pytest.fixture(scope="module")
def waves():
    """Codes of four features; the label depends on the first two, by a wave and by a line."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, len(LEVELS), (150, 4)).astype(np.uint8)
    X = LEVELS[codes]
    noise = rng.normal(0, 0.3, 150)
    return codes, np.where(np.sin(3 * X[:, 0]) + X[:, 1] / 2 + noise > 0.5, 1, -1)


def second_derivatives(places):
    n = len(places)
    matrix, lengths = np.zeros((n - 2, n)), np.zeros(n - 2)
    for k in range(1, n - 1):
        before, after = places[k] - places[k - 1], places[k + 1] - places[k]
        matrix[k - 1, k - 1] = 2 / (before * (before + after))
        matrix[k - 1, k] = -2 / (before * after)
        matrix[k - 1, k + 1] = 2 / (after * (before + after))
        lengths[k - 1] = (before + after) / 2
    return matrix, lengths


def roughness(model, feature):
    found = model.function(feature)
    matrix, lengths = second_derivatives(found.levels / (found.levels[-1] - found.levels[0]))
    return float(lengths @ (matrix @ found.values[:, 0]) ** 2)


@pytest.mark.parametrize(("form", "loss"), [("low-rank", "hinge"), ("full", "logistic")])
def test_other_losses_have_the_optimum_of_the_kernel_that_a_price_makes(waves, loss, form):
    """|w|² plus the price of curvature is the norm of another kernel, for general solvers."""
    codes, y = waves
    values, vectors = np.linalg.eigh(get_kernel("js")(LEVELS[:, None], LEVELS[None]))
    columns = vectors * np.sqrt(np.maximum(values, 0))
    matrix, lengths = second_derivatives(LEVELS / 2)
    bent = matrix @ columns
    price = np.eye(len(LEVELS)) + 1e-2 * bent.T @ (lengths[:, None] * bent)
    of_levels = columns @ np.linalg.solve(price, columns.T)
    kernel = 1 + sum(of_levels[np.ix_(codes[:, j], codes[:, j])] for j in range(codes.shape[1]))
    solve = (
        machines.solve_logistic if loss == "logistic" else partial(machines.solve_dual, loss=loss)
    )
    expected = solve(kernel, y.astype(float), np.full(len(y), 0.5))[1]
    options = {"levels": LEVELS, "smooth": 1e-2, "form": form, "tol": 1e-5, "max_iter": 20_000}
    model = CodedSVC("js", C=0.5, loss=loss, **options).fit(codes, y)
    assert expected * (1 - 2e-5) <= model.objective_[0] <= expected * (1 + 2e-5)
    plain = CodedSVC("js", C=0.5, loss=loss, **options | {"smooth": 0.0}).fit(codes, y)
    assert plain.objective_[0] < expected * 0.995


@pytest.mark.parametrize(
    "settings",
    [
        {"map": "intersection", "smooth": 1e-4},
        {"map": SplineMap(6, degree=2), "smooth": 0.1},  # a range of its own for each feature
        {"map": NystroemMap(dim=4), "smooth": 1.0},  # a curve of its own for each feature
        {
            "map": ExactMap("js", n_levels=32),
            "penalty": "l1",
            "loss": "squared_hinge",
            "smooth": 1e-4,
        },
        {"map": "chi2", "loss": "logistic", "multiclass": "ovo", "smooth": 1e-3},
    ],
    ids=str,
)
def test_every_map_and_loss(settings):
    rng = np.random.default_rng(0)
    X = rng.random((200, 3)) * [1, 4, 9] + 0.1
    y = (np.sin(X[:, 0] * 6) + rng.normal(0, 0.3, 200) > 0).astype(int) + (X[:, 1] > 3)
    model = CodedSVC(**settings).fit(X, y)
    rough = CodedSVC(**settings | {"smooth": 0}).fit(X, y)
    assert model.duality_gap_.max() <= 1e-4
    assert roughness(model, 0) < 0.5 * roughness(rough, 0)
    assert model.score(X, y) > 0.65
