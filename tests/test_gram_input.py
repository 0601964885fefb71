"""Kernel matrices of sparse, odd and bad input, of every type and magnitude."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import kmaps
from kmaps.errors import InputError
from kmaps.gram_matrix import gram, squared_distance
from kmaps.kernels import GRAM_KERNELS, KERNELS
from tests.samples import histograms

FORMS = [np.asarray, sparse.csr_matrix, sparse.csr_array, sparse.csc_array, np.asfortranarray]


@pytest.mark.parametrize("of_x", FORMS)
@pytest.mark.parametrize("kernel", GRAM_KERNELS)
def test_dense_and_sparse_agree(kernel, of_x):
    X, Y = histograms(70, 300, zeros=0.9), histograms(40, 300, zeros=0.8, seed=1)
    X[:, 1::2] *= -1
    expected = gram(X, Y, kernel=kernel)
    for of_y in FORMS:
        got = gram(of_x(X), of_y(Y), kernel=kernel)
        assert type(got) is np.ndarray
        assert got.flags.c_contiguous
        # Measured: 2.4e-7; other chunks of features, so another order of summation.
        np.testing.assert_allclose(got, expected, rtol=0, atol=7e-7)
    own = gram(of_x(X), kernel=kernel)
    np.testing.assert_allclose(own, gram(X, kernel=kernel), rtol=4e-7, atol=7e-7)


@pytest.mark.parametrize("kernel", GRAM_KERNELS)
def test_stored_zeros_are_zeros(kernel):
    X = histograms(6, 30)
    stored = sparse.csr_array(np.ones_like(X))
    stored.data[:] = X.ravel()
    stored.data[::7] *= np.where(X.ravel()[::7] == 0, -1, 1)  # some of them negative zeros
    assert stored.nnz == X.size
    expected = gram(sparse.csr_array(X), kernel=kernel)
    np.testing.assert_allclose(gram(stored, kernel=kernel), expected, rtol=1e-6)


def test_csr_that_is_not_canonical():
    # Row 0 holds (5, 0, 200 + 100), unsorted and with a duplicate; row 1 holds (0, 1, 0).
    parts = np.array([200, 5, 100, 1], np.uint8), np.array([2, 0, 2, 1]), np.array([0, 3, 4])
    X = sparse.csr_matrix(parts, shape=(2, 3))
    Y = np.array([[5, 1, 300], [1, 1, 1]])
    expected = gram(np.array([[5, 0, 300], [0, 1, 0]]), Y, kernel="intersection")
    assert np.array_equal(gram(X, Y, kernel="intersection"), expected)
    assert X.data.tolist() == [200, 5, 100, 1]
    assert np.array_equal(gram(X.tocoo(), Y, kernel="intersection"), expected)


@pytest.mark.parametrize(
    "dtype", [bool, np.uint8, np.int8, np.int64, np.uint64, np.float16, np.float64, np.longdouble]
)
@pytest.mark.parametrize("kernel", ["chi2", "js", "linear", "rbf"])
def test_dtypes(kernel, dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2 if dtype is bool else 120, (20, 30)).astype(dtype)
    expected = gram(X.astype(np.float32), kernel=kernel)
    got = gram(X, kernel=kernel)
    assert got.dtype == np.float32
    assert np.array_equal(got, expected)
    X.flags.writeable = False
    turned = gram(X[::-1, ::-1], kernel=kernel)
    np.testing.assert_allclose(turned, expected[::-1, ::-1], rtol=1e-6)


def test_lists_and_small_integers_do_not_wrap():
    X = np.array([[250, 250]], np.uint8)
    assert gram(X, kernel="intersection") == 500
    assert gram(X, kernel="linear") == 125_000
    assert gram([[1, 3, 0]], [[1, 1, 5]]) == 2.5


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tiny_values_beside_large_ones(name, gamma, dtype):
    smallest = np.finfo(dtype).smallest_subnormal
    values = [0, smallest, 1e-40, 1e-38, 1e-30, 1e-20, 1e-10, 1e-5, 1, 1e5]
    X = np.array(values, dtype)[:, None] * np.array([[1, 1, 0.5]], dtype)
    X = np.vstack([X, X[::-1], np.diag([1e5, 1e-30, 1e-44]).astype(dtype)])
    got = gram(X, X.copy(), kernel=name, gamma=gamma)
    assert np.isfinite(got).all()
    expected = KERNELS[name](X[:, None].astype(float), X[None], gamma).sum(axis=2)
    # Below 1e-38, float32 has fewer digits.
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-44)
    assert np.isfinite(squared_distance(X, kernel=name, gamma=gamma)).all()
    assert np.isfinite(gram(X, kernel=f"exp-{name}", gamma=gamma, sigma=1e-3)).all()


def test_no_temporary_beyond_blocks():
    X = histograms(3000, 8)
    gram(X[:10], kernel="exp-chi2")
    tracemalloc.start()
    try:
        with kmaps.threads(2):
            out = gram(X, kernel="exp-chi2", sigma=1.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Measured: 25 MB beside a result of 36 MB, which would take 72 MB as float64.
    assert peak - out.nbytes < 40e6


GOOD = np.ones((2, 3))


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        (np.ones(3), None, "X: expected a matrix (samples × features), got shape (3,)"),
        (GOOD, np.ones((1, 2, 3)), "Y: expected a matrix (samples × features), got shape "),
        (GOOD, np.ones((2, 4)), "X has 3 features and Y has 4: give equal widths"),
        (GOOD, sparse.csr_array((2, 4)), "X has 3 features and Y has 4: give equal widths"),
        (np.ones((0, 3)), None, "X: expected samples and features, got shape (0, 3)"),
        (GOOD, np.ones((3, 0)), "Y: expected samples and features, got shape (3, 0)"),
        ([[1, 2], [3]], None, "X: its rows have different lengths, expected a matrix"),
        ([["a", "b"]], None, "X: expected real numbers, got dtype <U1"),
        ([[1j, 2]], None, "X: expected real numbers, got dtype complex128"),
        ([[None, 1]], None, "X: contains NaN or infinity"),
        ([[1.0, np.nan]], None, "X: contains NaN or infinity, remove or replace them first"),
        (GOOD, [[1.0, -np.inf, 2]], "Y: contains NaN or infinity, remove or replace them first"),
        (sparse.csr_matrix([[0, np.nan]]), None, "X: contains NaN or infinity, remove or replace"),
        (GOOD * 1e38, None, "values as large as 1e+38 overflow the kernel matrix: scale the data"),
        (GOOD, GOOD * 1e300, "values as large as 1e+300 overflow the kernel matrix: scale the"),
    ],
)
def test_bad_data(X, Y, message):
    with pytest.raises(InputError) as caught:
        gram(X, Y)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_csr_that_points_outside_is_refused_before_any_loop():
    X = sparse.csr_array(np.ones((2, 3)))
    X.indices[0] = 1_000_000
    with pytest.raises(InputError, match="X: not a valid CSR matrix"):
        gram(X)
