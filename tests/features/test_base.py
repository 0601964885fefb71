"""Intensities; names of features, their parameters, normalisations of their vectors."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import normalize

from kmaps.errors import ConfigError
from kmaps.features import extract, get_normalization, make_feature


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


def test_images_of_one_pixel_have_an_intensity():
    assert make_feature("intensity", {}).smallest == 1
    pixels = SimpleNamespace(name="pixels", images=np.array([[[51]]], np.uint8), max_level=255)
    assert extract(pixels).tolist() == [[pytest.approx(0.2)]]


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("intensities", {}, r"unknown features 'intensities', did you mean 'intensity'\?"),
        ("hog-piramid", {}, r"unknown features 'hog-piramid', did you mean 'hog-pyramid'\?"),
        ("intensity", {"cells": [3]}, r"unknown parameter 'cells' \(known: none\)"),
        ("phog", {"orientation": 9}, "unknown parameter 'orientation', did you mean"),
        ("hog-pyramid", {"cells": []}, r"cells=\[\]: expected a list of different whole numbers"),
        ("hog-pyramid", {"cells": [4, 4]}, "cells=.*: expected a list of different whole numbers"),
        ("hog-pyramid", {"cells": 7}, "cells=7: expected a list of .* numbers of at least 1"),
        ("hog-pyramid", {"orientations": 1}, "orientations=1: expected a whole number of at least"),
        ("hog-pyramid", {"orientations": True}, "orientations=True: expected a whole number"),
        ("hog-pyramid", {"sigma": -1}, "sigma=-1: expected a number of at least 0"),
        ("hog-pyramid", {"sigma": float("nan")}, "sigma=nan: expected a number of at least 0"),
        ("hog-pyramid", {"local": -1}, "local=-1: expected a number of at least 0"),
        ("hog-pyramid", {"growth": 0}, "growth=0: expected a positive number"),
        ("hog-pyramid", {"signed": 1}, "signed=1: expected True or False"),
        ("phog", {"edges": 1}, "edges=1: expected a number of at least 0, below 1"),
        ("phog", {"sigma": 0}, "sigma=0: expected a positive number"),
        ("phog", {"longest": 2.5}, "longest=2.5: expected a whole number of at least 1"),
        ("phog", {"divisions": [0, 2]}, r"divisions=\[0, 2\]: expected a list .* at least 1"),
        (
            "dense-sift-bow",
            {"patches": [16, 18]},
            r"patches=\[16, 18\]: expected .* multiples of 4",
        ),
        ("dense-sift-bow", {"patches": []}, "patches=.*: expected a list of different"),
        ("dense-sift-bow", {"words": 0}, "words=0: expected a whole number of at least 1"),
        ("dense-sift-bow", {"longest": 20}, "longest=20: expected a whole number of at least 32"),
        ("dense-sift-bow", {"contrast": -1}, "contrast=-1: expected a number of at least 0"),
        ("dense-sift-bow", {"root": "yes"}, "root='yes': expected True or False"),
        ("dense-sift-bow", {"sampling": "dense"}, "='dense': expected 'grid' or 'salient'"),
    ],
)
def test_bad_names_and_parameters(name, parameters, message):
    prefix = "" if message.startswith("unknown features") else f"{name}: .*"
    with pytest.raises(ConfigError, match=f"^{prefix}{message}"):
        make_feature(name, parameters)


@pytest.fixture
def X():
    X = np.random.default_rng(0).random((20, 12), np.float32)
    X[X < 0.4] = 0
    X[[0, 3, 4, 19]] = 0  # first, last and two neighbours: the hard cases of a CSR matrix
    X[7] *= -1
    return X


@pytest.mark.parametrize(
    ("name", "norm"), [("l1", "l1"), ("l2", "l2"), ("gamma=1", "l1"), ("gamma=2.0", "l2")]
)
def test_named_ones_are_scikit_learns(X, name, norm):
    expected = normalize(X, norm)
    np.testing.assert_allclose(get_normalization(name)(X.copy()), expected, rtol=1e-6)
    csr = get_normalization(name)(sparse.csr_array(X))
    assert csr.dtype == np.float32
    np.testing.assert_allclose(csr.toarray(), expected, rtol=1e-6)
