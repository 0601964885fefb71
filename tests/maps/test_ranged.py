"""What the maps that stretch a curve over each feature's range have in common."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse

from kmaps import threads
from kmaps.errors import InputError
from kmaps.maps import FourierMap, HermiteMap, SplineMap, base
from kmaps.maps.grids import cubic_pieces

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
        with pytest.raises(InputError, match="needs a feature that varies"):
            feature_map.fit(X)


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


def test_a_smooth_curve_takes_as_few_cells_as_the_error_of_chebyshevs_nodes_asks_for():
    # h⁴ max|ψ⁗| / (4! 2⁷) of cells of length h is at most 3e-7 where there are 36 or more.
    pieces = cubic_pieces(lambda x: np.sin(2 * np.pi * x)[..., None])
    assert pieces.shape == (64, 4, 1)
