"""Random Fourier features against the Gaussian kernel, their variance, and each other."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from kmaps import threads
from kmaps.errors import ConfigError, InputError
from kmaps.maps import RandomFourierMap, frequencies, random_fourier
from kmaps.maps.frequencies import STRUCTURES


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(3).standard_normal((60, 24)) / 4


def exact(X, sigma=1.0):
    """The Gaussian kernel, from its formula."""
    return np.exp(-((X[:, None] - X) ** 2).sum(-1) / (2 * sigma**2))


def errors(X, m, structure, seeds, sigma=1.0):
    """The error of every pair of different rows, for each seed."""
    pairs = np.triu_indices(len(X), 1)
    found = []
    for seed in range(seeds):
        Z = RandomFourierMap(m, sigma, structure, random_state=seed).fit_transform(X)
        found.append((Z @ Z.T - exact(X, sigma))[pairs])
    return np.array(found)


def test_variance_is_that_of_independent_frequencies(X):
    """Each pair's is (1-k²)²/2m; a wrong scale of σ or of the outputs would give bias instead."""
    m = 50
    found = errors(X, m, "dense", 200)
    k = exact(X)[np.triu_indices(len(X), 1)]
    expected = (1 - k**2) / np.sqrt(2 * m)
    np.testing.assert_allclose(np.sqrt((found**2).mean(0)), expected, rtol=0.25)
    assert abs((np.sqrt((found**2).mean(0)) / expected).mean() - 1) < 0.02
    assert np.abs(found.mean(0) / expected * np.sqrt(200)).max() < 5


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_blocks_threads_and_containers_change_nothing(structure, dtype, X, monkeypatch):
    X = (4 * np.abs(X)).astype(dtype)
    X[X < 1] = 0
    feature_map = RandomFourierMap(203, 3.0, structure).fit(X)
    whole = feature_map.transform(X)
    tolerance = 1e-12 if dtype == np.float64 else 1e-6
    monkeypatch.setattr(random_fourier, "_BLOCK_VALUES", 203 * 40)
    for block_values, n_threads in ((24 * 30, 1), (24 * 203, 2)):
        monkeypatch.setattr(frequencies, "_BLOCK_VALUES", block_values)
        with threads(n_threads):
            for same in (X, np.asfortranarray(X), csr_matrix(X), csr_array(X)):
                again = RandomFourierMap(203, 3.0, structure).fit(same)
                np.testing.assert_allclose(again.transform(same), whole, atol=tolerance)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_key_is_all_that_frequencies_come_from(structure, X):
    drawn = RandomFourierMap(40, 2.0, structure, random_state=None).fit(X)
    made = RandomFourierMap(40, 2.0, structure).fit(csr_matrix((1, X.shape[1])))
    before = made.transform(X)
    again = made.with_key(drawn.key_)
    np.testing.assert_array_equal(again.transform(X), drawn.transform(X))
    np.testing.assert_array_equal(made.transform(X), before)
    kept = made.keep([3, 30]).with_key(drawn.key_)
    np.testing.assert_allclose(kept.transform(X), drawn.keep([3, 30]).transform(X), atol=1e-12)
    for key in (-1, 2**64, 0.5):
        with pytest.raises(ConfigError, match=f"key={key}: expected a whole number from 0 to"):
            made.with_key(key)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_kept_frequencies_give_the_kept_columns(structure, X):
    feature_map = RandomFourierMap(100, 1.0, structure).fit(X)
    Z = feature_map.transform(X)
    kept = feature_map.keep([90, 3, 50, 51])
    assert kept.frequency_indices_.tolist() == [3, 50, 51, 90]
    columns = np.ravel([(2 * j, 2 * j + 1) for j in (3, 50, 51, 90)])
    np.testing.assert_allclose(kept.transform(X), Z[:, columns], atol=1e-12)
    assert list(kept.get_feature_names_out()[:2]) == ["cos3", "sin3"]
    fewer = kept.keep([False, True, False, True])
    assert fewer.frequency_indices_.tolist() == [50, 90]
    np.testing.assert_allclose(fewer.transform(X), kept.transform(X)[:, [2, 3, 6, 7]], atol=1e-12)
    np.testing.assert_array_equal(feature_map.transform(X), Z)  # the map itself keeps all
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(fewer)).transform(X), fewer.transform(X)
    )


def test_frequencies_near_others(X):
    """Children of 2 and 5, and of one such child: each is 0.9 of its parent and its own draw."""
    feature_map = RandomFourierMap(6, sigma=0.5, random_state=4).fit(X)
    near = feature_map.keep([2, 5]).draw_near(3)
    assert near.frequency_indices_.tolist() == [2, 5, 6, 7, 8]
    later = near.keep([1, 2, 4]).draw_near(4)
    assert later.frequency_indices_.tolist() == [5, 6, 8, 9, 10, 11, 12]
    own = frequencies.normals(feature_map.key_, 0, np.arange(13), 24).astype(float) / 0.5
    own[6:9] = 0.9 * own[[2, 5, 2]] + np.sqrt(0.19) * own[6:9]
    own[9:13] = 0.9 * own[[5, 6, 8, 5]] + np.sqrt(0.19) * own[9:13]
    turns = X @ own[later.frequency_indices_].T
    Z = later.transform(X)
    np.testing.assert_allclose(Z[:, ::2], np.cos(turns) / 6**0.5, atol=1e-5)
    np.testing.assert_allclose(Z[:, 1::2], np.sin(turns) / 6**0.5, atol=1e-5)
    for same in (pickle.loads(pickle.dumps(later)), later.keep(np.arange(7))):
        np.testing.assert_array_equal(same.transform(X), Z)
    assert later.fit(X).frequency_indices_.tolist() == list(range(6))


def test_more_frequencies_begin_with_the_same(X):
    few, many = (RandomFourierMap(m).fit_transform(X) * np.sqrt(m) for m in (10, 300))
    np.testing.assert_allclose(few, many[:, :20], atol=1e-12)


def test_frequencies_of_version_1(X):
    """A change of these numbers is a new FREQUENCY_VERSION."""
    feature_map = RandomFourierMap(2, random_state=0).fit(X)
    assert (feature_map.frequency_version_, feature_map.key_) == (1, 10936052916359727788)
    Z = feature_map.transform(np.ones((1, 24)))
    np.testing.assert_allclose(Z, [[-0.436459, -0.556330, 0.085269, 0.701947]], atol=1e-6)


def test_sigma_from_the_data_is_the_mean_squared_distance(X):
    feature_map = RandomFourierMap(10, sigma=None).fit(X)
    distances = ((X[:, None] - X) ** 2).sum(-1)
    assert feature_map.sigma_**2 == pytest.approx(distances.sum() / (60 * 59), rel=1e-6)


def test_a_frequency_matrix_is_kept_or_is_never_whole(monkeypatch):
    monkeypatch.setattr(frequencies, "_BLOCK_VALUES", 1 << 19)
    X = np.ones((40, 5000), np.float32)
    feature_map = RandomFourierMap(1500).fit(X)
    whole = feature_map.transform(X)
    with monkeypatch.context() as patch:
        patch.setattr(frequencies, "normals", None)  # none can be drawn any more
        np.testing.assert_array_equal(feature_map.transform(X), whole)
    monkeypatch.setattr(frequencies, "_KEPT_VALUES", 1 << 19)
    tracemalloc.start()
    RandomFourierMap(1500).fit(X).transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12e6  # measured 5 MB with two threads; the matrix is 30 MB


def test_frequencies_of_another_version_are_refused(X):
    feature_map = RandomFourierMap(5).fit(X)
    feature_map.frequency_version_ = 7
    text = pickle.dumps(feature_map)
    with pytest.raises(InputError, match="frequencies of version 7"):
        pickle.loads(text)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_overflow_is_refused(structure, dtype):
    X = np.full((3, 4), np.finfo(dtype).max, dtype)
    with pytest.raises(InputError, match=r"too large for sigma=0\.01"):
        RandomFourierMap(50, 0.01, structure).fit(X).transform(X)


@pytest.mark.parametrize(
    ("frequencies", "message"),
    [
        ([], "frequencies: got none"),
        (np.zeros(5, bool), "frequencies: got none"),
        ([5], "frequencies: index 5 is out of bounds"),
        ([0.5], "frequencies: arrays used as indices must be of integer"),
    ],
)
def test_bad_frequencies_are_named(frequencies, message, X):
    with pytest.raises(InputError, match=message):
        RandomFourierMap(5).fit(X).keep(frequencies)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_phases_without_digits_are_said(X, structure):
    far = np.insert(X, 3, 1e30, axis=1)
    feature_map = RandomFourierMap(32, structure=structure).fit(far)
    with pytest.warns(UserWarning, match="no digits of their phases"):
        feature_map.transform(far)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far[:, 3] = 1e6
        far[9, 3] = 1e30  # one row that is like no other
        feature_map.transform(far)
