"""K-means and the assignment to words."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from kmaps.errors import ConfigError
from kmaps.features.bow import learn_words, nearest_words


@pytest.fixture
def points():
    return np.random.default_rng(0).random((9000, 7), np.float32)


def test_nearest_is_nearest(points):
    words = points[:60] + np.float32(0.01)
    distances = cdist(points, words)
    found = nearest_words(points, words)
    best = distances.min(axis=1)
    # Up to rounding in float32.
    np.testing.assert_allclose(distances[np.arange(9000), found], best, atol=1e-5)
    assert (found == distances.argmin(axis=1)).mean() > 0.999
    words = np.array([[5, 0], [1, 1], [1, 1]], np.float32)  # the first of equal ones
    assert nearest_words(np.array([[1, 1], [1, 0]], np.float32), words).tolist() == [1, 1]


def test_rounds_lower_the_spread(points):
    words = learn_words(points, 30, seed=0)
    drawn = points[np.random.default_rng(5).choice(9000, 30, replace=False)]
    spread, before = (np.mean(cdist(points, w).min(axis=1) ** 2) for w in (words, drawn))
    assert spread < 0.85 * before
    # Each word is the mean of its points, to what the last round moved.
    nearest = nearest_words(points, words)
    means = np.stack([points[nearest == k].mean(axis=0) for k in range(30)])
    assert np.abs(means - words).max() < 0.03


def test_as_many_words_as_points_and_no_more():
    sample = np.repeat(np.eye(6, dtype=np.float32), 3, axis=0)
    words = learn_words(sample, 6, seed=0)
    np.testing.assert_array_equal(words[np.argsort(-words @ np.arange(6, 0, -1))], np.eye(6))
    message = "a vocabulary of 7 words needs as many different descriptors, the training .* have 6"
    with pytest.raises(ConfigError, match=message):
        learn_words(sample, 7, seed=0)
