"""The table of periods: its entries computed again by the map itself, and ``period="auto"``."""

import csv
import warnings
from importlib import resources
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import minmax_scale

from kmaps import HomogeneousMap
from kmaps.kernels import KERNELS as KERNELS_BY_NAME
from kmaps.kernels import get_kernel
from kmaps.maps.periods import COLUMNS, KERNELS, ORDERS, WINDOWS, RowPairs, _best_row
from kmaps.maps.signatures import default_period

TEXT = resources.files("kmaps.maps").joinpath("periods.csv").read_text("utf-8")
TABLE = list(csv.DictReader(TEXT.splitlines()))
BYTES = np.arange(256.0)[:, None]
SOME = TABLE[::7]
ids = [f"{row['kernel']} {row['window']} {row['order']}" for row in SOME]


def quiet(*args, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return HomogeneousMap(*args, **params).fit([[1.0]])


def outputs(X, *args, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return HomogeneousMap(*args, **params).fit_transform(X)


def kernel_error(X, kernel, window, order, period):
    encoded = outputs(X, kernel, int(order), window, period)
    exact = KERNELS_BY_NAME[kernel](X[:, None], X).sum(axis=-1)
    return encoded @ encoded.T - exact


def rms(row, period):
    error = kernel_error(BYTES, row["kernel"], row["window"], row["order"], period)
    return np.sqrt(np.mean(error**2))


def test_the_table_has_every_kernel_window_and_order():
    keys = [(row["kernel"], row["window"], int(row["order"])) for row in TABLE]
    assert keys == [(k, w, n) for k in KERNELS for w in WINDOWS for n in ORDERS]
    assert tuple(TABLE[0]) == COLUMNS


def test_no_order_has_a_larger_error_than_a_lower_one():
    for lower, row in pairwise(TABLE):
        assert float(row["rms"]) <= float(row["published_rms"])
        if int(row["order"]):
            assert float(row["rms"]) <= float(lower["rms"])


@pytest.mark.parametrize("row", SOME, ids=ids)
def test_errors_are_those_of_the_map(row):
    for column, period in (("", float(row["period"])), ("published_", None)):
        error = kernel_error(BYTES, row["kernel"], row["window"], row["order"], period)
        rounded = 6e-4  # four digits
        assert np.sqrt(np.mean(error**2)) == pytest.approx(float(row[f"{column}rms"]), rel=rounded)
        assert np.abs(error).max() == pytest.approx(float(row[f"{column}largest"]), rel=rounded)
    order, window = int(row["order"]), row["window"]
    published = default_period(row["kernel"], order, window)
    assert float(row["published_period"]) == published


FREE = [row for row in TABLE if not row["limited_by"] and int(row["order"]) < 8]


@pytest.mark.parametrize("row", FREE[::3], ids=lambda row: f"{row['kernel']} {row['order']}")
def test_where_no_rows_object_the_period_has_the_least_error(row):
    period = float(row["period"])
    least = rms(row, period)
    others = [*np.arange(1.0, 45.0, 2.0), period - 0.02, period + 0.02]
    assert all(rms(row, other) >= least * (1 - 1e-9) for other in others)


ROWS = {
    "digits": load_digits().data,
    "wine": minmax_scale(load_wine().data).clip(0, 1),
}


def drawn(name):
    rows = ROWS[name]
    return rows[np.sort(np.random.default_rng(0).permutation(len(rows))[:100])]


@pytest.mark.parametrize("row", SOME, ids=ids)
def test_the_mean_error_of_rows_is_at_most_the_published_one(row):
    key = row["kernel"], row["window"], row["order"]
    for name in ROWS:
        ours, published = (
            np.abs(kernel_error(drawn(name), *key, period)).mean() for period in ("auto", None)
        )
        assert ours <= published * (1 + 1e-4)  # the search interpolates


def test_the_search_finds_an_entry():
    [row] = [row for row in TABLE if ids_of(row) == ("js", "rectangular", 3)]
    found = _best_row([RowPairs.of("digits", drawn("digits"))], "js", "rectangular", 3, [11.52])
    assert {name: str(value) for name, value in found.items()} == row


def ids_of(row):
    return row["kernel"], row["window"], int(row["order"])


def test_pairs_of_rows_err_as_the_map_does():
    rows = drawn("digits")[:20]
    pairs = RowPairs.of("digits", rows)
    found = pairs.mean_errors(get_kernel("chi2"), 2, "uniform", [9.0, 12.0])
    expected = [np.abs(kernel_error(rows, "chi2", "uniform", 2, p)).mean() for p in (9.0, 12.0)]
    np.testing.assert_allclose(found, expected, rtol=1e-4)  # 3e-5 measured, by interpolation


def test_auto_is_the_default_the_table_and_else_the_published_period():
    assert quiet("js", 1).period_ == 11.52
    for setting in [("chi2", 3), ("js", 13), ("log-rbf", 2)]:
        published = quiet(*setting, period=None).period_
        assert quiet(*setting).period_ == quiet(*setting, period="auto").period_ == published
    assert quiet("hellinger", 0).period_ == 2 * np.pi


def test_published_is_none_bit_for_bit():
    X = np.random.default_rng(0).random((50, 4))
    for kernel in (*KERNELS, "hellinger"):
        by_name, by_none = (outputs(X, kernel, 2, period=period) for period in ("published", None))
        assert (by_name == by_none).all()


def test_an_even_order_that_gains_nothing_is_named_with_the_odd_one():
    for kernel in ("chi2", "js"):
        with pytest.warns(UserWarning, match=r"order=4: .* order=3") as caught:
            feature_map = HomogeneousMap(kernel, 4, period="auto").fit([[1.0]])
        assert [str(warning.filename) for warning in caught] == [__file__]
        assert (feature_map.transform([[2.0]])[0, -2:] == 0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for setting in (("chi2", 3), ("chi2", 4, "uniform"), ("intersection", 4), ("hellinger", 2)):
            HomogeneousMap(*setting, period="auto").fit([[1.0]])
        HomogeneousMap("chi2", 4, period=None).fit([[1.0]])
