"""Outputs in blocks: the loops against NumPy, models against the quadratic programme."""

from unittest.mock import Mock

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kmaps import GeneralizedRBFMap, RandomFeatureSVC
from kmaps._loops.outputs import STRIP, descend_rows, upper_product
from kmaps.errors import InputError
from kmaps.models import block_descent, mapped_rows
from kmaps.models.block_descent import _creeps
from tests.oracles import machines

RNG = np.random.default_rng(0)
N, M = 160, 60
X = RNG.gamma(1.0, size=(N, 6)).astype(np.float32)
Y = np.digitize(X[:, 0] * X[:, 1] + RNG.normal(0, 0.1, N), [0.3, 1])


@pytest.fixture
def stored(monkeypatch):
    """Rows are too many for their outputs to be in memory, and come in chunks of 50."""
    monkeypatch.setattr(mapped_rows, "MOST_VALUES", N * M)
    monkeypatch.setattr("kmaps.models.mapped_rows._CHUNK_VALUES", 50 * 2 * M)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_times_an_upper_triangle_depends_on_that_row_alone(dtype):
    B = np.asfortranarray(np.triu(RNG.normal(size=(2 * STRIP, 2 * STRIP))), dtype)
    rows = RNG.normal(size=(9, len(B))).astype(dtype)
    found = upper_product(rows, B)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, rows @ B.astype(float), atol=300 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(upper_product(rows[4:7], B), found[4:7])


@pytest.mark.parametrize("squared", [False, True])
def test_the_loop_is_descent_on_one_variable_after_another(squared):
    outputs = RNG.normal(size=(8, 5)).astype(np.float32)
    places, signs = np.array([3, 0, -1, 1, 2, 5, 4, -1]), RNG.choice([-1.0, 1.0], 6)
    order = np.array([[4, 0, 3, 1, 5, 6], [1, 6, 3, 5, 0, 4]])
    upper = np.full(6, np.inf if squared else 0.3)
    ridge = np.full(6, 0.8 if squared else 0.0)
    bias, alpha, weights = 0.5, np.full(6, 0.1), np.zeros(6)
    rows = np.hstack([outputs, np.full((8, 1), bias)])
    for k in range(8):
        if places[k] >= 0:
            weights += alpha[places[k]] * signs[places[k]] * rows[k]
    norms = (rows**2).sum(axis=1)
    expected, variables, expected_loss = weights.copy(), alpha.copy(), 0.0
    stopped = set()
    for visit, numbers in enumerate(order):
        for k in (k for k in numbers if k not in stopped):
            i = places[k]
            short = 1 - signs[i] * (expected @ rows[k])
            if visit == 0:
                cost = short**2 / (2 * ridge[i]) if squared else upper[i] * short
                expected_loss += cost if short > 0 else 0
            slope = short - ridge[i] * variables[i]
            after = np.clip(variables[i] + slope / (norms[k] + ridge[i]), 0, upper[i])
            expected += (after - variables[i]) * signs[i] * rows[k]
            stopped |= {k} if variables[i] == after else set()
            variables[i] = after
    given = outputs, order, places, signs, norms, upper, ridge, bias, alpha, weights
    assert descend_rows(*given) == pytest.approx(expected_loss, rel=1e-9)
    np.testing.assert_allclose(alpha, variables, atol=1e-9)
    np.testing.assert_allclose(weights, expected, atol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_model_solves_the_quadratic_programme(stored, loss):
    y = np.where(Y > 0, 1, -1)
    model = RandomFeatureSVC("exp-js", M, C=0.5, loss=loss, tol=1e-3, sigma=None).fit(X, y)
    Z = GeneralizedRBFMap("js", n_frequencies=M).fit(X).transform(X).astype(float)
    _, dual = machines.solve_dual(Z @ Z.T + 1, y.astype(float), np.full(N, 0.5), loss)
    short = np.maximum(0, 1 - y * (Z @ model.map_coef_[0] + model.intercept_[0]))
    square = (model.map_coef_**2).sum() + model.intercept_[0] ** 2
    primal = square / 2 + 0.5 * (short if loss == "hinge" else short**2).sum()
    assert model.duality_gap_[0] <= 1e-3
    assert model.n_iter_[0] < model.max_iter
    assert -1e-5 < primal / dual - 1 < 1e-3


def test_descent_creeps_when_the_passes_that_are_left_take_longer_than_newtons_method():
    gaps = [1.0, 0.1, 0.01, 1e-3]  # a tenth each pass, so that one pass is left to 1e-4
    assert _creeps(gaps, 1e-4, 0.9)
    assert not _creeps(gaps, 1e-4, 1.1)
    assert not _creeps([1.0], 1e-4, 0.0)
    assert _creeps([1.0, 1.0, 1.0], 1e-4, 2.5)
    assert not _creeps([1.0, 1.0, 1.0], 1e-4, 3.5)


def test_the_gap_is_measured_only_where_its_estimate_is_small(stored, monkeypatch):
    monkeypatch.setattr(block_descent, "_creeps", lambda *_: False)
    measure = Mock(side_effect=block_descent._measure)
    monkeypatch.setattr(block_descent, "_measure", measure)
    model = RandomFeatureSVC("exp-js", M, C=0.1, sigma=None).fit(X, Y)
    assert (model.duality_gap_ <= model.tol).all()
    assert 1 <= measure.call_count < model.n_iter_.max() / 2


def test_outputs_in_a_file(stored, monkeypatch):
    random_map, some = GeneralizedRBFMap("js", n_frequencies=M), np.array([150, 3, 77, 4])
    file = mapped_rows.map_rows(random_map, X, lambda: np.split(X, [30, 70]))
    Z = random_map.transform(X)
    for rows, expected in (file, Z), (file.take(some), Z[some]):
        for random in None, np.random.default_rng(0):
            places, parts = map(np.concatenate, zip(*rows.chunks(random), strict=True))
            np.testing.assert_allclose(parts, expected[places], atol=1e-6)
            assert (sorted(places) if random else places.tolist()) == list(range(len(expected)))
    with pytest.raises(InputError, match="no samples"):
        mapped_rows.map_rows(random_map, X, list)
    full = Mock(write=Mock(side_effect=OSError(28, "No space left on device")))
    monkeypatch.setattr("kmaps.models.mapped_rows.TemporaryFile", lambda: full)
    with pytest.raises(InputError, match=r"^outputs in \S+: .*No space left on device: set TMPDIR"):
        mapped_rows.map_rows(random_map, X, lambda: [X])


def test_too_few_passes_are_warned_of(stored):
    message = "gap is still .* after max_iter=1 passes, above tol=1e-06, in 3 of 3 binary problems"
    with pytest.warns(ConvergenceWarning, match=message):
        RandomFeatureSVC("exp-js", M, C=100.0, tol=1e-6, max_iter=1).fit(X, Y)
