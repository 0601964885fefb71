"""Rows coded block by block: the same machines as from a whole matrix."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kmaps import AnchorMap, CodedSVC, HomogeneousMap, SplineMap
from kmaps.svm import code_rows
from tests.samples import in_blocks

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(120, 7)).astype(np.float32)
Y = np.digitize(X[:, 0] + X[:, 1], [1, 2])
SPARSE = np.where(X > 1.6, X, 0)
MAPS = {
    "kernel": "chi2",
    "homogeneous": HomogeneousMap("js"),
    "anchors": AnchorMap(n_anchors=9),
    "splines": SplineMap(n_bins=5),
}


def blocks(samples):
    return in_blocks(samples).blocks


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize(
    "samples",
    [
        pytest.param(X, id="dense"),
        pytest.param(SPARSE, id="zeros", marks=pytest.mark.slow),
        pytest.param(csr_matrix(SPARSE), id="csr", marks=pytest.mark.slow),
        pytest.param(X - 1, id="signed", marks=pytest.mark.slow),
        pytest.param(csr_matrix(SPARSE - (SPARSE > 3)), id="signed csr"),
        pytest.param((20 * X).astype(np.uint8), id="bytes", marks=pytest.mark.slow),
        pytest.param((5 * X).astype(int), id="integers", marks=pytest.mark.slow),
    ],
)
def test_blocks_give_the_machine_of_the_whole(kind, samples):
    if kind in ("homogeneous", "anchors") and samples.min() < 0:
        pytest.skip("the map refuses negative values")
    whole = samples.toarray() if isinstance(samples, csr_matrix) else samples
    expected = CodedSVC(MAPS[kind]).fit(whole, Y)
    rows = code_rows(MAPS[kind], blocks(samples), sample=samples)
    model = CodedSVC(MAPS[kind]).fit(rows, Y)
    np.testing.assert_array_equal(model.levels_, expected.levels_)
    assert model.codes_bytes_ <= expected.codes_bytes_
    np.testing.assert_allclose(
        model.decision_function(whole), expected.decision_function(whole), atol=2e-2
    )
    np.testing.assert_array_equal(model.decision_function(rows), model.decision_function(whole))


class Source:
    """Samples in blocks, that count how often they were drawn from."""

    def __init__(self):
        self.drawn = 0
        self.blocks = blocks(X)

    def sample(self):
        self.drawn += 1
        return X


def test_a_classifier_prepares_its_own_rows():
    """As its map, levels and form would have it; a sample is drawn for maps that learn only."""
    for kind, learns in (("kernel", 0), ("homogeneous", 0), ("anchors", 1), ("splines", 1)):
        model, source = CodedSVC(MAPS[kind], n_levels=40), Source()
        rows = model.prepare_rows(source)
        assert source.drawn == learns
        assert rows.levels.shape[1] == 40
        expected = code_rows(MAPS[kind], blocks(X), n_levels=40, sample=X if learns else None)
        np.testing.assert_array_equal(rows.rows.codes, expected.rows.codes)
    assert CodedSVC("chi2", form="full").prepare_rows(Source()).layout.name == "full"
