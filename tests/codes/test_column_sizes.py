"""Columns of unlike units get levels of their own, and columns of few levels are named."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from kmaps import CodedRidge, CodedSVC
from kmaps.codes.column_sizes import ColumnSizes, unlike_columns
from kmaps.codes.levels import Columns, RunningColumns, choose_training_codebook
from kmaps.errors import ColumnNote
from kmaps.svm import code_rows


def ratio(X):
    columns = Columns(X)
    unlike = unlike_columns(columns.sizes(), columns.high > columns.low, columns.n_rows)
    return None if unlike is None else unlike[2]


def test_sizes_are_quantiles_of_non_zero_values_in_whatever_parts_they_come():
    X = np.random.default_rng(0).lognormal(0, 3, (1000, 4)) * [1, -1, 1e-20, 1e20]
    X[::3, 0] = 0
    exact = np.array([np.quantile(np.abs(column[column != 0]), 0.99) for column in X.T])
    sizes = Columns(X).sizes()
    np.testing.assert_allclose(sizes.quantile(0.99), exact, rtol=1 / 8)
    assert sizes.n_nonzero.tolist() == [666, 1000, 1000, 1000]
    running = RunningColumns(16)
    for block in (X[:300].astype(np.float32), csr_matrix(X[300:])):
        running.add(block)
    both = ColumnSizes(4)
    both.add(X.astype(np.float32))
    assert (running.sizes().quantile(0.5) == both.quantile(0.5)).all()


def test_different_values_are_noted_in_whatever_parts_they_come():
    X = np.array([[1.0, 1, 1], [2, 2, 0], [3, 1, 2], [4, 2, 3]])
    running = RunningColumns(16)
    running.add(X[:2])
    running.add(X[2:])
    assert running.sizes().many_values.tolist() == [True, False, False]


def test_only_columns_of_unlike_units_get_levels_of_their_own():
    breast_cancer, wine = load_breast_cancer().data, load_wine().data
    assert 1e5 < ratio(breast_cancer) < 4e5
    assert 1500 < ratio(wine) < 4000
    assert ratio(load_digits().data[:, [10, 20, 36, 60]]) is None
    sparse = breast_cancer.copy()
    sparse[::5, :] = 0  # filled in 80 % of the rows: no columns whose size counts
    assert ratio(sparse) is None
    assert ratio(np.c_[breast_cancer[:, 0], np.full(569, 1e-6)]) is None  # constant
    assert ratio(breast_cancer[:, :1] * [1, 1000]) == pytest.approx(1000, rel=0.2)
    assert Columns(np.ones((2, 1001))).sizes() is None
    wide = np.random.default_rng(0).random((300, 201)) * np.logspace(0, 4, 201)
    with pytest.warns(ColumnNote, match="more than 200"):
        assert len(choose_training_codebook(Columns(wide), 256, "auto").levels) == 1
    with pytest.warns(ColumnNote, match="its own"):
        assert len(choose_training_codebook(Columns(wide[:, 1:]), 256, "auto").levels) == 200


@pytest.mark.parametrize("ranges", ["auto", "shared", "own"])
def test_ranges_of_levels(ranges):
    X, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = CodedSVC("chi2", level_ranges=ranges, max_iter=1).fit(X, y)
        parts = [X[:200], X[200:]]
        rows = code_rows("chi2", lambda: parts, level_ranges=ranges)
    notes = [warning.message for warning in caught if warning.category is ColumnNote]
    assert len(model.levels_) == (1 if ranges == "shared" else 30)
    assert (rows.levels == model.levels_).all()
    assert len(notes) == (0 if ranges == "own" else 2)
    if ranges == "shared":
        assert "'mean smoothness'" in notes[0].naming(load_breast_cancer().feature_names)
    if ranges != "shared":
        low, high = X.min(axis=0), X.max(axis=0)
        assert (model.levels_[:, 0] == low).all()
        assert (model.levels_[:, -1] == high).all()


def test_a_kernel_on_levels_of_its_own_is_the_kernel():
    rng = np.random.default_rng(0)
    X = rng.random((60, 3)) * [1, 1000, 30] + [0, 500, 3]
    y = np.sqrt(X[:, 0]) + X[:, 1] / 1000
    model = CodedRidge("chi2", alpha=0.1, level_ranges="own").fit(X, y)
    nearest = np.abs(X[:, :, None] - model.levels_).argmin(axis=2)
    Z = model.levels_[np.arange(3), nearest]
    K = (2 * Z[:, None] * Z / (Z[:, None] + Z)).sum(axis=2) + 1
    dual = np.linalg.solve(K + 0.1 * np.eye(60), y - y.mean())
    np.testing.assert_allclose(model.predict(X), K @ dual + y.mean(), atol=1e-6)  # 1.2e-7


def test_values_of_few_kinds_share_a_level_each():
    X = np.c_[[0.001, 0.002, 0.001, 0.002], [100.0, 200, 200, 100]]
    assert len(choose_training_codebook(Columns(X), 256, "auto").levels) == 1


@pytest.mark.parametrize("n_columns", [6, 1500])
@pytest.mark.parametrize("are_few", [True, False])
def test_a_value_far_larger_than_its_column_is_said_and_takes_no_levels_of_others(
    n_columns, are_few
):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = rng.gamma(20, 1, (300, n_columns))
    X[np.arange(300), y] += 30
    if are_few:
        X = np.round(X)
    X[7, 4] = -1e30
    with pytest.warns(ColumnNote, match="column 4, of size 1e.30") as caught:
        model = CodedSVC("intersection").fit(X, y)
    assert len(caught) == 1
    own = CodedSVC("intersection", level_ranges="own")
    if n_columns <= 200:  # beyond, the note names the parameter that keeps the value harmless
        assert model.score(X, y) > 0.95
    else:
        assert "level_ranges='own'" in str(caught[0].message)
        assert own.fit(X[:, :6], y).score(X[:, :6], y) > 0.95


def test_a_fill_value_is_found_in_a_column_that_is_small_even_with_it():
    rng = np.random.default_rng(0)
    X = rng.gamma(20, 1, (300, 150)) * 1e9
    X[:, 4] /= 1e9
    X[7, 4] = 1e9
    with pytest.warns(ColumnNote, match="column 4, of size 1e.09"):
        choose_training_codebook(Columns(X), 256, "auto")


def test_what_rounding_left_of_zeros_makes_no_fill_value():
    """A corner of gradient histograms: most values are 1e-16, some are as large as others."""
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, 0.01, (400, 20))
    X[:300, 7] = 1e-16 * rng.random(300)
    with warnings.catch_warnings(action="error"):
        assert len(choose_training_codebook(Columns(X), 256, "auto").levels) == 1


def test_a_fill_value_is_found_in_blocks():
    X = np.random.default_rng(0).random((300, 3))
    X[250, 1] = 1e9
    columns = RunningColumns(256)
    for block in (X[:200], X[200:]):
        columns.add(block)
    with pytest.warns(ColumnNote, match="column 1, of size 1e.09"):
        book = choose_training_codebook(columns, 256, "auto")
    assert len(book.levels) == 3
