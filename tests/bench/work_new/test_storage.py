"""Storage against what is written: every form goes to a file and comes back without loss."""

import io

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from kmaps import AnchorMap, HomogeneousMap, SignCauchyMap
from kmaps.bench.work_new.storage import (
    paper_code_bytes,
    paper_map_bytes,
    stored_codes,
    stored_rows,
)

HEADER = 128  # of an .npy


def written(**arrays):
    """Write arrays as .npy, one after the other; return their bytes without headers, and them."""
    file = io.BytesIO()
    for array in arrays.values():
        np.save(file, array)
    size = file.tell() - HEADER * len(arrays)
    file.seek(0)
    return size, {name: np.load(file) for name in arrays}


def pack(codes, bits):
    """Pack codes of some bits each, the highest first."""
    each = np.unpackbits(codes.reshape(-1, 1), axis=1)[:, 8 - bits :]
    return np.packbits(each)


def unpack(packed, shape, bits):
    each = np.unpackbits(packed, count=np.prod(shape) * bits).reshape(-1, bits)
    padded = np.pad(each, ((0, 0), (8 - bits, 0)))
    return np.packbits(padded, axis=1).reshape(shape)


def by_values(rows, bits):
    """Write rows as codes of their distinct values; return the bytes and what comes back."""
    values, codes = np.unique(rows, return_inverse=True)
    size, back = written(values=values, packed=pack(codes.astype(np.uint8), bits))
    return size, back["values"][unpack(back["packed"], rows.shape, bits)]


def as_csr(rows, data):
    sparse = csr_matrix(rows)
    size, back = written(data=data(sparse.data), indices=sparse.indices, indptr=sparse.indptr)
    return size, back


@pytest.fixture
def real():
    return np.random.default_rng(0).random((40, 30)).astype(np.float32) + 0.1


def test_rows_without_zeros_are_dense(real):
    size, back = written(rows=real)
    assert stored_rows(real).form == "dense float32"
    assert stored_rows(real).nbytes == size == real.nbytes
    np.testing.assert_array_equal(back["rows"], real)


def test_rows_with_zeros_are_csr(real):
    rows = np.where(real > 0.8, real, 0).astype(np.float32)
    size, back = as_csr(rows, lambda data: data)
    assert stored_rows(rows).form == "CSR float32"
    assert stored_rows(rows).nbytes == size < rows.nbytes
    restored = csr_matrix((back["data"], back["indices"], back["indptr"]), rows.shape)
    np.testing.assert_array_equal(restored.toarray(), rows)


@pytest.mark.parametrize("kind", [csr_matrix, csr_array])
def test_sparse_and_dense_rows_count_the_same(kind, real):
    for least in (0.0, 0.4, 0.8):
        rows = np.where(real > least, real, 0).astype(np.float32)
        assert stored_rows(kind(rows)) == stored_rows(rows)
    few = np.round(np.where(real > 0.8, real, 0), 1).astype(np.float32)
    assert stored_rows(kind(few)) == stored_rows(few)


def test_stored_zeros_are_not_counted(real):
    rows = csr_matrix(real)
    rows.data[::2] = 0
    assert stored_rows(rows) == stored_rows(rows.toarray())


def test_signs_of_projections_are_bits():
    rows = np.random.default_rng(1).random((50, 30)).astype(np.float32)
    signs = SignCauchyMap(n_projections=333).fit_transform(rows)
    size, back = by_values(signs, 1)
    stored = stored_rows(signs)
    assert stored.form == "codes of 1 bit"
    assert stored.nbytes == size == -(-50 * 333 // 8) + 2 * 4
    np.testing.assert_array_equal(back, signs)


def test_grey_values_are_bytes():
    grey = np.random.default_rng(2).permutation(np.arange(10_240) % 256).reshape(64, 160)
    rows = (grey / 255).astype(np.float32)
    size, back = by_values(rows, 8)
    assert (stored_rows(rows).form, stored_rows(rows).nbytes) == ("codes of 8 bits", size)
    np.testing.assert_array_equal(back, rows)
    one_more = rows.copy()
    one_more[0, 0] = 2  # 257 values
    assert stored_rows(one_more).form == "dense float32"


def test_few_grey_values_that_are_not_zero_are_listed_bytes():
    rng = np.random.default_rng(3)
    rows = (rng.integers(0, 256, (200, 300)) * (rng.random((200, 300)) < 0.1) / 255).astype(
        np.float32
    )
    values = np.unique(rows)
    size, back = as_csr(rows, lambda data: np.searchsorted(values, data).astype(np.uint8))
    stored = stored_rows(rows)
    assert (stored.form, stored.nbytes) == ("CSR codes", size + values.nbytes)
    restored = csr_matrix((values[back["data"]], back["indices"], back["indptr"]), rows.shape)
    np.testing.assert_array_equal(restored.toarray(), rows)


def test_codes_of_anchors_are_packed():
    rows = np.random.default_rng(4).random((60, 21))
    for n_neighbors, n_codes in ((1, 20), (2, 19)):
        encoder = AnchorMap(n_anchors=20, n_neighbors=n_neighbors, shared=True).fit(rows)
        codes = encoder.to_codes(rows)
        bits = encoder.code_bits_
        size, back = written(packed=pack(codes, bits))
        stored = stored_codes(*codes.shape, np.count_nonzero(codes), n_codes)
        assert (stored.form, stored.nbytes) == (f"codes of {bits} bits", size)
        np.testing.assert_array_equal(unpack(back["packed"], codes.shape, bits), codes)


@pytest.mark.parametrize("index", [np.int32, np.uint16])
def test_few_codes_are_listed(index):
    rng = np.random.default_rng(5)
    codes = (rng.integers(1, 30, (80, 500)) * (rng.random((80, 500)) < 0.02)).astype(np.uint8)
    sparse = csr_matrix(codes)
    size, _ = written(data=sparse.data, indices=sparse.indices.astype(index), indptr=sparse.indptr)
    stored = stored_codes(80, 500, sparse.nnz, 30, np.dtype(index).itemsize)
    assert (stored.form, stored.nbytes) == ("CSR codes", size)


def test_the_smallest_form_counts_on_either_side_of_a_tie():
    n, m = 100, 100
    packed = n * m * 5 // 8
    even = (packed - (n + 1) * 4) // 5
    assert stored_codes(n, m, even, 30).form == "CSR codes"
    assert stored_codes(n, m, even + 1, 30).form == "codes of 5 bits"


def test_codes_against_the_homogeneous_map_on_pixels():
    """A fifth of the pixels: five bits each against three floats with their columns."""
    rng = np.random.default_rng(6)
    pixels = rng.integers(1, 256, (300, 784)) * (rng.random((300, 784)) < 0.19) / 255
    encoded = HomogeneousMap(order=1).fit_transform(pixels.astype(np.float32))
    stored = stored_rows(encoded)
    assert stored.form == "CSR float32"
    codes = stored_codes(300, 784, np.count_nonzero(pixels), 30)
    assert codes.form == "codes of 5 bits"
    assert stored.nbytes / codes.nbytes == pytest.approx(3 * 8 * 0.19 / (5 / 8), rel=0.05)


def test_empty_rows_have_a_form():
    assert stored_rows(np.zeros((0, 5), np.float32)).nbytes == 0
    assert stored_rows(np.zeros((4, 5), np.float32)).nbytes <= 3 + 4


def test_accounting_of_the_paper():
    assert paper_map_bytes(3 * 1000) / paper_code_bytes(1000, 30) == pytest.approx(
        6.7 / 0.7, rel=0.01
    )
    assert paper_code_bytes(1000, 50) == 750
    assert paper_code_bytes(1000, 50, 2) == 1500
