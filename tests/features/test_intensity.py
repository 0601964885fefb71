"""Intensities and normalisations."""

from types import SimpleNamespace

import numpy as np
import pytest

from kmaps.errors import ConfigError
from kmaps.features import FEATURES, extract, parameters_of


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
    assert len(np.unique(X)) == len(np.unique(data.images))
    assert (X.min(), X.max()) == (0, 1)
    before = data.images.copy()
    extract(data, normalize="l2")
    np.testing.assert_array_equal(data.images, before)


def test_names():
    assert list(FEATURES) == ["intensity", "hog-pyramid", "phog", "dense-sift-bow", "phow"]
    assert parameters_of("phog")[:2] == ["orientations", "signed"]


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
