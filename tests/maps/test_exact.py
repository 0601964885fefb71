"""The exact map: nothing approximated on the levels."""

import warnings

import numpy as np
import pytest

from kmaps.kernels import KERNELS
from kmaps.maps import ExactMap
from tests.oracles.kernels import laplace

RNG = np.random.default_rng(0)
BYTES = RNG.integers(0, 256, (60, 5))


def exact(kernel, X):
    function = KERNELS.get(kernel, kernel)
    return function(X[:, None, :], X[None, :, :]).sum(axis=2)


@pytest.mark.parametrize("kernel", [*KERNELS, laplace])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_inner_products_are_the_kernel(kernel, dtype):
    scale = 1 if dtype == np.uint8 else 1 / 255
    X = (BYTES * scale).astype(dtype)
    Z = ExactMap(kernel).fit_transform(X)
    tolerance = 1e-13 if dtype == np.float64 else 2e-6  # measured 2e-14 and 5e-7
    wanted = exact(kernel, X.astype(float))
    np.testing.assert_allclose(Z @ Z.T, wanted, rtol=0, atol=tolerance * np.abs(wanted).max())


def test_tolerance_trades_outputs_for_error():
    X = BYTES / 255
    wanted = exact("chi2", X)
    outputs, errors = [], []
    for tol in (1e-2, 1e-4, 1e-8):
        feature_map = ExactMap(tol=tol).fit(X)
        Z = feature_map.transform(X)
        outputs.append(feature_map.n_outputs_)
        errors.append(np.abs(Z @ Z.T - wanted).max())
    assert outputs == sorted(set(outputs))
    assert errors == sorted(set(errors), reverse=True)


def test_other_values_go_to_the_nearest_level():
    feature_map = ExactMap().fit([[0.0], [0.4], [1.0]])
    Z = feature_map.transform([[0.0], [0.4], [1.0]])
    np.testing.assert_array_equal(feature_map.transform([[0.15], [0.65], [0.75]]), Z)
    with pytest.warns(UserWarning, match="1 of 2 values lie outside the range that ExactMap"):
        np.testing.assert_array_equal(feature_map.transform([[1.5], [1.0]])[0], Z[2])


def test_levels_that_a_fill_value_takes_the_outputs_of_are_said():
    filled = BYTES[:, :2].astype(float)
    filled[7, 1] = 1e30
    with pytest.warns(UserWarning, match=r"become the same, next to the level 1e\+30"):
        assert abs(ExactMap().fit(filled).transform(filled)[0]).max() < 0.01
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        filled[7, 1] = 1e9
        ExactMap(tol=0.01).fit(filled)
