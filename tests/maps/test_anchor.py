"""ANNFM against the kernel on nearest anchors found by trying all, and the paper's claims."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans

from kmaps._loops.kmeans import cluster
from kmaps.codes import LookupTable
from kmaps.errors import ConfigError
from kmaps.kernels import KERNELS
from kmaps.maps import AnchorMap
from tests.oracles.anchors import best_clusters, mean_kernel, nearest
from tests.oracles.kernels import gauss

RNG = np.random.default_rng(0)
X = RNG.random((150, 4)) ** 2 * [1, 0.2, 50, 1]
X[0] = 0
EVERY = [
    {"n_anchors": 12},
    {"n_anchors": 12, "shared": True},
    {"n_anchors": 12, "anchors": "kmeans"},
    {"n_anchors": 256, "anchors": "kmeans"},  # each value its own anchor
    {"n_anchors": 12, "anchors": "kmeans", "shared": True},
    {"anchors": "cover", "epsilon": 2.0},
]
every_choice = pytest.mark.parametrize("choice", EVERY, ids=str)


@every_choice
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("kernel", [*KERNELS, gauss])
def test_inner_products_are_the_mean_kernel_of_the_nearest(choice, k, kernel):
    feature_map = AnchorMap(kernel, n_neighbors=k, energy=1.0, **choice).fit(X)
    Z = feature_map.transform(X)
    function = KERNELS.get(kernel, kernel)
    r = feature_map.n_outputs_
    for j in range(4):
        anchors = np.unique(feature_map.anchors_[0 if len(feature_map.anchors_) == 1 else j])
        expected = mean_kernel(function, X[:, j], anchors, min(k, len(anchors)))
        own = Z[:, j * r : (j + 1) * r]
        # Measured 5e-15 of the trace: eigenvectors below its rounding are left out.
        atol = 1.5e-14 * function(anchors, anchors).sum()
        np.testing.assert_allclose(own @ own.T, expected, rtol=0, atol=atol)


@every_choice
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_by_distance_interpolate_between_the_anchors_on_either_side(choice, dtype):
    values = X.astype(dtype)
    feature_map = AnchorMap(n_neighbors=2, weights="distance", **choice).fit(values)
    nearest = AnchorMap(n_neighbors=1, **choice).fit(values)
    Z, r = feature_map.transform(values), feature_map.n_outputs_
    tol = {np.float32: 2e-5, np.float64: 1e-12}[dtype]
    for j in range(4):
        table = 0 if len(feature_map.anchors_) == 1 else j
        anchors, first = np.unique(feature_map.anchors_[table], return_index=True)
        for output in range(r):
            expected = np.interp(values[:, j], anchors, nearest.table_[table, first, output])
            np.testing.assert_allclose(
                Z[:, j * r + output], expected, rtol=0, atol=tol * np.abs(expected).max()
            )
    assert Z.dtype == dtype
    assert not feature_map.has_codes
    # Halfway between two anchors both count alike, where equal weights agree.
    halfway = np.unique(feature_map.anchors_[0])[:2].mean()
    sample = np.array([[halfway, 0.0, 0.0, 0.0]])
    equal = AnchorMap(n_neighbors=2, **choice).fit(values)
    np.testing.assert_allclose(feature_map.transform(sample)[0, :r], equal.transform(sample)[0, :r])


def test_zero_stays_zero_by_distance_only():
    sparse = csr_matrix(X * (X > 0.2))
    feature_map = AnchorMap(n_anchors=12, n_neighbors=2, weights="distance").fit(sparse)
    Z = feature_map.transform(sparse).toarray()
    np.testing.assert_array_equal(Z, feature_map.transform(sparse.toarray()))
    outputs = Z.reshape(*X.shape, feature_map.n_outputs_)
    np.testing.assert_array_equal(outputs.any(axis=2), sparse.toarray() > 0)
    equal = AnchorMap(n_anchors=12, n_neighbors=2).fit(sparse)
    assert equal.to_codes(sparse).nnz == sparse.nnz
    with pytest.raises(ValueError, match="AnchorMap does not map zero to zero"):
        equal.transform(sparse)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"weights": "distance"}, "weights='distance': .* expected n_neighbors=2, got 1"),
        ({"weights": "distance", "n_neighbors": 3}, "expected n_neighbors=2, got 3"),
        ({"weights": "near"}, "weights='near'"),
    ],
)
def test_weights_that_are_none(given, message):
    with pytest.raises(ConfigError, match=message):
        AnchorMap(**given).fit(X)


@every_choice
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_codes_name_the_nearest_anchors(choice, k, dtype):
    values = X.astype(dtype)
    feature_map = AnchorMap(n_neighbors=k, **choice).fit(values)
    codes = feature_map.to_codes(values)
    assert codes.dtype == np.uint8
    for j in range(4):
        anchors = np.unique(feature_map.anchors_[0 if len(feature_map.anchors_) == 1 else j])
        expected = nearest(values[:, j], anchors, min(k, len(anchors)))[:, 0]
        np.testing.assert_array_equal(codes[:, j], expected)
    assert codes.max() < 2**feature_map.code_bits_


@every_choice
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_transform_is_the_look_up_of_the_codes(choice, k, dtype):
    values = X.astype(dtype)
    feature_map = AnchorMap(n_neighbors=k, **choice).fit(values)
    Z = feature_map.transform(values)
    table = LookupTable(feature_map.table_.astype(Z.dtype))
    np.testing.assert_array_equal(table.take(feature_map.to_codes(values)), Z)
    levels = values.T.astype(float)
    by_level = feature_map.tabulate(levels).transpose(1, 0, 2).reshape(len(Z), -1)
    np.testing.assert_array_equal(by_level.astype(Z.dtype), Z)


@pytest.mark.parametrize("kernel", KERNELS)
def test_mean_error_falls_as_the_square_of_the_spacing(kernel):
    """annfm Theorem 1: the error's expectation; where the kernel has a gradient, away from zero.

    The error itself falls only as the spacing, as that of any step function.
    """
    spacings, means, sizes = [], [], []
    for n_anchors in (6, 11, 21, 41):
        feature_map = AnchorMap(kernel, n_anchors, energy=1.0).fit([[0.1], [1.0]])
        spacings.append(0.9 / (n_anchors - 1))
        x = 0.1 + spacings[-1] * (np.arange(40 * (n_anchors - 1)) + 0.5) / 40
        Z = feature_map.transform(x[:, None])
        error = Z @ Z.T - KERNELS[kernel](x[:, None], x)
        means.append(abs(error.mean()))
        sizes.append(np.abs(error).mean())
    assert np.polyfit(np.log(spacings), np.log(means), 1)[0] == pytest.approx(2, abs=0.2)
    assert np.polyfit(np.log(spacings), np.log(sizes), 1)[0] == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("energy", [0.5, 0.95, 0.99, 0.999999])
@pytest.mark.parametrize("kernel", ["chi2", "intersection"])
def test_energy_keeps_the_fewest_eigenvectors_that_reach_it(kernel, energy):
    feature_map = AnchorMap(kernel, 30, energy=energy).fit([[0.0], [1.0]])
    z = np.linspace(0, 1, 30)
    matrix = KERNELS[kernel](z[:, None], z)
    spectrum = np.sort(np.linalg.eigvalsh(matrix))[::-1]
    r = feature_map.n_outputs_
    assert spectrum[:r].sum() >= energy * np.trace(matrix) > spectrum[: r - 1].sum()
    kept = feature_map.table_[0] @ feature_map.table_[0].T
    np.testing.assert_allclose(np.linalg.eigvalsh(kept)[-r:], spectrum[:r][::-1], atol=1e-12)


def test_features_that_need_fewer_outputs_have_zeros():
    values = np.c_[np.linspace(0, 1, 50), np.full(50, 3.0), np.linspace(1, 1.001, 50)]
    feature_map = AnchorMap("intersection", 50, energy=0.99).fit(values)
    used = feature_map.table_.any(axis=1).sum(axis=1)
    assert used[0] == feature_map.n_outputs_ > used[2] >= 1
    assert used[1] == 1
    assert feature_map.table_[1, 0, 0] == pytest.approx(np.sqrt(3))


def test_kmeans_anchors_are_the_best_clusters():
    values = np.array([0, 0, 0, 0.1, 0.4, 0.5, 0.5, 2])
    feature_map = AnchorMap(n_anchors=3, anchors="kmeans").fit(values[:, None])
    expected, _ = best_clusters(np.unique(values), np.array([3.0, 1, 1, 2, 1]), 3)
    np.testing.assert_allclose(feature_map.anchors_[0], expected)
    sparse = AnchorMap(n_anchors=3, anchors="kmeans").fit(csr_matrix(values[:, None]))
    np.testing.assert_array_equal(sparse.anchors_, feature_map.anchors_)


def test_cover_is_within_epsilon_and_no_larger_than_it_must():
    feature_map = AnchorMap(anchors="cover", epsilon=0.01).fit(X)
    for j, anchors in enumerate(feature_map.anchors_):
        anchors = np.unique(anchors)
        assert np.abs(X[:, [j]] - anchors).min(axis=1).max() <= 0.01
        fewer = AnchorMap(n_anchors=max(2, len(anchors) - 1), anchors="kmeans").fit(X[:, [j]])
        if len(anchors) > 2:
            assert np.abs(X[:, [j]] - fewer.anchors_).min(axis=1).max() > 0.01
    values = np.linspace(0, 1, 1000)[:, None]
    message = r"epsilon=0.0001: 256 anchors do not cover a value of feature 0, 0.00\d+ away"
    with pytest.raises(ConfigError, match=message):
        AnchorMap(anchors="cover", epsilon=1e-4).fit(values)


def test_anchors_are_shared_where_the_range_is():
    one_range = np.array([[0, 0, 0], [1, 1, 0], [0.5, 0.3, 0]])
    assert AnchorMap().fit(one_range).anchors_.shape == (1, 40)
    assert AnchorMap().fit(one_range).table_.shape[0] == 1
    assert AnchorMap(shared=False).fit(one_range).anchors_.shape == (3, 40)
    assert AnchorMap(anchors="kmeans").fit(one_range).anchors_.shape == (3, 3)
    pooled = AnchorMap(n_anchors=4, anchors="kmeans", shared=True).fit(one_range)
    np.testing.assert_allclose(pooled.anchors_, [[0, 0.3, 0.5, 1]])
    ranges = AnchorMap(n_anchors=3).fit(one_range * [1, 2, 1])
    np.testing.assert_array_equal(ranges.anchors_, [[0, 0.5, 1], [0, 1, 2], [0, 0, 0]])
    np.testing.assert_array_equal(
        AnchorMap(n_anchors=3, shared=True).fit(one_range * [1, 2, 1]).anchors_, [[0, 1, 2]]
    )


def test_what_is_stored_is_counted():
    feature_map = AnchorMap(n_anchors=30, rank=3, shared=True).fit(X)
    assert feature_map.code_bits_ == 5
    assert feature_map.table_bytes_ == 4 * (30 + 30 * 3)
    assert AnchorMap(n_anchors=40).fit(X).code_bits_ == 6
    assert AnchorMap(n_anchors=256).fit(X).code_bits_ == 8
    assert AnchorMap(n_anchors=33, n_neighbors=2).fit(X).code_bits_ == 5
    own = AnchorMap(n_anchors=30, rank=3).fit(X)
    assert own.table_bytes_ == 4 * 4 * (30 + 30 * 3)


def test_training_data_is_never_outside():
    """Not even as float32 of what was fitted as float64."""
    values = np.random.default_rng(2).random((500, 20)) * 0.7 + 0.1
    for anchors in ("uniform", "kmeans"):
        feature_map = AnchorMap(n_anchors=5, anchors=anchors).fit(values)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            feature_map.transform(values.astype(np.float32))
            feature_map.transform(values)


def test_a_constant_feature_has_one_anchor():
    values = np.c_[X[:, 0], np.full(len(X), 0.25), np.zeros(len(X))]
    for anchors in ("uniform", "kmeans"):
        for k in (1, 3):
            feature_map = AnchorMap("chi2", 6, anchors, k, energy=1.0, shared=False).fit(values)
            codes, r = feature_map.to_codes(values), feature_map.n_outputs_
            assert not codes[:, 1:].any()
            Z = feature_map.transform(values)
            np.testing.assert_allclose((Z[:, r : 2 * r] ** 2).sum(axis=1), 0.25)
            assert not Z[:, 2 * r :].any()
    one = AnchorMap().fit([[0.3, 0.0]])
    assert one.code_bits_ == 0
    assert one.transform([[0.3, 0.0]]).tolist() == [[pytest.approx(np.sqrt(0.3)), 0]]


# Exact clusters against all clusterings, and against scikit-learn's search.


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
