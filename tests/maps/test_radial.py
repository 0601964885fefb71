"""Radial maps: their spectra against the profiles written out, and what they refuse."""

import pickle

import numpy as np
import pytest

from kmaps.errors import ConfigError
from kmaps.gram_matrix import squared_distance
from kmaps.kernels import PROFILES
from kmaps.maps import GeneralizedRBFMap, RadialMap

WRITTEN_OUT = {
    "gaussian": lambda d: np.exp(-(d**2) / 2),
    "laplace": lambda d: np.exp(-d),
    "cauchy": lambda d: 1 / (1 + d**2),
    "inverse-multiquadric": lambda d: (1 + d**2) ** -0.5,
}
"""The profiles, of the distance over σ."""


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.gamma(0.7, size=(60, 16)) * (rng.random((60, 16)) < 0.8)
    return X / X.sum(axis=1, keepdims=True)


def test_every_profile_is_written_out():
    distances = np.linspace(0, 5, 40)
    assert WRITTEN_OUT.keys() == PROFILES.keys()
    for name, formula in WRITTEN_OUT.items():
        np.testing.assert_allclose(PROFILES[name](distances**2), formula(distances), rtol=1e-12)


@pytest.mark.parametrize("profile", WRITTEN_OUT)
def test_inner_products_are_the_kernel(profile, X):
    """Of the hellinger metric, which has no additive error; a wider kernel has other values."""
    m = 5000
    feature_map = RadialMap("hellinger", profile, n_frequencies=m).fit(X)
    Z = feature_map.transform(X)
    distances = np.sqrt(squared_distance(X, kernel="hellinger"))
    expected = WRITTEN_OUT[profile](distances / feature_map.sigma_)
    assert np.abs(Z @ Z.T - expected).max() < 5 / np.sqrt(2 * m)
    others = [name for name in WRITTEN_OUT if name != profile]
    for other in others:
        formula = WRITTEN_OUT[other](distances / feature_map.sigma_)
        assert np.abs(Z @ Z.T - formula).max() > 6 / np.sqrt(2 * m)


def test_error_of_other_metrics_is_small_where_the_inner_map_is_good(X):
    for kernel in ("chi2", "js"):
        feature_map = RadialMap(kernel, "cauchy", order=4, n_frequencies=5000, sigma=0.5).fit(X)
        Z = feature_map.transform(X)
        expected = 1 / (1 + squared_distance(X, kernel=kernel) / 0.25)
        assert np.abs(Z @ Z.T - expected).max() < 5 / np.sqrt(10_000)


def test_gaussian_profile_is_the_generalized_map(X):
    given = {"n_frequencies": 30, "random_state": 4}
    one = RadialMap(profile="gaussian", **given).fit_transform(X)
    np.testing.assert_array_equal(one, GeneralizedRBFMap(**given).fit_transform(X))


def test_some_of_the_frequencies_and_a_pickle_are_the_same_map(X):
    feature_map = RadialMap(n_frequencies=30).fit(X)
    Z = feature_map.transform(X).reshape(len(X), 30, 2)
    kept = feature_map.keep([3, 17]).transform(X)
    np.testing.assert_allclose(kept.reshape(len(X), 2, 2), Z[:, [3, 17]], atol=1e-12)
    again = pickle.loads(pickle.dumps(feature_map))
    np.testing.assert_array_equal(again.transform(X).reshape(Z.shape), Z)


def test_frequencies_near_others_are_not_to_be_had(X):
    with pytest.raises(ConfigError, match="structure='mixed': only frequencies of structure"):
        RadialMap(n_frequencies=5).fit(X).draw_near(2)
