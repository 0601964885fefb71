"""Kernel matrices from codes: those of the outputs on the levels, whatever zero maps to."""

import numpy as np
import pytest
from scipy import sparse

from kmaps import threads
from kmaps.maps import AnchorMap, HomogeneousMap, IntersectionMap, SplineMap
from kmaps.svm import code_gram, code_rows
from kmaps.svm.coded import products

RNG = np.random.default_rng(3)
X = np.where(RNG.random((70, 9)) < 0.3, RNG.random((70, 9)) * np.arange(1, 10), 0)
X[X[:, 4] == 0, 4] = 2  # not every feature is zero most often
MAPS = {
    "homogeneous": HomogeneousMap("chi2", order=1),
    "shared anchors": AnchorMap("js", n_anchors=7),
    "anchors of each feature": AnchorMap("chi2", n_anchors=6, anchors="kmeans", shared=False),
    "2 anchors, zero between them": AnchorMap("chi2", 8, n_neighbors=2, shared=False),
    "bins": IntersectionMap(n_bins=5),
    "splines": SplineMap(n_bins=4, degree=3),
}


def rows_of(kind, samples=X):
    return code_rows(MAPS[kind], lambda: [samples], form="low-rank", sample=samples)


def outputs(rows, samples):
    """Return the map's outputs at the level nearest to each value, by the map itself."""
    levels = np.broadcast_to(rows.levels, (samples.shape[1], rows.levels.shape[1]))
    nearest = np.abs(samples[:, :, None] - levels[None]).argmin(axis=2)
    encoded = rows.map.transform(np.take_along_axis(levels.T, nearest, axis=0))
    return encoded.toarray() if sparse.issparse(encoded) else encoded


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("pair", [0, 4, np.inf], ids=["pairs", "both", "matrices"])
def test_products_are_those_of_the_outputs(kind, form, pair, monkeypatch):
    monkeypatch.setattr(products, "_PAIR", pair)
    monkeypatch.setattr(products, "_BLOCK_ROWS", 20)
    known, unseen = X[:50], X[50:]
    if form == "sparse":
        known, unseen = sparse.csr_array(known), sparse.csr_array(unseen)
    rows = rows_of(kind, known)
    of_known, of_unseen = outputs(rows, X[:50]), outputs(rows, X[50:])
    scale = np.abs(of_known).max() ** 2 * X.shape[1]
    matrix, between = code_gram(rows), code_gram(rows.encode(unseen), rows)
    assert matrix.dtype == between.dtype == np.float32
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_allclose(matrix, of_known @ of_known.T, atol=3e-6 * scale)
    np.testing.assert_allclose(between, of_unseen @ of_known.T, atol=3e-6 * scale)
    np.testing.assert_allclose(code_gram(rows, rows), matrix, atol=1e-6 * scale)


@pytest.mark.parametrize("kind", MAPS)
def test_they_are_the_same_on_any_number_of_threads(kind, monkeypatch):
    monkeypatch.setattr(products, "_PAIR", 4)
    monkeypatch.setattr(products, "_BLOCK_ROWS", 9)
    monkeypatch.setattr(products, "_BLOCK_VALUES", 150)
    rows = rows_of(kind)
    with threads(1):
        alone = code_gram(rows)
    with threads(3):
        np.testing.assert_array_equal(code_gram(rows), alone)
