"""What the maps that stretch a curve over each feature's range have in common."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix, issparse

from kmaps import threads
from kmaps.errors import InputError
from kmaps.maps import FourierMap, HermiteMap, SplineMap, base

MAPS = [
    SplineMap(),
    *(SplineMap(7, degree=d, penalty=p) for d, p in ((0, 1), (0, 0), (3, 0), (3, 3))),
    SplineMap(30, degree=2, penalty=2),
    FourierMap(),
    FourierMap(degree=16, penalty=0),
    HermiteMap(),
    HermiteMap(degree=12, penalty=2),
]
every_map = pytest.mark.parametrize("feature_map", MAPS, ids=str)


@pytest.fixture(scope="module")
def X():
    """Features of different ranges, below and above zero, far from it, and a constant."""
    rng = np.random.default_rng(0)
    return rng.random((300, 5)) * [1, 4, 255, 1e-3, 0] + [0, -2, 0, 100, 7]


def dense(Z):
    return Z.toarray() if issparse(Z) else Z


@every_map
def test_float32_follows_float64(feature_map, X):
    X = X.astype(np.float32)
    feature_map.fit(X)
    exact = dense(feature_map.transform(X.astype(float)))
    fast = feature_map.transform(X)
    assert fast.dtype == np.float32
    # Of each output's largest value; measured 4e-7 at most.
    largest = np.maximum(np.abs(exact).max(axis=0), 1e-30)
    assert (np.abs(dense(fast) - exact) / largest).max() < 1e-6


@every_map
def test_equal_ranges_share_one_table(feature_map, X):
    equal = X[:, [0, 0]] * 4 - 1
    feature_map.fit(equal)
    assert feature_map.shared_curve_
    assert feature_map.tabulate([0.0, 1.0]).shape == (1, 2, feature_map.n_outputs_)
    assert feature_map.table_bytes_ == 8  # one range
    together = dense(feature_map.transform(equal))
    r = feature_map.n_outputs_
    np.testing.assert_array_equal(together[:, :r], together[:, r:])
    feature_map.fit(X)
    assert not feature_map.shared_curve_
    assert feature_map.table_bytes_ == 5 * 8
    # A feature's outputs do not depend on the other features.
    np.testing.assert_allclose(
        dense(feature_map.transform(X))[:, r : 2 * r],
        dense(feature_map.fit_transform(X[:, [1]])),
        rtol=1e-12,
    )


@every_map
def test_a_constant_feature_is_zero_whatever_comes(feature_map, X):
    feature_map.fit(X)
    test = X[:3].copy()
    test[:, 4] = [7, 8, -1]
    r = feature_map.n_outputs_
    for dtype in (np.float64, np.float32):
        with pytest.warns(UserWarning, match="2 of 15 values lie outside"):
            Z = dense(feature_map.transform(test.astype(dtype)))
        assert not Z[:, 4 * r :].any()
        assert Z[:, : 4 * r].any(axis=0).sum() > r


@every_map
def test_data_without_a_range_are_refused(feature_map):
    constant = np.ones((3, 2))
    for X in (constant, csr_matrix(constant), constant[:1]):
        with pytest.raises(InputError, match="needs a feature that varies, but all of them are"):
            feature_map.fit(X)


@every_map
def test_fit_sees_the_zeros_of_a_sparse_matrix(feature_map):
    X = np.array([[0.0, 3.0], [2.0, 0.0], [1.0, 4.0]])
    for container in (csr_matrix, csr_array):
        Z = dense(feature_map.fit(container(X)).transform(X))
        np.testing.assert_array_equal(Z, dense(feature_map.fit(X).transform(X)))
        with pytest.raises(InputError, match="does not map zero to zero"):
            feature_map.transform(container(X))


@every_map
def test_bytes_are_encoded_as_the_numbers_they_are(feature_map):
    codes = np.random.default_rng(1).integers(0, 256, (50, 3), np.uint8)
    codes[:2] = [[0], [255]]
    for train in (codes, codes // [1, 2, 3]):  # one range, then three
        feature_map.fit(train)
        test = train.astype(np.uint8)
        Z = feature_map.transform(test)
        assert Z.dtype == np.float32
        exact = dense(feature_map.transform(test.astype(float)))
        np.testing.assert_allclose(dense(Z), exact, atol=1e-6 * np.abs(exact).max())


@every_map
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocks_and_threads_change_nothing(feature_map, dtype, X, monkeypatch):
    X = X.astype(dtype)
    feature_map.fit(X)
    whole = feature_map.transform(X)
    monkeypatch.setattr(base, "_BLOCK_VALUES", 4000)
    with threads(3):
        np.testing.assert_array_equal(dense(feature_map.transform(X)), dense(whole))
        one_row = np.vstack([dense(feature_map.transform(row[None])) for row in X[:20]])
    np.testing.assert_array_equal(one_row, dense(whole)[:20])


def test_a_range_too_narrow_for_float32_is_a_constant():
    X = np.array([[0.0, 0.0], [1e-40, 1.0]])
    for dtype in (np.float64, np.float32):
        Z = HermiteMap(degree=1).fit_transform(X.astype(dtype))
        np.testing.assert_allclose(Z, [[0, -1], [0, 1]])
