"""Rows coded block by block: the same machines as from a whole matrix."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kmaps import AnchorMap, CodedSVC, HomogeneousMap, SplineMap
from kmaps.errors import ConfigError, InputError
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


def test_mostly_zero_codes_are_listed():
    rows = code_rows("chi2", blocks(SPARSE))
    n = np.count_nonzero(SPARSE)
    assert rows.codes_bytes == 3 * n + 8 * 121
    assert code_rows("chi2", blocks(X)).codes_bytes == 120 * 7 + 8 * 121
    # Zero is nothing special where it does not map to zero.
    assert code_rows(SplineMap(), blocks(SPARSE - 1)).rows.features is None


def test_some_of_the_rows():
    rows = code_rows("chi2", blocks(X))
    chosen = np.array([5, 3, 100, 70, 71, 7, 8, 9, 10, 12])
    part = rows.take(chosen)
    assert len(part) == 10
    model = CodedSVC(C=10).fit(part, Y[chosen])
    expected = CodedSVC(C=10, levels=rows.levels).fit(
        rows.rows.codes.reshape(120, 7)[chosen], Y[chosen]
    )
    np.testing.assert_allclose(model.objective_, expected.objective_, rtol=1e-2)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.decision_function(part), scores[chosen])
    np.testing.assert_array_equal(model.decision_function(part.take([1, 0])), scores[[3, 5]])
    with pytest.raises(InputError, match=r"labels of shape \(120,\) for 10 rows: need one"):
        CodedSVC().fit(part, Y)


def test_bad_blocks():
    with pytest.raises(InputError, match="no samples"):
        code_rows("chi2", lambda: iter(()))
    with pytest.raises(InputError, match="blocks have 7 and 3 features"):
        code_rows("chi2", lambda: iter((X, X[:, :3])))
    bad = X.copy()
    bad[60, 2] = np.nan
    with pytest.raises(InputError, match=r"NaN or infinity \(the first at row 10, column 2\)"):
        code_rows("chi2", blocks(bad))


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


def test_what_is_refused_before_a_block_is_read():
    for model, message in (
        (CodedSVC(loss="hing"), "loss='hing': expected 'hinge'"),
        (CodedSVC(multiclass="one"), "multiclass='one': expected 'ovr'"),
        (CodedSVC(levels=[0, 1]), "levels=…: fit codes samples in blocks itself"),
    ):
        with pytest.raises(ConfigError, match=message):
            model.prepare_rows(None)
