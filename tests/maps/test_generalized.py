"""Generalized RBF maps against brute-force metrics, and the parts that their error is made of."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

from kmaps import gram
from kmaps.errors import InputError
from kmaps.maps import AnchorMap, GeneralizedRBFMap, HomogeneousMap


def _relative_entropy(x, y):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > 0, x * np.log2(2 * x / (x + y)), 0)


def _chi2(x, y):
    with np.errstate(invalid="ignore"):
        return np.where(x + y > 0, (x - y) ** 2 / (x + y), 0)


METRICS = {
    "chi2": _chi2,
    "intersection": lambda x, y: np.abs(x - y),
    "js": lambda x, y: _relative_entropy(x, y) + _relative_entropy(y, x),
    "hellinger": lambda x, y: (np.sqrt(x) - np.sqrt(y)) ** 2,
}
"""The squared metrics of a feature, D² = Σ of these, written out."""


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.gamma(0.7, size=(80, 16)) * (rng.random((80, 16)) < 0.8)
    return X / X.sum(axis=1, keepdims=True)


def distances(kernel, X):
    return METRICS[kernel](X[:, None], X).sum(-1)


def default_sigma(kernel, X):
    """The square root of the mean D² over pairs of different rows."""
    return np.sqrt(distances(kernel, X).sum() / (len(X) * (len(X) - 1)))


@pytest.mark.parametrize("sigma", [None, 0.3])
@pytest.mark.parametrize("kernel", METRICS)
def test_exact_reference_is_the_formula(kernel, sigma, X):
    width = sigma or default_sigma(kernel, X)
    expected = np.exp(-distances(kernel, X) / (2 * width**2))
    found = gram(X, kernel=f"exp-{kernel}", sigma=sigma)
    np.testing.assert_allclose(found, expected, atol=6e-6)  # measured 2e-6
    found = gram(X[:7], X, kernel=f"exp-{kernel}", sigma=width)
    np.testing.assert_allclose(found, expected[:7], atol=6e-6)


@pytest.mark.parametrize("sigma", [None, 0.3])
def test_exact_rbf_is_the_formula(sigma, X):
    squared = ((X[:, None] - X) ** 2).sum(-1)
    width = sigma or np.sqrt(squared.sum() / (80 * 79))
    expected = np.exp(-squared / (2 * width**2))
    np.testing.assert_allclose(gram(X, kernel="rbf", sigma=sigma), expected, atol=1e-6)


@pytest.mark.parametrize("structure", ["dense", "orthogonal", "fastfood"])
@pytest.mark.parametrize("kernel", ["chi2", "js", "hellinger"])
def test_inner_products_are_the_kernel(kernel, structure, X):
    """Up to the random part, whose deviation is 1/√2m at most, and little of the additive one."""
    m = 8000
    feature_map = GeneralizedRBFMap(kernel, 4, m, structure=structure).fit(X)
    assert feature_map.sigma_ == pytest.approx(default_sigma(kernel, X), rel=1e-5)
    Z = feature_map.transform(X)
    expected = np.exp(-distances(kernel, X) / (2 * feature_map.sigma_**2))
    assert np.abs(Z @ Z.T - expected).max() < 5 / np.sqrt(2 * m)
    assert np.abs(Z @ Z.T - expected).mean() < 0.7 / np.sqrt(2 * m)  # measured 0.5 at most


def inside(kernel, order, X):
    """The kernel that infinitely many frequencies would give: the additive part alone."""
    Psi = HomogeneousMap(kernel, order).fit_transform(X)
    squared = ((Psi[:, None] - Psi) ** 2).sum(-1)
    return np.exp(-squared / (2 * default_sigma(kernel, X) ** 2))


@pytest.mark.parametrize("kernel", ["chi2", "js", "intersection"])
def test_additive_part_of_the_error_falls_with_the_order(kernel, X):
    exact = gram(X, kernel=f"exp-{kernel}")
    errors = [np.abs(inside(kernel, order, X) - exact).mean() for order in (1, 3, 5)]
    assert errors[0] > 1.5 * errors[1] > 2 * errors[2]


def test_error_is_the_additive_part_and_the_random_one(X):
    """The random one has no mean: many draws leave what infinitely many frequencies would give."""
    products = []
    for seed in range(30):
        feature_map = GeneralizedRBFMap("intersection", 1, 1000, random_state=seed).fit(X)
        Z = feature_map.transform(X)
        products.append(Z @ Z.T)
    found, limit = np.mean(products, axis=0), inside("intersection", 1, X)
    assert np.abs(found - limit).mean() < 0.7 / np.sqrt(2 * 30_000)
    assert np.abs(gram(X, kernel="exp-intersection") - limit).mean() > 10 / np.sqrt(2 * 30_000)


def test_names_with_exp_are_the_same(X):
    plain, named = (GeneralizedRBFMap(k, n_frequencies=9).fit(X) for k in ("js", "exp-js"))
    np.testing.assert_array_equal(plain.transform(X), named.transform(X))


def test_hellinger_needs_no_harmonics(X):
    feature_map = GeneralizedRBFMap("hellinger", order=3, n_frequencies=9).fit(X)
    assert feature_map.additive_.n_outputs_ == 1


def test_any_additive_map_fits_inside(X):
    anchors = AnchorMap("chi2", n_anchors=64, energy=1 - 1e-9)
    feature_map = GeneralizedRBFMap(n_frequencies=8000, additive=anchors).fit(X)
    Psi = clone(anchors).fit_transform(X)
    squared = ((Psi[:, None] - Psi) ** 2).sum(-1)
    assert feature_map.sigma_**2 == pytest.approx(squared.sum() / (80 * 79), rel=1e-5)
    Z = feature_map.transform(X)
    expected = np.exp(-squared / (2 * feature_map.sigma_**2))
    assert np.abs(Z @ Z.T - expected).max() < 5 / np.sqrt(16_000)
    assert feature_map.table_bytes_ == feature_map.additive_.table_bytes_ > 0
    assert not hasattr(anchors, "n_outputs_")  # the parameter is left alone


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_sparse_and_dense_give_the_same(dtype, X):
    X = (255 * X).astype(dtype)
    feature_map = GeneralizedRBFMap(n_frequencies=50).fit(csr_matrix(X))
    dense = feature_map.transform(X)
    assert dense.dtype == (np.float64 if dtype == np.float64 else np.float32)
    np.testing.assert_allclose(feature_map.transform(csr_matrix(X)), dense, atol=2e-6)


def test_kept_frequencies_give_the_kept_columns(X):
    feature_map = GeneralizedRBFMap(n_frequencies=100).fit(X)
    kept = pickle.loads(pickle.dumps(feature_map.keep([4, 60])))
    np.testing.assert_allclose(
        kept.transform(X), feature_map.transform(X)[:, [8, 9, 120, 121]], atol=1e-12
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_that_are_all_zero_are_refused(dtype, X):
    """Also where the products of equal rows differ by their rounding."""
    same = np.tile(X[:1], (7, 1)).astype(dtype)
    for feature_map in (GeneralizedRBFMap(), GeneralizedRBFMap(additive=HomogeneousMap())):
        for rows in (same, csr_matrix(same)):
            with pytest.raises(InputError, match="sigma cannot be estimated from rows that are al"):
                feature_map.fit(rows)
    for kernel in [f"exp-{name}" for name in METRICS] + ["rbf"]:
        with pytest.raises(InputError, match="sigma cannot be estimated from rows that are all"):
            gram(same, kernel=kernel)
