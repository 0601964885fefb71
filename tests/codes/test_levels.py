"""The levels of each strategy, and zero among them."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kmaps._loops.codes import collect, empty_table
from kmaps.codes.levels import (
    Columns,
    RunningColumns,
    check_levels,
    choose_codebook,
    choose_levels,
)
from kmaps.errors import ConfigError


def levels(X, n_levels=256, strategy="auto"):
    return choose_levels(Columns(X), n_levels, strategy)


def test_few_values_are_the_levels_of_all_features():
    X = np.random.default_rng(1).integers(0, 256, (500, 6)) / 255
    np.testing.assert_array_equal(levels(X), np.unique(X)[None, :])
    np.testing.assert_array_equal(levels(csr_matrix(X)), np.unique(X)[None, :])


def test_values_in_any_order_in_memory_compile_no_loop_more():
    X = np.random.default_rng(2).integers(0, 9, (50, 4)).astype(float)
    frozen = X.copy()
    frozen.flags.writeable = False
    Columns(X).few(20)
    compiled = len(collect.signatures)
    for rows in (np.asfortranarray(X), frozen, csr_matrix(X)):
        np.testing.assert_array_equal(Columns(rows).few(20), np.unique(X))
    assert len(collect.signatures) == compiled


def test_quantiles_spend_no_second_level_on_a_frequent_value():
    rest = np.random.default_rng(4).random(1000) ** 3 + 1
    got = levels(np.r_[np.zeros(9000), rest][:, None], 11, "quantile")[0]
    assert len(np.unique(got)) == 11
    assert got[0] == 0
    shares = np.diff(np.searchsorted(np.sort(rest), got[1:], side="right"))
    np.testing.assert_allclose(shares, 1000 / 9, atol=2)
    few = np.array([[1.0], [2], [2], [4]])
    np.testing.assert_array_equal(levels(few, 5, "quantile"), [[1, 2, 4]])


def test_shared_levels_are_even_in_the_square_root():
    X = np.random.default_rng(6).random((500, 3)) * [1, 4, 9]
    got = levels(X, 17, "shared")
    assert got.shape == (1, 17)
    assert (got[0, 0], got[0, -1]) == (X.min(), X.max())
    np.testing.assert_allclose(np.diff(np.sqrt(got[0]), 2), 0, atol=1e-12)
    X[0] = -4
    got = levels(X, 17, "shared")
    np.testing.assert_allclose(np.diff(np.sign(got) * np.sqrt(np.abs(got)), 2), 0, atol=1e-12)
    assert 0 not in got
    X[1] = 0
    assert 0 in levels(X, 17, "shared")
    few = np.random.default_rng(6).integers(0, 17, (500, 3))
    np.testing.assert_array_equal(levels(few, 17, "shared"), np.arange(17)[None, :])


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_few_values_are_found_as_unique_finds_them(form):
    X = np.random.default_rng(7).integers(-3, 4, (200, 5)) * 0.1
    X[X > 0.25] = -0.0
    columns = Columns(form(X))
    np.testing.assert_array_equal(columns.few(7), np.unique(X))
    assert columns.few(len(np.unique(X))) is not None
    for most in range(len(np.unique(X))):
        assert columns.few(most) is None
    for j in range(5):
        np.testing.assert_array_equal(columns.few(256, j), np.unique(X[:, j]))
    np.testing.assert_array_equal(columns.has_zero(), (X == 0).any(axis=0))
    X[X == 0] = 1
    assert not Columns(form(X)).has_zero().any()


def test_nothing_is_collected_beyond_a_full_array():
    distinct = np.array([7.0, np.nan])
    assert collect(np.array([1.0, 2.0]), distinct[:1], 1, empty_table(0)) == 1
    assert distinct[0] == 7
    assert np.isnan(distinct[1])


@pytest.mark.parametrize("strategy", ["uniform", "quantile", "auto", "shared"])
def test_zero_is_a_level_wherever_it_occurs(strategy):
    X = np.r_[np.random.default_rng(5).normal(0.3, 1, 1000), 0][:, None]
    assert 0 in levels(X, 8, strategy)
    assert (np.diff(levels(X, 8, strategy)) > 0).all()
    assert 0 not in levels(X[:-1], 8, strategy)


@pytest.mark.parametrize("strategy", ["shared", "uniform"])
@pytest.mark.parametrize("few", [True, False])
def test_blocks_have_the_levels_of_all_rows(strategy, few):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 4)) * (rng.random((90, 4)) > 0.2)
    if few:
        X = np.round(X * 2)
    X[:50, 1] = np.abs(X[:50, 1]) + 0.25  # no zero before the last block
    columns = RunningColumns(16)
    for start in range(0, 90, 25):
        columns.add(csr_matrix(X[start : start + 25]) if start else X[start : start + 25])
    expected = choose_codebook(Columns(X), 16, strategy).levels
    np.testing.assert_array_equal(choose_codebook(columns, 16, strategy).levels, expected)
    assert columns.n_rows == 90
    assert columns.n_nonzero == np.count_nonzero(X)


def test_blocks_keep_as_many_distinct_values_as_there_may_be():
    for most, kept in ((4, [0, 1, 2, 3]), (3, None)):
        columns = RunningColumns(most)
        columns.add(np.array([[0.0, 1], [1, 2]]))
        columns.add(np.array([[3.0, 1]]))
        assert columns.few(most) is None if kept is None else columns.few(most).tolist() == kept


def test_blocks_in_which_no_column_varies_have_the_values_of_all():
    columns = RunningColumns(4)
    columns.add(np.array([[5.0, 5]]))
    columns.add(np.array([[6.0, 5]]))
    assert columns.few(4).tolist() == [5, 6]


def test_levels_of_all_features_or_of_each_are_taken_in_ascending_order():
    for given in ([3.0], [0, 0, 1], np.arange(256), [[0, 1], [2, 2], [-1, 5]]):
        expected = np.atleast_2d(np.array(given, float))
        np.testing.assert_array_equal(check_levels(given, 3), expected, strict=True)
    for refused in (
        ["a"],
        [],
        np.zeros((1, 1, 1)),
        np.zeros((2, 4)),
        np.arange(257),
        [0, np.nan],
        [0, np.inf],
        [1, 0],
        [[0, 1], [0, 1], [1, 0]],
    ):
        with pytest.raises(ConfigError, match=r"^levels"):
            check_levels(refused, 3)
