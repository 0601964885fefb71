"""Intensities and normalisations."""

from types import SimpleNamespace

import numpy as np
import pytest

from kmaps.data import load_dataset
from kmaps.errors import ConfigError
from kmaps.features import FEATURES, extract


def toy(max_level=255):
    images = np.random.default_rng(0).integers(0, max_level + 1, (20, 4, 3), np.uint8)
    images[3] = 0
    return SimpleNamespace(name="toy", images=images, max_level=max_level)


@pytest.mark.parametrize("max_level", [16, 255])
def test_values_are_shares_of_the_largest_level(max_level):
    data = toy(max_level)
    X = extract(data)
    assert X.dtype == np.float32
    expected = data.images.reshape(20, 12).astype(float) / max_level
    np.testing.assert_allclose(X, expected, rtol=1e-7)
    assert X.max() <= 1


def test_distinct_levels_stay_distinct_and_ends_are_exact():
    images = np.arange(256, dtype=np.uint8).reshape(256, 1, 1)
    X = extract(SimpleNamespace(name="ramp", images=images, max_level=255))
    assert len(np.unique(X)) == 256
    assert (X[0, 0], X[-1, 0]) == (0, 1)


def test_images_are_left_alone():
    data = toy()
    before = data.images.copy()
    extract(data, normalize="l2")
    np.testing.assert_array_equal(data.images, before)


def test_digits():
    X = extract(load_dataset("digits"))
    assert X.shape == (1797, 64)
    assert X.max() == 1


def test_names():
    assert list(FEATURES) == ["intensity", "hog-pyramid", "phog", "dense-sift-bow", "phow"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"name": "intensities"}, r"unknown features 'intensities', did you mean 'intensity'\?"),
        ({"name": "hog-piramid"}, r"unknown features 'hog-piramid', did you mean 'hog-pyramid'\?"),
        ({"cells": [3]}, r"intensity: unknown parameter 'cells' \(known: none\)"),
        ({"name": "phog", "orientation": 9}, "phog: unknown parameter 'orientation', did you mean"),
    ],
)
def test_unknown_names(words, message):
    with pytest.raises(ConfigError, match=message):
        extract(toy(), **words)
