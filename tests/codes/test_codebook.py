"""Codes against the nearest level found by trying all; the range; columns of sparse matrices."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from kmaps import threads
from kmaps.codes.codebook import Codebook, _Bucketed, _Sorted
from kmaps.codes.levels import Columns
from kmaps.errors import InputError
from tests.oracles.anchors import nearest

RNG = np.random.default_rng(0)
EQUAL = np.linspace(0, 1, 9)
UNEQUAL = np.array([0, 0.1, 0.15, 0.5, 0.9, 1])
ROOTS = EQUAL**2
MANY = np.sort(RNG.random(256))


def one(levels, window=1):
    return Codebook(levels[None, :], levels[:1], levels[-1:], window)


@pytest.mark.parametrize("levels", [EQUAL, UNEQUAL, ROOTS, MANY, UNEQUAL[:1]], ids=range(5))
@pytest.mark.parametrize("window", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_code_is_that_of_the_nearest_levels(levels, window, dtype):
    X = np.random.default_rng(1).random((300, 5)).astype(dtype)
    X = np.clip(X, levels[0], levels[-1])
    codes = one(levels, window).to_codes(X, "it")
    expected = nearest(X.ravel(), levels, min(window, len(levels)))[:, 0]
    np.testing.assert_array_equal(codes.ravel(), expected)
    assert codes.dtype == np.uint8


TENTHS = np.arange(11) / 10


@pytest.mark.parametrize("levels", [EQUAL, TENTHS, UNEQUAL, ROOTS], ids=range(4))
def test_float32_has_the_code_of_its_float64(levels):
    halfway = ((levels[1:] + levels[:-1]) / 2).astype(np.float32)
    near = np.r_[halfway, np.nextafter(halfway, 2), np.nextafter(halfway, -2)][:, None]
    book = one(levels)
    codes = book.to_codes(near, "it")[:, 0]
    np.testing.assert_array_equal(codes, book.to_codes(near.astype(float), "it")[:, 0])
    reached = near.astype(float) >= (levels[1:] + levels[:-1]) / 2
    np.testing.assert_array_equal(codes, reached.sum(axis=1))


@pytest.mark.parametrize("levels", [UNEQUAL, ROOTS, np.linspace(0, 30, 256) ** 2], ids=range(3))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_buckets_find_what_the_search_finds(levels, dtype):
    book = one(levels)
    search = book.fastest_search(dtype)
    assert isinstance(search, _Bucketed)
    rng = np.random.default_rng(2)
    anywhere = rng.random((40, 50)) ** 3 * levels[-1]
    edges = np.resize((levels[1:] + levels[:-1]) / 2, (8, 50))
    beyond = np.resize([-1e30, -1, -0.0, 5e-324, levels[-1] * 1.1, 1e30, np.inf, -np.inf], (8, 50))
    values = np.vstack([anywhere, edges, np.nextafter(edges, 0), beyond]).astype(dtype)
    found, expected = np.empty((2, *values.shape), np.uint8)
    all_features = np.arange(50)
    outside = search(values, all_features, found)
    assert outside == _Sorted(book, dtype)(values, all_features, expected) > 0
    finite = np.isfinite(values)
    np.testing.assert_array_equal(found[finite], expected[finite])


def test_codes_do_not_depend_on_threads_or_layout():
    X = np.random.default_rng(2).random((4000, 90)).astype(np.float32)
    book = one(UNEQUAL)
    with threads(1):
        alone = book.to_codes(X, "it")
    with threads(3):
        np.testing.assert_array_equal(book.to_codes(np.asfortranarray(X), "it"), alone)
        np.testing.assert_array_equal(book.to_codes(X[:1], "it"), alone[:1])
        np.testing.assert_array_equal(book.to_codes(X.astype(np.float16), "it").shape, alone.shape)


@pytest.mark.parametrize("levels", [EQUAL, UNEQUAL], ids=["equal", "unequal"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8])
def test_values_outside_are_clamped_and_counted(levels, dtype):
    X = np.array([[0, 1], [2, 1], [3, 0]], dtype)
    with pytest.warns(UserWarning, match="2 of 6 values") as seen:
        codes = one(levels).to_codes(X, "it")
    with pytest.raises(InputError, match="Negative values"):
        one(levels).to_codes(np.array([[0.5, -0.1]]), "it", unsigned=True)
    last = len(levels) - 1
    assert codes.tolist() == [[0, last], [last, last], [last, 0]]
    assert len(seen) == 1


@pytest.mark.parametrize("levels", [[EQUAL, 9 * EQUAL], [UNEQUAL, 9 * UNEQUAL], [UNEQUAL]])
def test_values_of_any_features_have_the_codes_of_their_features(levels):
    levels = np.array(levels)
    low, high = levels[:, 0], levels[:, -1]
    book = Codebook(levels, low, high)
    assert book.shared == (len(levels) == 1)
    features = np.array([1, 0, 1, 1])
    rows = np.broadcast_to(levels, (2, levels.shape[1]))[features]
    x = RNG.random(4) * rows[:, -1]
    expected = np.abs(x[:, None] - rows).argmin(axis=1)
    np.testing.assert_array_equal(book.codes(x, features), expected)
    X = np.tile(x[:2, None], 2)
    np.testing.assert_array_equal(book.codes_in_library(X), book.to_codes(X.clip(low, high), "it"))
    wide = np.array([[-1.0, 0.5], [0.5, -1.0], [10, 10], [0, 0.3]])
    assert book.count_outside(wide) == 4
    assert book.count_outside(wide.astype(np.float32)) == 4


@pytest.mark.parametrize("container", [csr_matrix, csr_array])
def test_sparse_codes_are_those_of_the_dense(container):
    X = np.maximum(np.random.default_rng(3).uniform(-2, 1, (50, 8)), 0)
    codes = one(UNEQUAL).to_codes(container(X), "it")
    assert isinstance(codes, container)
    assert codes.dtype == np.uint8
    np.testing.assert_array_equal(codes.toarray(), one(UNEQUAL).to_codes(X, "it"))
    twice = container((np.array([0.3, 0.3]), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    assert one(EQUAL).to_codes(twice, "it").toarray().tolist() == [[5, 0]]
    assert twice.nnz == 2


def test_sparse_zeros_count_as_values():
    book = Codebook([[0, 1], [2, 3]], [0, 2], [1, 3])
    with pytest.warns(UserWarning, match="2 of 6 values"):  # two zeros where 2 is the least
        book.to_codes(csr_matrix([[1.0, 0], [0, 3], [0, 0]]), "it")
    with pytest.raises(InputError, match="it gives zero the code 1 in feature 1, so sparse"):
        Codebook([[0, 1], [-2, 0]], [0, -2], [1, 0]).to_codes(csr_matrix([[1.0, 0]]), "it")


@pytest.mark.parametrize("container", [np.asarray, csr_matrix])
def test_a_feature_that_is_left_out_is_never_outside(container):
    book = Codebook([[0, 1, 2], [5, 5, 5]], [0, 5], [2, 5], unweighted=np.array([1]))
    with pytest.warns(UserWarning, match="1 of 6 values"):
        book.to_codes(container([[1.0, 5], [3, 5], [1, 6]]), "it")


@pytest.mark.parametrize("container", [np.asarray, csr_matrix, csr_array])
def test_columns_count_what_is_not_stored(container):
    X = np.array([[0, 2, -1.5], [0, 0, 3], [4, 2, 3], [0, 2, 3]])
    columns = Columns(container(X))
    assert columns.low.tolist() == [0, 0, -1.5]
    assert columns.high.tolist() == [4, 2, 3]
    for j in range(3):
        values, counts = columns.distinct(j)
        expected = np.unique(X[:, j], return_counts=True)
        np.testing.assert_array_equal(values, expected[0])
        np.testing.assert_array_equal(counts, expected[1])
    for got, expected in zip(columns.pooled(), np.unique(X, return_counts=True), strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_ends_of_columns_are_those_of_numpy(dtype, order):
    X = np.random.default_rng(5).uniform(0, 99, (40, 7)).astype(dtype, order=order)
    for part in (X, X[:1], X[::2], X[:, ::3]):
        columns = Columns(part)
        np.testing.assert_array_equal(columns.low, part.min(axis=0))
        np.testing.assert_array_equal(columns.high, part.max(axis=0))
    for row in range(3):  # what is not a number is an end
        X = np.ones((3, 2))
        X[row, 1] = np.nan
        columns = Columns(X)
        np.testing.assert_array_equal([columns.low, columns.high], [[1, np.nan]] * 2)
