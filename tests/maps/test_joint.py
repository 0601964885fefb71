"""What maps of one kernel of all inputs have in common: ranges, callables, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from kmaps import HarmonicMap, MultiLowDimMap
from kmaps.errors import InputError

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
        ({"low": 2.0, "high": 1.0}, "low=2.0, high=1.0: expected two numbers, low < high"),
        ({"kernel": lambda lam: np.exp(-lam[:, 0])}, "the signature is not even"),
        ({"kernel": lambda lam: -np.exp(-(lam**2).sum(axis=1))}, "the signature is -1 at 0"),
    ],
)
def test_bad_parameters_are_named(map_class, parameters, message):
    with pytest.raises(ValueError, match=message):
        map_class(**parameters).fit(POINTS)


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


@pytest.mark.parametrize("feature_map", [HarmonicMap(), MultiLowDimMap(dim=4)])
def test_sparse_input_is_refused(feature_map):
    X = np.random.default_rng(0).random((20, 2))
    with pytest.raises(InputError, match=r"pass a dense array \(X.toarray\(\)\)"):
        feature_map.fit(sparse.csr_array(X))
