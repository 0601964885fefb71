"""Generalized RBF maps against brute-force metrics, and the parts that their error is made of."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

from kmaps import gram
from kmaps.errors import ConfigError, InputError
from kmaps.kernels import KERNELS, PROFILES
from kmaps.maps import AnchorMap, GeneralizedRBFMap, HomogeneousMap, RadialMap
from tests.oracles import gram as oracle


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.gamma(0.7, size=(80, 16)) * (rng.random((80, 16)) < 0.8)
    return X / X.sum(axis=1, keepdims=True)


def distances(kernel, X):
    return oracle.squared_distance(X, X, kernel)


def default_sigma(kernel, X):
    """The square root of the mean D² over pairs of different rows."""
    return np.sqrt(distances(kernel, X).sum() / (len(X) * (len(X) - 1)))


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_that_are_all_zero_are_refused(dtype, X):
    """Also where the products of equal rows differ by their rounding."""
    same = np.tile(X[:1], (7, 1)).astype(dtype)
    for feature_map in (GeneralizedRBFMap(), GeneralizedRBFMap(additive=HomogeneousMap())):
        for rows in (same, csr_matrix(same)):
            with pytest.raises(InputError, match="sigma cannot be estimated from equal rows"):
                feature_map.fit(rows)
    for kernel in [f"exp-{name}" for name in KERNELS] + ["rbf"]:
        with pytest.raises(InputError, match="sigma cannot be estimated from equal rows"):
            gram(same, kernel=kernel)


# Radial maps: their spectra against the profiles written out.
WRITTEN_OUT = {
    "gaussian": lambda d: np.exp(-(d**2) / 2),
    "laplace": lambda d: np.exp(-d),
    "cauchy": lambda d: 1 / (1 + d**2),
    "inverse-multiquadric": lambda d: (1 + d**2) ** -0.5,
}
"""The profiles, of the distance over σ."""


def test_every_profile_is_written_out():
    distances = np.linspace(0, 5, 40)
    assert WRITTEN_OUT.keys() == PROFILES.keys()
    for name, formula in WRITTEN_OUT.items():
        np.testing.assert_allclose(PROFILES[name](distances**2), formula(distances), rtol=1e-12)


@pytest.mark.parametrize("profile", WRITTEN_OUT)
def test_inner_products_are_the_radial_kernel(profile, X):
    """Of the hellinger metric, which has no additive error; a wider kernel has other values."""
    m = 5000
    feature_map = RadialMap("hellinger", profile, n_frequencies=m).fit(X)
    Z = feature_map.transform(X)
    apart = np.sqrt(distances("hellinger", X))
    expected = WRITTEN_OUT[profile](apart / feature_map.sigma_)
    assert np.abs(Z @ Z.T - expected).max() < 5 / np.sqrt(2 * m)
    others = [name for name in WRITTEN_OUT if name != profile]
    for other in others:
        formula = WRITTEN_OUT[other](apart / feature_map.sigma_)
        assert np.abs(Z @ Z.T - formula).max() > 6 / np.sqrt(2 * m)


def test_error_of_other_metrics_is_small_where_the_inner_map_is_good(X):
    for kernel in ("chi2", "js"):
        feature_map = RadialMap(kernel, "cauchy", order=4, n_frequencies=5000, sigma=0.5).fit(X)
        Z = feature_map.transform(X)
        expected = 1 / (1 + distances(kernel, X) / 0.25)
        assert np.abs(Z @ Z.T - expected).max() < 5 / np.sqrt(10_000)


def test_gaussian_profile_is_the_generalized_map(X):
    given = {"n_frequencies": 30, "random_state": 4}
    one = RadialMap(profile="gaussian", **given).fit_transform(X)
    np.testing.assert_array_equal(one, GeneralizedRBFMap(**given).fit_transform(X))


@pytest.mark.parametrize("map_class", [GeneralizedRBFMap, RadialMap])
def test_some_of_the_frequencies_and_a_pickle_are_the_same_map(map_class, X):
    feature_map = map_class(n_frequencies=30).fit(X)
    Z = feature_map.transform(X).reshape(len(X), 30, 2)
    kept = feature_map.keep([3, 17]).transform(X)
    np.testing.assert_allclose(kept.reshape(len(X), 2, 2), Z[:, [3, 17]], atol=1e-12)
    again = pickle.loads(pickle.dumps(feature_map))
    np.testing.assert_array_equal(again.transform(X).reshape(Z.shape), Z)


def test_frequencies_near_others_are_not_to_be_had(X):
    with pytest.raises(ConfigError, match="structure='mixed': frequencies near others"):
        RadialMap(n_frequencies=5).fit(X).draw_near(2)
