"""Kernel matrices of sparse, odd and bad input, of every type and magnitude."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.polynomial.chebyshev import Chebyshev
from scipy import sparse

import kmaps
from kmaps._loops import distances, products
from kmaps.errors import ConfigError, InputError
from kmaps.gram_matrix import gram, squared_distance
from kmaps.kernels import GRAM_KERNELS, KERNELS
from tests.oracles import gram as oracle
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


def test_few_rows_against_many_and_sparse_against_dense_are_exact_transposes():
    # The loop walks whichever side is cheaper, so both ways give the same sums.
    X, Y = histograms(3, 50), histograms(200, 50, seed=1)
    assert np.array_equal(gram(X, Y), gram(Y, X).T)
    S = sparse.csr_array(histograms(200, 50, zeros=0.9))
    assert np.array_equal(gram(S, Y), gram(Y, S).T)


@pytest.mark.parametrize("kernel", GRAM_KERNELS)
def test_stored_zeros_are_zeros(kernel):
    X = histograms(6, 30)
    stored = sparse.csr_array(np.ones_like(X))
    stored.data[:] = X.ravel()
    stored.data[::7] *= np.where(X.ravel()[::7] == 0, -1, 1)  # some of them negative zeros
    assert stored.nnz == X.size
    expected = gram(sparse.csr_array(X), kernel=kernel)
    np.testing.assert_allclose(gram(stored, kernel=kernel), expected, rtol=1e-6)


def test_rows_without_a_value():
    X = np.zeros((3, 200), np.float32)
    X[1, 199] = 2
    for form in (np.asarray, sparse.csr_array):
        assert np.array_equal(gram(form(X)), np.diag([0, 2, 0]))
        assert np.array_equal(gram(form(X * 0)), np.zeros((3, 3)))
        assert np.array_equal(gram(form(X * 0), kernel="js", gamma=2.0), np.zeros((3, 3)))


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


@pytest.mark.parametrize("factor", [2.0**-140, 2.0**-100, 1e-20, 1e20, 1e35])
@pytest.mark.parametrize("name", KERNELS)
def test_any_common_magnitude(name, factor):
    X = histograms(5, 40, dtype=np.float64)
    got = gram(X * factor, kernel=name)
    # A result below 1e-38 has fewer digits; nothing else is lost.
    np.testing.assert_allclose(got, gram(X, kernel=name) * factor, rtol=1e-6, atol=1e-45)


def test_values_over_24_decades_in_one_row():
    # Pairs of terms share a denominator, which must hold the products of all of these.
    x = 10.0 ** np.arange(-23, 1)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, Y = rng.permutation(x)[None], rng.permutation(x)[None]
        expected = oracle.gram(X, Y, "chi2")
        np.testing.assert_allclose(gram(X, Y), expected, rtol=1e-6)


def test_extreme_float64():
    assert gram([[1e-300]]) == 0
    assert gram([[1e-300]], kernel="rbf", sigma=1.0) == 1
    assert gram([[1e200]], [[0.0]], kernel="exp-chi2", sigma=1.0) == 0
    assert gram([[1e-3], [0.0]], kernel="exp-chi2", sigma=1e-300).tolist() == [[1, 0], [0, 1]]


def of_kernel(z):
    return 2 / np.log(2) * np.arctanh(np.sqrt(z)) / np.sqrt(z)


def of_distance(z):
    w = np.sqrt(z)
    return (np.log1p(-z) + 2 * w * np.arctanh(w)) / (2 * z * np.log(2))


@pytest.mark.parametrize(
    ("ratio", "ours", "end", "error"),
    [
        (of_kernel, products.LOG2_RATIO, 1 / 9, 4.5e-9),
        (of_distance, distances.JS_RATIO, distances.NEAR, 3.5e-9),
    ],
)
def test_polynomials_of_js(ratio, ours, end, error):
    series = Chebyshev.interpolate(ratio, len(ours) - 1, domain=[0, end])
    polynomial = series.convert(kind=Polynomial, domain=[-1, 1])
    np.testing.assert_allclose(ours, polynomial.coef, atol=1e-9)
    z = np.linspace(1e-6, end, 10_001)
    assert np.max(np.abs(Polynomial(ours)(z) / ratio(z) - 1)) < error


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "chi"}, "unknown kernel 'chi', did you mean 'chi2'? (kernels: chi2, inters"),
        ({"kernel": "exp-chi"}, "unknown kernel 'exp-chi', did you mean 'exp-chi2'? (kernels: "),
        ({"gamma": 0}, "gamma=0: expected a positive number"),
        ({"gamma": float("nan")}, "gamma=nan: expected a positive number"),
        ({"gamma": "1"}, "gamma='1': expected a positive number"),
        ({"kernel": "exp-js", "sigma": "1"}, "sigma='1': expected a positive number"),
        ({"kernel": "rbf", "gamma": 2.0}, "kernel 'rbf' has no gamma, got 2.0"),
        ({"kernel": "rbf", "sigma": -1.0}, "sigma=-1.0: expected a positive number"),
        ({"sigma": 1.0}, "kernel 'chi2' has no sigma, only rbf and the exp- kernels do"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ConfigError) as caught:
        gram(GOOD, **options)
    assert str(caught.value).startswith(message)


def test_sigma_that_cannot_be_estimated():
    with pytest.raises(InputError, match="sigma cannot be estimated from equal rows"):
        gram(GOOD, kernel="exp-chi2")
    with pytest.raises(InputError, match="n_samples=1: sigma needs distances between"):
        gram(GOOD[:1], kernel="rbf")


def test_kernel_matrices_that_do_not_fit_are_refused(monkeypatch):
    memory = SimpleNamespace(available=4 * 60 * 7)
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    monkeypatch.setattr("kmaps.checks._LITTLE", 0)
    X = np.random.default_rng(0).random((60, 5), np.float32)
    with pytest.raises(InputError, match=r"^60 rows of 60 kernel values take .* 7 rows at a time"):
        gram(X)
    memory.available = 32 * 10**2
    with pytest.raises(InputError, match=r"^the kernel matrix of 20 landmarks .*n_landmarks=10 wo"):
        kmaps.LandmarkMap(n_landmarks=20, sigma=1.0).fit(X)


def test_the_jitter_of_landmarks_is_reported(monkeypatch):
    monkeypatch.setattr("kmaps.models.landmarks.exponential", lambda *_: np.diag([1, 1, -3e-6]))
    with pytest.warns(UserWarning, match="positive definite on the landmarks: 1e-05 was added to"):
        found = kmaps.LandmarkMap(n_landmarks=3).fit(np.random.default_rng(0).random((9, 2)))
    assert found.jitter_ == pytest.approx(1e-5)
