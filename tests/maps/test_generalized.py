"""Generalized RBF maps against brute-force metrics, and the parts that their error is made of."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

from kmaps import gram
from kmaps.errors import InputError
from kmaps.kernels import KERNELS
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


@pytest.mark.parametrize(
    ("kernel", "structure"),
    [("chi2", "dense"), ("js", "orthogonal"), ("hellinger", "fastfood"), ("chi2", "fastfood")],
)
def test_inner_products_are_the_kernel(kernel, structure, X):
    """Up to the random part, whose deviation is 1/√2m at most, and little of the additive one."""
    m = 8000
    feature_map = GeneralizedRBFMap(kernel, 4, m, structure=structure).fit(X)
    assert feature_map.sigma_ == pytest.approx(default_sigma(kernel, X), rel=1e-5)
    Z = feature_map.transform(X)
    expected = np.exp(-distances(kernel, X) / (2 * feature_map.sigma_**2))
    assert np.abs(Z @ Z.T - expected).max() < 5 / np.sqrt(2 * m)
    assert np.abs(Z @ Z.T - expected).mean() < 0.7 / np.sqrt(2 * m)  # measured 0.5 at most


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_that_are_all_zero_are_refused(dtype, X):
    """Also where the products of equal rows differ by their rounding."""
    same = np.tile(X[:1], (7, 1)).astype(dtype)
    for feature_map in (GeneralizedRBFMap(), GeneralizedRBFMap(additive=HomogeneousMap())):
        for rows in (same, csr_matrix(same)):
            with pytest.raises(InputError, match="sigma cannot be estimated"):
                feature_map.fit(rows)
    for kernel in [f"exp-{name}" for name in KERNELS] + ["rbf"]:
        with pytest.raises(InputError, match="sigma cannot be estimated"):
            gram(same, kernel=kernel)


# Radial maps: their spectra against the profiles written out.
WRITTEN_OUT = {
    "gaussian": lambda d: np.exp(-(d**2) / 2),
    "laplace": lambda d: np.exp(-d),
    "cauchy": lambda d: 1 / (1 + d**2),
    "inverse-multiquadric": lambda d: (1 + d**2) ** -0.5,
}
"""The profiles, of the distance over σ."""


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
