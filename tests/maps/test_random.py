"""Signs of Cauchy projections against collision probabilities, known exactly or by the formula."""

import warnings

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.sparse import csr_array, csr_matrix
from scipy.stats import cauchy, kstest

from kmaps import gram, threads
from kmaps.errors import ColumnNote
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


@pytest.mark.parametrize("a", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("b", [0.1, 0.4, 0.9])
def test_collisions_have_the_exact_probability(a, b):
    m = 100_000
    probability = collision_probability(a, b)
    x, y = SignCauchyMap(m, random_state=0).fit_transform(sharing(a, b))
    rate = (1 + x @ y) / 2
    assert abs(rate - probability) <= 4 * np.sqrt(probability * (1 - probability) / m)


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


def test_a_row_of_zeros_counts_as_positive():
    for X in (np.zeros((2, 3)), csr_matrix((2, 3))):
        assert (SignCauchyMap(8).fit_transform(X) > 0).all()


@pytest.mark.parametrize("container", [np.asarray, csr_matrix], ids=["dense", "csr"])
def test_a_column_that_decides_all_signs_is_named(container):
    histograms = np.random.default_rng(0).gamma(1, 1, (60, 5))
    spoilt = np.insert(histograms, 2, 1e6, axis=1)
    feature_map = SignCauchyMap(200).fit(container(spoilt))
    for turned in (feature_map.transform, feature_map.to_codes):
        with pytest.warns(ColumnNote, match="because of column 2"):
            turned(container(spoilt))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SignCauchyMap(200).fit_transform(histograms)
        SignCauchyMap(200).fit_transform(np.ones((60, 5)))
        feature_map.transform(spoilt[:3])
