"""Bags of visual words."""

import numpy as np
import pytest
from drawn import dataset, noise, photograph
from oracles import images as oracle
from scipy import sparse

from kmaps.features import extract, make_feature
from kmaps.features.bow import nearest_words

SMALL = {"patches": [8, 12], "step": 4, "words": 20, "samples": 30}


@pytest.fixture(scope="module")
def images():
    return [photograph(40 + 3 * i, 60 - 2 * i, i) for i in range(12)]


def bow(images, train=range(8), **parameters):
    return extract(dataset(images), "dense-sift-bow", train=list(train), **{**SMALL, **parameters})


def test_counts_by_hand(images):
    feature = make_feature("dense-sift-bow", SMALL)
    grey = [image.astype(np.float32) / 255 for image in images[:3]]
    found = feature.describe(grey)
    words = np.random.default_rng(0).random((20, 128), np.float32)
    encoded = feature.encode(found, words)
    content = encoded["data"], encoded["indices"], encoded["indptr"]
    X = sparse.csr_array(content, shape=(3, feature.n_columns)).toarray()
    points = np.sqrt(
        found["descriptors"] / np.maximum(found["descriptors"].sum(1, keepdims=True), 1)
    )
    nearest = nearest_words(points.astype(np.float32), words)
    ends = np.cumsum(found["counts"])
    for i, (start, end) in enumerate(zip(ends - found["counts"], ends, strict=True)):
        expected = oracle.words_by_cell(
            nearest[start:end], found["places"][start:end], 20, (1, 2, 4)
        )
        np.testing.assert_array_equal(X[i], expected)


def test_patches_are_counted_where_they_are():
    """A textured corner on flat grey: one word for the flat part, the others in one cell."""
    image = np.full((64, 64), 120, np.uint8)
    image[:16, 48:] = noise(16, 16)
    X = bow([image, *(noise(64, 64, seed=i) for i in range(6))], train=range(1, 7))
    counts = X[[0]].toarray()[0]
    flat = counts[:20].argmax()
    cells = counts[100:].reshape(4, 4, 20)
    textured = np.delete(cells, flat, axis=2).sum(axis=2)
    assert textured[0, 3] > 0
    assert textured.sum() - textured[:2, 2:].sum() == 0  # patches reach over the cell's border


def test_nothing_of_a_test_image_touches_the_vocabulary(images):
    others = [*images[:8], *(noise(50, 50, seed=i) for i in range(4))]
    before, after = bow(images), bow(others)
    np.testing.assert_array_equal(before[:8].toarray(), after[:8].toarray())
    assert (before[8:] != after[8:]).nnz > 0
    # Nor does their number.
    fewer = bow(images[:9])
    np.testing.assert_array_equal(before[:9].toarray(), fewer.toarray())
