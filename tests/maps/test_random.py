"""Signs of Cauchy projections against collision probabilities, known exactly or by the formula."""

import tracemalloc

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.sparse import csr_array, csr_matrix
from scipy.stats import cauchy, kstest

from kmaps import gram, threads
from kmaps.maps import SignCauchyMap, random


def sharing(a, b):
    """Histograms x and y that share a part of the same shape: a of x, b of y."""
    shared = np.array([0.5, 0.3, 0.2])
    x = np.r_[a * shared, (1 - a) * np.array([0.6, 0.4]), 0, 0]
    y = np.r_[b * shared, 0, 0, (1 - b) * np.array([0.9, 0.1])]
    return np.vstack([x, y])


def collision_probability(a, b):
    """The exact one of `sharing`: given the projection c of the shared shape, the signs of x and y
    are independent, and a sum of Cauchy numbers is one again, as wide as their weights."""

    def integrand(angle):
        c = np.tan(angle)
        p, q = (0.5 + np.arctan2(part * c, 1 - part) / np.pi for part in (a, b))
        return (p * q + (1 - p) * (1 - q)) / np.pi

    return quad(integrand, -np.pi / 2, np.pi / 2)[0]


def formula(X):
    return 1 - np.arccos(np.clip(gram(X, kernel="chi2"), 0, 1)) / np.pi


def test_exact_probability_by_hand():
    assert collision_probability(0, 0.3) == pytest.approx(1 / 2)
    assert collision_probability(1, 0.5) == pytest.approx(3 / 4)
    assert collision_probability(1, 1) == pytest.approx(1)


@pytest.mark.parametrize("a", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("b", [0.1, 0.4, 0.9])
def test_collisions_have_the_exact_probability(a, b):
    m = 100_000
    probability = collision_probability(a, b)
    x, y = SignCauchyMap(m, random_state=0).fit_transform(sharing(a, b))
    rate = (1 + x @ y) / 2
    assert abs(rate - probability) <= 4 * np.sqrt(probability * (1 - probability) / m)


def test_the_formula_is_an_approximation():
    """It is too low by up to 0.032, and right to 0.006 up to a half, as the class says."""
    parts = np.linspace(0.05, 1, 20)
    error = np.array(
        [[collision_probability(a, b) - formula(sharing(a, b))[0, 1] for a in parts] for b in parts]
    )
    assert 0.03 < error.max() < 0.0325
    assert np.abs(error[:10, :10]).max() < 0.00605


def test_projections_are_cauchy():
    feature_map = SignCauchyMap().fit(np.ones((1, 40)))
    directions = feature_map._directions(0, 500, 40, np.float64)
    assert directions.shape == (40, 500)
    assert kstest(directions.ravel(), cauchy.cdf).pvalue > 0.01
    signs = np.sign(directions)
    correlation = signs @ signs.T / 500 - np.eye(40)
    assert np.abs(correlation).max() < 5 / np.sqrt(500)


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(5)
    return rng.random((200, 37)) * (rng.random((200, 37)) < 0.4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("output", ["sign", "onehot"])
def test_blocks_threads_and_containers_change_nothing(X, dtype, output, monkeypatch):
    X = (255 * X[:70]).astype(dtype)
    feature_map = SignCauchyMap(203, output).fit(X)
    whole = feature_map.transform(X)
    codes = feature_map.to_codes(X)
    for block_values, n_threads in ((37, 1), (37 * 24, 3), (37 * 100, 2)):
        monkeypatch.setattr(random, "_BLOCK_VALUES", block_values)
        with threads(n_threads):
            np.testing.assert_array_equal(feature_map.transform(X), whole)
            np.testing.assert_array_equal(feature_map.transform(csr_matrix(X)), whole)
            np.testing.assert_array_equal(feature_map.transform(csr_array(X)), whole)
            np.testing.assert_array_equal(feature_map.transform(np.asfortranarray(X)), whole)
            np.testing.assert_array_equal(feature_map.to_codes(X), codes)
            np.testing.assert_array_equal(feature_map.to_codes(csr_matrix(X)), codes)


def test_fewer_projections_are_the_first_of_more(X):
    few = SignCauchyMap(10).fit_transform(X)
    many = SignCauchyMap(1000).fit_transform(X)
    np.testing.assert_array_equal(np.sign(few), np.sign(many[:, :10]))


def test_signs_are_those_of_the_product(X):
    fitted = SignCauchyMap(64).fit(X)
    Z = fitted.transform(X)
    np.testing.assert_array_equal(Z, np.sign(X @ fitted._directions(0, 64, 37, np.float64)) / 8)


@pytest.mark.parametrize("m", [16, 21])
def test_codes_and_onehot_are_the_signs(X, m):
    signs = SignCauchyMap(m).fit_transform(X) > 0
    codes = SignCauchyMap(m).fit(X).to_codes(X)
    assert codes.dtype == np.uint8
    assert codes.shape == (200, -(-m // 8))
    np.testing.assert_array_equal(np.unpackbits(codes, axis=1, count=m), signs)
    onehot = SignCauchyMap(m, "onehot").fit_transform(X)
    np.testing.assert_array_equal(onehot[:, ::2], signs / np.sqrt(m))
    np.testing.assert_array_equal(onehot[:, 1::2], ~signs / np.sqrt(m))


def test_rows_need_not_be_normalised(X):
    feature_map = SignCauchyMap(100).fit(X)
    scaled = X * np.ldexp(1.0, np.random.default_rng(6).integers(-900, 900, (200, 1)))
    np.testing.assert_array_equal(feature_map.transform(scaled), feature_map.transform(X))
    sums = X.sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(feature_map.transform(X / sums), feature_map.transform(X))


def test_a_row_of_zeros_counts_as_positive():
    for X in (np.zeros((2, 3)), csr_matrix((2, 3))):
        assert (SignCauchyMap(8).fit_transform(X) > 0).all()


@pytest.mark.parametrize(
    ("dtype", "given"), [(np.float32, np.float32), (np.uint8, np.float32), (np.int64, np.float64)]
)
def test_output_type_follows_the_input(dtype, given):
    Z = SignCauchyMap(4).fit_transform(np.eye(3, dtype=dtype))
    assert Z.dtype == given
    np.testing.assert_array_equal(np.abs(Z), 0.5)


def test_random_state_draws_the_projections(X):
    first, again, other = (SignCauchyMap(50, random_state=s).fit_transform(X) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).mean() > 0.3


def test_the_projection_matrix_is_never_whole():
    X = np.ones((2, 20_000), np.float32)
    feature_map = SignCauchyMap(1500).fit(X)
    feature_map.transform(X)
    tracemalloc.start()
    feature_map.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # measured 41 MB with two threads; the matrix is 240 MB in float64
