"""Storage: what a method has to keep, counted by hand."""

import numpy as np
import pytest
from scipy import sparse

from kmaps import AnchorMap, HomogeneousMap, IntersectionMap, SplineMap
from kmaps.bench.work.storage import _csr, local_map, storage, stored_codes, stored_rows


def full(n, m):
    """Return rows without zeros and without equal values."""
    return np.arange(1, n * m + 1, dtype=np.float32).reshape(n, m)


def thin(n, m, every):
    """Return rows of which one value in ``every`` is not zero, these all different."""
    rows = full(n, m)
    rows[rows % every != 0] = 0
    return rows


def stored(rows):
    found = stored_rows(rows)
    return found.nbytes, found.form


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_rows_are_dense_or_csr_whichever_is_smaller(form):
    assert stored(form(full(100, 40))) == (100 * 40 * 4, "dense float32")
    assert stored(form(thin(100, 40, 4))) == (1000 * (4 + 4) + 101 * 4, "CSR float32")
    assert stored(form(full(100, 40).astype(float))) == (100 * 40 * 8, "dense float64")
    assert _csr(9, 1 << 32, 4, "float32").nbytes == (1 << 32) * (4 + 8) + 10 * 8


def test_rows_of_few_values_are_codes_and_the_values():
    few = (np.arange(4000) % 256).astype(np.float32).reshape(100, 40)
    assert stored(few) == (4000 + 256 * 4, "8-bit codes")
    assert stored(few[:, :30])[1] == "8-bit codes"
    more = few.copy()
    more[0, 0] = 0.5
    assert stored(more) == (4000 * 4, "dense float32")
    rare = np.ceil(thin(100, 40, 40) / 400)  # 100 values from 1 to 10
    assert stored(rare) == (100 * (1 + 4) + 101 * 4 + 11 * 4, "CSR codes")
    assert stored(sparse.csr_matrix(rare)) == stored(rare)
    # Zeros that a CSR does not store are a value too.
    three = sparse.csr_matrix(np.where(few < 180, 0, few // 40).reshape(400, 10))
    assert stored(three) == (4000 * 2 // 8 + 4 * 4, "2-bit codes")


def test_a_value_that_comes_late_is_seen():
    rows = np.zeros((1 << 11, 1 << 10), np.float32)
    rows[:, ::2] = 1
    assert stored(rows) == ((1 << 21) // 8 + 2 * 4, "1-bit codes")
    rows[-1, -1] = 2
    assert stored(rows) == ((1 << 21) // 4 + 3 * 4, "2-bit codes")


def counted(feature_map, x):
    feature_map.fit(x)
    return storage(x, feature_map, feature_map.transform(x), 11)


@pytest.fixture(scope="module")
def histograms():
    x = np.random.default_rng(0).random((200, 30), np.float32)
    return x / x.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("feature_map", "n_splines"),
    [(IntersectionMap(n_bins=20), 2), (SplineMap(n_bins=20, degree=3, penalty=1), 4)],
)
def test_bins_and_splines_are_the_few_that_differ_from_zero(histograms, feature_map, n_splines):
    found = counted(feature_map, histograms)
    assert found["storage_form"] == "CSR B-splines"
    most = 200 * 30 * n_splines * 8 + 201 * 4
    assert most * 0.95 < found["train_bytes"] <= most  # in the first bin there is one hat
    assert found["paper_train_bytes"] is None


def test_what_is_stored_of_bins_gives_the_rows_that_the_learner_reads(histograms):
    unary = IntersectionMap(n_bins=20).fit(histograms)
    hats = local_map(unary).fit_transform(histograms).toarray().reshape(-1, 20)
    above = hats[:, ::-1].cumsum(axis=1)[:, ::-1] / 20**0.5  # all hats from each knot on
    rows = unary.transform(histograms).reshape(-1, 20)
    np.testing.assert_allclose(above, rows, atol=1e-6)


def test_codes_of_a_map_are_counted_with_its_tables(histograms):
    found = counted(AnchorMap(n_anchors=30, shared=True, rank=1), histograms)
    assert found["storage_form"] == "5-bit codes"
    assert found["train_bytes"] == 200 * 30 * 5 // 8
    assert found["paper_train_bytes"] is None  # the same
    assert found["table_bytes"] == 4 * (30 + 30)
    assert found["storage_bytes"] == 200 * 30 * 5 // 8 + 4 * 60 + 11
    codes = np.eye(50, dtype=np.uint8)
    for form in (np.asarray, sparse.csr_matrix):
        assert stored_codes(form(codes), 8).nbytes == 50 * 5 + 51 * 4


def test_the_paper_counts_sixteen_bits_an_output_and_k_codes(histograms):
    found = counted(HomogeneousMap(order=1), histograms)
    assert (found["train_bytes"], found["storage_form"]) == (200 * 90 * 4, "dense float32")
    assert found["paper_train_bytes"] == 200 * 90 * 2
    found = counted(AnchorMap(n_anchors=40, n_neighbors=2, shared=True), histograms)
    assert found["train_bytes"] == 200 * 30 * 6 // 8
    assert found["paper_train_bytes"] == 200 * 30 * 12 // 8
