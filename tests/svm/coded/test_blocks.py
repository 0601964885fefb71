"""Rows coded block by block: the same machines as from a whole matrix; C along its path."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.model_selection import StratifiedKFold

from kmaps import AnchorMap, CodedSVC, HomogeneousMap, SplineMap
from kmaps.errors import InputError
from kmaps.svm import code_rows, cross_validate

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


def blocks(samples, rows=50):
    """Yield blocks as a reader does: in one buffer, which the next block overwrites."""

    def read():
        buffer = np.empty((rows, samples.shape[1]), samples.dtype)
        for start in range(0, samples.shape[0], rows):
            part = samples[start : start + rows]
            if isinstance(part, np.ndarray):
                buffer[: len(part)] = part
                part = buffer[: len(part)]
            yield part

    return read


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize(
    "samples",
    [
        *(X, SPARSE, csr_matrix(SPARSE), X - 1, csr_matrix(SPARSE - (SPARSE > 3))),
        *((20 * X).astype(np.uint8), (5 * X).astype(int)),
    ],
    ids=["dense", "zeros", "csr", "signed", "signed csr", "bytes", "integers"],
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
    with pytest.raises(InputError, match=r"labels of shape \(120,\) for 10 coded rows"):
        CodedSVC().fit(part, Y)


def test_bad_blocks():
    with pytest.raises(InputError, match="no samples"):
        code_rows("chi2", lambda: iter(()))
    with pytest.raises(InputError, match="a block of 3 features after one of 7"):
        code_rows("chi2", lambda: iter((X, X[:, :3])))
    bad = X.copy()
    bad[60, 2] = np.nan
    with pytest.raises(InputError, match=r"NaN or infinity \(the first at row 10, column 2\)"):
        code_rows("chi2", blocks(bad))


def test_cross_validation_leaves_each_fold_out_once():
    """Against machines trained on their own, cold, on the folds' own copies."""
    rows, grid, seen = code_rows("chi2", blocks(X)), [0.01, 1.0, 100.0], []
    fold = np.empty(len(Y), int)
    for k, (_, test) in enumerate(StratifiedKFold(3).split(X, Y)):
        fold[test] = k
    model = CodedSVC(tol=1e-5)
    found = cross_validate(model, rows, Y, grid, fold, lambda *at: seen.append(at))
    codes = rows.rows.codes.reshape(120, 7)
    for C, accuracy in zip(grid, found, strict=True):
        right = 0
        for k in range(3):
            alone = CodedSVC(C=C, tol=1e-5, levels=rows.levels)
            alone.fit(codes[fold != k], Y[fold != k])
            right += np.sum(alone.predict(codes[fold == k]) == Y[fold == k])
        assert accuracy == pytest.approx(right / 120, abs=1.5 / 120)
    assert max(found) > min(found) + 0.1
    assert seen == [(i, 9) for i in range(1, 10)]
    assert model.C == 1.0
