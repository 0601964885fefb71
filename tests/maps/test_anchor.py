"""ANNFM against the kernel on nearest anchors found by trying all, and the paper's claims."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

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
@pytest.mark.parametrize(
    ("kernel", "k"), [*((kernel, 2) for kernel in (*KERNELS, gauss)), ("chi2", 1), ("js", 3)]
)
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


# Exact clusters against all clusterings, and against scikit-learn's search.
