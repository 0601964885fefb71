"""Maps of all inputs together: of one kernel, by programs or harmonics, and products of maps."""

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import quad
from sklearn.base import clone

from kmaps import HarmonicMap, MultiLowDimMap
from kmaps.errors import ConfigError, InputError
from kmaps.kernels import KERNELS
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
def test_values_outside_the_range_are_clamped(feature_map):
    feature_map = clone(feature_map).fit(POINTS)
    inside = feature_map.transform([[0.0, 0.5], [1.0, 2.0]])
    with pytest.warns(UserWarning, match=r"2 .*outside") as caught:
        outside = feature_map.transform([[-7.0, 0.5], [1.0, 2.5]])
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(outside, inside)


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
    with pytest.raises(ValueError, match="levels=1: expected a whole number of at least 2"):
        MultiLowDimMap(levels=1).fit(POINTS)
    with pytest.raises(ValueError, match="did you mean 'modulation'"):
        MultiLowDimMap(method="modulate").fit(POINTS)


@pytest.mark.parametrize(
    ("map_class", "columns", "message"),
    [
        (HarmonicMap, 4, "HarmonicMap takes 1, 2 or 3, .* use RandomFourierMap"),
        (MultiLowDimMap, 1, "MultiLowDimMap takes 2 or 3, .* use LowDimMap"),
        (MultiLowDimMap, 4, "MultiLowDimMap takes 2 or 3, .* use RandomFourierMap"),
    ],
)
def test_other_numbers_of_inputs_are_refused(map_class, columns, message):
    with pytest.raises(ValueError, match=f"X has {columns} columns: {message}"):
        map_class().fit(np.eye(4)[:, :columns])


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


def test_two_inputs_are_products_within_the_outputs():
    feature_map = HarmonicMap(dim=31, sigma=0.1**0.5).fit(BOX)
    one = HarmonicMap(dim=31, sigma=0.1**0.5).fit(BOX[:, :1])
    weight = dict(zip(one.frequencies_[:, 0].round(6), one.weights_, strict=True))
    for (u, v), alpha in zip(feature_map.frequencies_.round(6), feature_map.weights_, strict=True):
        assert alpha == pytest.approx(weight[u] * weight[v], rel=1e-3)
    assert feature_map.transform(BOX).shape == (2, feature_map.n_outputs_)
    assert feature_map.n_outputs_ <= 31


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


def test_the_product_kernel_is_approximated():
    Z = ProductMap(HomogeneousMap("chi2", order=3)).fit_transform(ROWS)
    exact = KERNELS["chi2"](ROWS[:, None], ROWS).prod(axis=-1)
    assert np.abs(Z @ Z.T - exact).max() < 9e-4  # measured 3e-4
    single = ProductMap(HomogeneousMap("chi2", order=1)).fit_transform(ROWS)
    assert np.abs(single @ single.T - exact).max() > 5e-3


def test_the_outputs_are_counted_before_they_are_built():
    message = (
        r"^a product of 11 × 11 × 11 outputs has 1,331, more than max_outputs=1000; use smaller "
        "maps or fewer columns$"
    )
    with pytest.raises(ConfigError, match=message):
        ProductMap(HomogeneousMap(order=5), max_outputs=1000).fit(ROWS)
    with pytest.raises(ConfigError, match=r"^a product of 3 × 3 × 3 × 3 × … outputs has 3,486,7"):
        ProductMap(HomogeneousMap()).fit(np.ones((2, 20)))
    assert ProductMap(HomogeneousMap(), max_outputs=27).fit(ROWS).n_outputs_ == 27


def test_other_columns_than_maps_are_refused():
    with pytest.raises(InputError, match=r"^X has 3 columns for 2 maps: give one map per"):
        ProductMap([HomogeneousMap(), HomogeneousMap()]).fit(ROWS)
    with pytest.raises(InputError, match=r"pass a dense array \(X\.toarray\(\)\)"):
        ProductMap(HomogeneousMap()).fit(sparse.csr_array(ROWS))
    with pytest.raises(ConfigError, match="max_outputs=0: expected a whole number of at least 1"):
        ProductMap(HomogeneousMap(), max_outputs=0).fit(ROWS)
