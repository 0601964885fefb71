"""The exact map: nothing approximated on the levels."""

import numpy as np
import pytest

from kmaps import threads
from kmaps.codes import LookupTable, Quantizer
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


@pytest.mark.parametrize(
    ("kernel", "rank"), [("chi2", 20), ("js", 17), ("hellinger", 1), ("intersection", 255)]
)
def test_rank_on_256_levels(kernel, rank):
    """Stated in the module's docstring; also a count by numpy's own decomposition."""
    z = np.linspace(0, 1, 256)
    assert ExactMap(kernel).fit(z[:, None]).n_outputs_ == rank
    singular = np.linalg.svd(KERNELS[kernel](z[:, None], z), compute_uv=False)
    assert abs((singular > 1e-14 * singular[0]).sum() - rank) <= 1


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


def test_levels_are_those_of_the_quantizer():
    X = np.c_[BYTES[:, :2], np.random.default_rng(1).random(60) * 9, np.full(60, 3)]
    for n_levels in (256, 32):
        feature_map = ExactMap(n_levels=n_levels).fit(X)
        quantizer = Quantizer(n_levels).fit(X)
        np.testing.assert_array_equal(feature_map.levels_, quantizer.levels_)
        np.testing.assert_array_equal(feature_map.to_codes(X), quantizer.transform(X))
        for values in (feature_map.table_, feature_map.tabulate(quantizer.levels_)):
            outputs = LookupTable(values).take(quantizer.transform(X))
            np.testing.assert_array_equal(outputs, feature_map.transform(X))


def test_features_that_all_share_the_levels_share_the_table():
    feature_map = ExactMap().fit(BYTES / 255)
    assert feature_map.table_.shape[0] == 1
    assert feature_map.code_bits_ == 8
    assert feature_map.table_bytes_ == 4 * (feature_map.levels_.size + feature_map.table_.size)


def test_other_values_go_to_the_nearest_level():
    feature_map = ExactMap().fit([[0.0], [0.4], [1.0]])
    Z = feature_map.transform([[0.0], [0.4], [1.0]])
    np.testing.assert_array_equal(feature_map.transform([[0.15], [0.65], [0.75]]), Z)
    with pytest.warns(UserWarning, match="1 of 2 values lie outside the range that ExactMap"):
        np.testing.assert_array_equal(feature_map.transform([[1.5], [1.0]])[0], Z[2])


def test_tables_that_are_made_already_do_not_count_again(monkeypatch):
    """What was free at the start is less by then: a fit must not be refused halfway."""
    asked = []
    monkeypatch.setattr("kmaps.mercer.check_room", lambda _, n_bytes, remedy: asked.append(n_bytes))
    monkeypatch.setattr("kmaps.mercer._BLOCK_VALUES", 1)
    with threads(1):
        table = ExactMap("intersection").fit(RNG.random((60, 5))).table_
    assert asked == [table.nbytes * (10 - made) // 5 for made in range(5)]
