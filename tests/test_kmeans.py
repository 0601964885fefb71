"""Exact clusters against all clusterings, against scikit-learn's search, and their growth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from kmaps._loops.kmeans import cluster
from tests.oracles.anchors import best_clusters


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=8, unique=True),
    st.integers(1, 8),
    st.integers(0, 2**32 - 1),
)
def test_no_clustering_is_better(values, k, seed):
    values = np.sort(np.array(values, float)) / 7
    weights = np.random.default_rng(seed).integers(1, 6, len(values)).astype(float)
    k = min(k, len(values))
    centres, reached = cluster(values, weights, k, -1.0)
    distance = np.abs(values[:, None] - centres).min(axis=1)
    _, best = best_clusters(values, weights, k)
    assert len(centres) == k
    assert (weights * distance**2).sum() == pytest.approx(best, abs=1e-10)
    assert reached == pytest.approx(distance.max(), abs=1e-12)


def test_no_worse_than_a_search_from_many_starts():
    x = np.sort(np.random.default_rng(0).gamma(0.5, size=2000))
    centres, _ = cluster(x, np.ones(len(x)), 20, -1.0)
    found = KMeans(20, n_init=3, random_state=0).fit(x[:, None]).inertia_
    squares = (np.abs(x[:, None] - centres).min(axis=1) ** 2).sum()
    assert squares <= found * (1 + 1e-9)
    assert squares > 0.8 * found  # and the search is no stranger to it


def test_grows_until_every_value_is_near():
    x = np.sort(np.random.default_rng(1).random(300))
    weights = np.ones(len(x))
    centres, reached = cluster(x, weights, 256, 0.02)
    assert np.abs(x[:, None] - centres).min(axis=1).max() == pytest.approx(reached)
    assert reached <= 0.02
    for fewer in range(1, len(centres)):
        assert cluster(x, weights, fewer, -1.0)[1] > 0.02
    assert len(cluster(x, weights, 5, 0.02)[0]) == 5
    assert len(cluster(x, weights, 256, 10.0)[0]) == 1


def test_each_value_its_own_cluster_at_most():
    x = np.array([1e9, 1e9 + 1, 1e9 + 3])
    centres, reached = cluster(x, np.ones(3), 10, -1.0)
    np.testing.assert_array_equal(centres, x)
    assert reached == 0
