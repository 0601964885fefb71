"""Kernel matrices against three plain loops, scikit-learn, and their own symmetries."""

import itertools
import warnings
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import kmaps
from kmaps import KernelSVC, gram_sums
from kmaps._loops import entries as loops
from kmaps.errors import ColumnNote
from kmaps.gram_matrix import gram, mean_squared_distance, quick_gram, squared_distance
from kmaps.kernels import GRAM_KERNELS, KERNELS
from tests.oracles import gram as oracle
from tests.samples import histograms

LOOPED = ["chi2", "intersection", "js"]
ADDITIVE = [*LOOPED, "hellinger"]


def relative_error(got, expected, X, Y, gamma=1.0):
    """Return the largest error in units of √(K(x,x)·K(y,y)), the largest a kernel can be."""
    own = [(np.abs(np.asarray(a, float)) ** gamma).sum(axis=1) for a in (X, Y)]
    return np.max(np.abs(got - expected) / np.sqrt(np.outer(*own)))


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("name", ADDITIVE)
def test_additive_kernels(name, gamma, signed):
    X, Y = histograms(7, 150), histograms(9, 150, seed=1)
    if signed:
        X[:, ::3] *= -1
        Y[:, ::2] *= -1
    got = gram(X, Y, kernel=name, gamma=gamma)
    assert got.dtype == np.float32
    expected = oracle.gram(X, Y, name, gamma)
    # Measured: 1.4e-7.
    assert relative_error(got, expected, X, Y, gamma) < 4e-7


TILE = loops.LANES


@pytest.mark.parametrize("n_features", [1, 2, 3, 95, 96, 97, 193])
@pytest.mark.parametrize("shape", [(1, 1), (1, TILE), (TILE - 1, TILE + 1), (2 * TILE + 1, 3)])
def test_sizes_around_the_borders_of_tiles_and_chunks(shape, n_features):
    X, Y = histograms(shape[0], n_features, 0.2), histograms(shape[1], n_features, 0.2, seed=1)
    for name in LOOPED:
        expected = KERNELS[name](X[:, None], Y[None]).sum(axis=2)
        # Measured: 5.4e-7, for the few terms of a single feature.
        np.testing.assert_allclose(gram(X, Y, kernel=name), expected, rtol=1e-6)
        symmetric = KERNELS[name](X[:, None], X[None]).sum(axis=2)
        np.testing.assert_allclose(gram(X, kernel=name), symmetric, rtol=1e-6)


def rows_near_each_other(dtype, difference):
    """Return rows, some zeros in them, and others beside them: nearer and farther away."""
    X = histograms(3, 12, 0.4, dtype=dtype)
    near = X * dtype(1 + difference)
    near[0, 0], near[1, 3] = X[0, 0], 3 * X[1, 3]
    near[2, np.flatnonzero(X[2] == 0)[0]] = 1e-9
    return X, np.vstack([near, X[:1] * dtype(0.99), histograms(1, 12, 0.8, seed=1, dtype=dtype)])


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ADDITIVE)
def test_distances_of_near_rows_have_all_digits(name, dtype, gamma):
    # Powers are rounded to float64, so that rows must differ by more than that; values are not.
    powers = name == "hellinger" or gamma != 1
    difference = 1e-9 if powers and dtype is np.float64 else 4 * np.finfo(dtype).eps
    X, Y = rows_near_each_other(dtype, difference)
    X[:, ::3] *= -1
    Y[:-1, ::3] *= -1
    # Measured: 2.2e-7; a row of 1e30, and one of 1e-20, take nothing from the others.
    for far in (0, 1e30 ** min(1, 1 / gamma), 1e-20):
        rows = np.vstack([X, far * X[:1]]) if far else X
        expected = oracle.exact_distance(rows, Y, name, gamma)
        got = squared_distance(rows, Y, kernel=name, gamma=gamma)
        assert 0 < expected.min() < 3e-7 * expected.max()
        tiny = 1.2e-38  # below, float32 has fewer digits
        np.testing.assert_allclose(got, expected, rtol=6e-7, atol=tiny * 1e-6)


@pytest.mark.parametrize("zeros", [0.2, 0.9, 0.995])
@pytest.mark.parametrize("name", [*ADDITIVE, "linear"])
def test_zeros_of_either_row_count(name, zeros):
    X, Y = histograms(5, 700, zeros), histograms(40, 700, zeros, seed=1)
    expected = oracle.squared_distance(X, Y, name)
    # Stored zeros change nothing, also not how sums are cut.
    stored = gram(sparse.csr_array(X), sparse.csr_array(Y), kernel=name)
    assert name in ("hellinger", "linear") or (gram(X, Y, kernel=name) == stored).all()
    for of_x, of_y in ((np.asarray, np.asarray), (sparse.csr_array, sparse.csr_array)):
        # Measured: 3e-7.
        got = squared_distance(of_x(X), of_y(Y), kernel=name)
        np.testing.assert_allclose(got, expected, rtol=1e-6)
        np.testing.assert_allclose(
            squared_distance(of_y(Y), of_x(X), kernel=name), expected.T, rtol=1e-6
        )


@pytest.mark.parametrize("name", [*(f"exp-{name}" for name in ADDITIVE), "rbf"])
def test_quick_exponential_kernels(name, monkeypatch):
    """Differences at any width, also of rows that are equal or nearly so, or much longer."""
    X = histograms(62, 100)  # too few rows for matrix products
    X[[5, 40, 60]] = X[0], X[0], X[0] * np.float32(1 + 1e-6)
    longer = np.geomspace(0.1, 1e4, len(X), dtype=np.float32)[:, None] * X
    own = (X.astype(float) ** (2 if name == "rbf" else 1)).sum(axis=1).max()
    base = "linear" if name == "rbf" else name.removeprefix("exp-")
    made, used = gram_sums._Differences.__init__, []
    monkeypatch.setattr(
        gram_sums._Differences, "__init__", lambda *given: used.append(given[-1]) or made(*given)
    )
    exact = [(rows, oracle.squared_distance(rows, X, base)) for rows in (X, longer)]
    widths = (0.2, 8, 30, 1e3, 1e9)  # in K(x, x)
    for width, form in itertools.product(widths, (np.asarray, sparse.csr_array)):
        sigma = (own / width) ** 0.5
        found = quick_gram(form(X), kernel=name, sigma=sigma)
        np.testing.assert_array_equal(found, found.T)
        for rows, squared in exact:
            found = quick_gram(form(rows), form(X), kernel=name, sigma=sigma)
            np.testing.assert_allclose(found, np.exp(-squared / sigma**2 / 2), atol=2e-6)
        assert (quick_gram(form(X), form(X), kernel=name, sigma=sigma).diagonal() == 1).all()
    assert len(used) == 40
    assert 0 < max(used) < 0.05


@pytest.mark.parametrize("name", ["rbf", "exp-hellinger"])
@pytest.mark.parametrize("narrow", [1.0, 0.01])  # in single precision, and in double
def test_matrix_products_of_dense_rows(name, narrow, monkeypatch):
    """Far from the origin, nearly equal rows, and long rows: as near as the exponential needs."""
    far = 0.0 if name == "exp-hellinger" else 1e4
    X, Y = (far + np.random.default_rng(seed).random((300, 1500)) for seed in (0, 1))
    X[:9] = Y[:9] + 1e-5
    squared = cdist(*((X, Y) if far else np.sqrt((X, Y))), "sqeuclidean")
    sigma = (narrow * squared[10:, 10:].mean()) ** 0.5
    made, single = gram_sums._Squares.pack, []
    monkeypatch.setattr(
        gram_sums._Squares, "pack", lambda of, rows: single.append(of.single) or made(of, rows)
    )
    found = quick_gram(X, Y, kernel=name, sigma=sigma)
    assert single[-1] == (narrow == 1)
    np.testing.assert_allclose(found, np.exp(-squared / sigma**2 / 2), atol=2e-6)
    own = quick_gram(X, kernel=name, sigma=sigma)
    np.testing.assert_array_equal(own, own.T)
    assert (own.diagonal() == 1).all()
    for few in (X[:200], sparse.csr_array(X), X * (np.quantile(X, 0.8) < X)):
        single.clear()
        quick_gram(few, Y, kernel=name, sigma=sigma)
        assert not single


@pytest.mark.parametrize("step", [1.0, 1 / 255])
def test_rows_of_bytes(step, monkeypatch):
    """Their kernel and distances of intersection are whole numbers of the step."""
    X, Y = (np.random.default_rng(seed).integers(0, 256, (300, 70)) for seed in (0, 1))
    squared, used, sums = cdist(X, Y, "cityblock"), [], gram_sums.byte_distances
    monkeypatch.setattr(gram_sums, "byte_distances", lambda *of: used.append(1) or sums(*of))
    rows = [(of * step).astype(np.float32) for of in (X, Y)]
    quick = partial(quick_gram, kernel="exp-intersection", sigma=90 * step**0.5)
    np.testing.assert_allclose(quick(*rows), np.exp(-squared / 90**2 / 2), atol=1e-7)
    np.testing.assert_array_equal(quick(rows[0]), quick(rows[0], rows[0]))
    assert used
    used.clear()
    values = np.minimum(X[:, None], Y).sum(axis=2)
    np.testing.assert_allclose(gram(*rows, kernel="intersection"), values * step, rtol=2e-6)
    np.testing.assert_allclose(
        squared_distance(*rows, kernel="intersection"), squared * step, rtol=2e-5 * (step < 1)
    )
    assert bool(used) == (step == 1)  # else the last digits of the numbers count
    used.clear()
    for other in (sparse.csr_array(rows[1]), *(rows[1] + step * off for off in (-1, 0.5, 1))):
        quick(rows[0], other)
    quick(*(of * (of > 254 * step) for of in rows))  # nearly empty
    assert not used
    centres = kmaps.LandmarkMap("exp-intersection", 20).fit(rows[0]).landmarks_ / step
    np.testing.assert_allclose(centres, np.rint(centres), rtol=1e-6)


@pytest.mark.parametrize("kernel", ["exp-chi2", "rbf"])
def test_default_sigma(kernel):
    X, Y = histograms(30, 20), histograms(10, 20, seed=1)
    squared = squared_distance(X, kernel=kernel)
    mean = squared.sum(dtype=float) / (30 * 29)
    assert mean_squared_distance(X, kernel=kernel) == pytest.approx(mean, rel=1e-6)
    assert np.array_equal(gram(X, kernel=kernel), gram(X, kernel=kernel, sigma=mean**0.5))
    # Of X alone, whatever Y is.
    assert np.array_equal(gram(X, Y, kernel=kernel), gram(X, Y, kernel=kernel, sigma=mean**0.5))


@pytest.mark.parametrize("kernel", GRAM_KERNELS)
@pytest.mark.parametrize("n", [1, 63, 65, 200])
def test_without_y_the_matrix_is_exactly_symmetric(kernel, n):
    X = histograms(n, 33)
    sigma = None if kernel in KERNELS or kernel == "linear" else 2.0
    got = gram(X, kernel=kernel, sigma=sigma)
    assert np.array_equal(got, got.T)
    same = gram(X, X.copy(), kernel=kernel, sigma=sigma)
    np.testing.assert_allclose(got, same, rtol=1e-6)  # measured: 3.6e-7
    own = np.float64(X) ** (2 if kernel == "linear" else 1)
    diagonal = np.float32(1) if sigma else own.sum(axis=1).astype(np.float32)
    assert np.all(np.diag(got) == diagonal)


@pytest.mark.parametrize("kernel", GRAM_KERNELS)
def test_number_of_threads_changes_no_digit(kernel):
    X, Y = histograms(500, 90), histograms(300, 90, seed=1)
    with kmaps.threads(1):
        one = gram(X, kernel=kernel), gram(X, Y, kernel=kernel)
    with kmaps.threads(2):
        two = gram(X, kernel=kernel), gram(X, Y, kernel=kernel)
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


TIMES = 1.7e9 + np.random.default_rng(0).normal(0, 10, 60)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize(
    ("kernel", "column"), [("linear", 1e6), ("chi2", 1e8), ("chi2", TIMES), ("intersection", 1e30)]
)
def test_a_column_that_leaves_no_digits_of_the_others_is_named(kernel, column, container):
    counts = np.random.default_rng(1).poisson(20, (60, 4)).astype(float)
    spoilt = container(np.insert(counts, 2, column, axis=1))
    with pytest.warns(ColumnNote, match="because of column 2"):
        KernelSVC(kernel).fit(spoilt, np.arange(60) % 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gram(np.insert(counts, 2, 1e3, axis=1), kernel=kernel)
        gram(np.ones((60, 4)), kernel=kernel)
        counts[5, 2] = 1e15
        gram(counts, kernel=kernel)
        gram(spoilt, kernel="rbf", sigma=10.0)
