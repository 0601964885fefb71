"""Maps of all inputs together: of one kernel, by programs or harmonics, and products of maps."""

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.base import clone

from kmaps import HarmonicMap, MultiLowDimMap
from kmaps.maps import HomogeneousMap, ProductMap, SplineMap

POINTS = np.array([[0.0, 0.0], [1.0, 3.0]])
both = pytest.mark.parametrize(
    "feature_map",
    [
        HarmonicMap(dim=9, sigma=0.5, low=0.0, high=2.0),
        MultiLowDimMap(dim=9, sigma=0.5, low=0.0, high=2.0, method="modulation_no_lp"),
    ],
    ids=lambda feature_map: type(feature_map).__name__,
)


@both
def test_a_function_of_differences_is_a_kernel(feature_map):
    named = clone(feature_map).fit(POINTS)
    own = clone(feature_map).set_params(kernel=lambda lam: np.exp(-2 * (lam**2).sum(axis=1)))
    own.fit(POINTS)
    np.testing.assert_allclose(own.frequencies_, named.frequencies_, atol=1e-6)
    np.testing.assert_allclose(own.weights_, named.weights_, atol=1e-6)


@pytest.mark.parametrize("map_class", [HarmonicMap, MultiLowDimMap])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dim": 0}, "dim=0: expected a whole number of at least 1"),
        ({"sigma": 0}, "sigma=0: expected a positive number"),
        ({"kernel": "rbg"}, "unknown kernel 'rbg', did you mean 'rbf'.*, or a function"),
        ({"low": 2.0, "high": 1.0}, "low=2.0, high=1.0: expected numbers, low < high"),
        ({"kernel": lambda lam: np.exp(-lam[:, 0])}, "the signature is not even"),
        ({"kernel": lambda lam: np.exp(-(lam.sum(axis=1) ** 2))}, "the signature is not even"),
        ({"kernel": lambda lam: -np.exp(-(lam**2).sum(axis=1))}, "the signature is -1 at 0"),
    ],
)
def test_bad_parameters_are_named(map_class, parameters, message):
    with pytest.raises(ValueError, match=message):
        map_class(**parameters).fit(POINTS)
    with pytest.raises(ValueError, match="levels=1: expected"):
        MultiLowDimMap(levels=1).fit(POINTS)
    with pytest.raises(ValueError, match="did you mean 'modulation'"):
        MultiLowDimMap(method="modulate").fit(POINTS)


# Harmonics, against integrals and the paper's figure.
BOX = np.array([[0.0, 0.0], [np.pi, np.pi]])


def test_coefficients_are_the_integrals():
    feature_map = HarmonicMap(dim=11, sigma=0.3).fit(BOX[:, :1] / 2)
    for omega, weight in zip(feature_map.frequencies_[:, 0], feature_map.weights_, strict=True):
        integral, _ = quad(lambda t, w=omega: np.exp(-(t**2) / 0.18) * np.cos(w * t), 0, np.pi / 2)
        assert weight == pytest.approx((2 if omega else 1) * integral / (np.pi / 2), abs=1e-6)
    assert sorted(feature_map.frequencies_[:, 0]) == [0, 2, 4, 6, 8, 10]


def test_figure_4():
    # ldefm Sect. 7.1: 17 outputs are about as good as 11 of the linear programs, 6.7e-3.
    feature_map = HarmonicMap(dim=17, sigma=0.1**0.5).fit(BOX[:, :1])
    lam = np.linspace(0, np.pi, 2001)[:, None]
    approximate = feature_map.transform(lam) @ feature_map.transform([[0.0]]).T
    error = np.abs(approximate[:, 0] - np.exp(-(lam[:, 0] ** 2) / 0.2)).max()
    assert 0.006 < error < 0.007  # measured 0.00695


# Products of maps against the products of their kernels.
ROWS = np.random.default_rng(0).uniform(0.05, 1, (12, 3))


def test_inner_products_are_the_products_of_those_of_the_columns():
    maps = [HomogeneousMap("chi2", order=2), HomogeneousMap("js"), SplineMap(n_bins=3)]
    made = ProductMap(maps).fit(ROWS)
    Z = made.transform(ROWS)
    columns = [one.fit_transform(ROWS[:, [i]]) for i, one in enumerate(maps)]
    columns = [np.asarray(c.toarray() if hasattr(c, "toarray") else c) for c in columns]
    assert Z.shape == (12, made.n_outputs_) == (12, 5 * 3 * columns[2].shape[1])
    expected = np.prod([c @ c.T for c in columns], axis=0)
    np.testing.assert_allclose(Z @ Z.T, expected, rtol=1e-12)
    first = np.einsum("a,b,c->abc", *(c[0] for c in columns)).ravel()
    np.testing.assert_allclose(Z[0], first, rtol=1e-12)  # the last column runs fastest
