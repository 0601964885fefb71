"""A row far from all others: what the width of an exponential kernel makes of it."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from kmaps import (
    KernelSVC,
    KernelSVCCV,
    LandmarkMap,
    LandmarkSVC,
    RandomFourierMap,
    squared_distance,
)
from kmaps.data import load_dataset
from kmaps.features import extract
from kmaps.gram_matrix import mean_squared_distance
from kmaps.models import choose_width

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(200, 4))
Y = np.where((X[:, 0] > 1) == (X[:, 1] > 1), "same", "other")
FAR = X.copy()
FAR[17] = 1e3
OF_FAR = r"^row 17 of X alone makes the mean squared distance"


def mean_squared(rows):
    """The mean over pairs of different rows, plainly."""
    squared = np.array([[((x - y) ** 2).sum() for y in rows] for x in rows])
    return squared.sum() / (len(rows) * (len(rows) - 1))


@pytest.mark.parametrize("rows", [FAR, csr_matrix(FAR)], ids=["dense", "csr"])
@pytest.mark.parametrize(
    "model", [LandmarkSVC("rbf", 50, C=10.0), KernelSVCCV("rbf", C=10.0)], ids=str
)
def test_the_search_for_a_width_starts_without_it(model, rows):
    with pytest.warns(UserWarning, match=OF_FAR):
        found = model.fit(rows, Y)
    start = found.sigma_ / found.width_choice_.fractions[found.width_choice_.chosen] ** 0.5
    assert start**2 == pytest.approx(mean_squared(np.delete(FAR, 17, axis=0)), rel=1e-4)
    assert found.score(X, Y) > 0.8


def test_a_fill_value_leaves_no_digits_of_the_other_distances():
    far = X.copy()
    far[17, 2] = 1e30
    with pytest.warns(UserWarning, match=OF_FAR):
        choice = choose_width(LandmarkSVC("exp-chi2", 20, C=1.0), far, Y)
    start = choice.sigma / choice.fractions[choice.chosen] ** 0.5
    plain = squared_distance(np.delete(far, 17, axis=0))
    assert start**2 == pytest.approx(plain.sum(dtype=float) / (199 * 198), rel=1e-4)


def test_the_width_of_the_papers_is_the_mean_whatever_the_rows():
    for model in (LandmarkMap("rbf", 20), RandomFourierMap(20, None), KernelSVC("rbf")):
        with pytest.warns(UserWarning, match=OF_FAR):
            sigma = model.fit(FAR, Y).sigma_
        assert sigma**2 == pytest.approx(mean_squared(FAR), rel=1e-4)


def test_two_rows_that_are_far_from_each_other_too():
    far = FAR.copy()
    far[[60, 80]] = [[900.0], [1500.0]]
    with pytest.warns(UserWarning, match="so do 2 others"):
        choice = choose_width(LandmarkSVC("rbf", 20, C=1.0), far, Y)
    start = choice.sigma / choice.fractions[choice.chosen] ** 0.5
    plain = np.delete(far, [17, 60, 80], axis=0)
    assert start**2 == pytest.approx(mean_squared(plain), rel=1e-4)


def test_no_row_of_these_is_one():
    """Few rows, and heavy tails."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for rows in (RNG.lognormal(0, 1, (500, 20)), X[:19] * np.arange(19)[:, None]):
            LandmarkMap("exp-chi2", 5).fit(rows)


def unit_columns(X):
    return (X - X.min(axis=0)) / np.ptp(X, axis=0)


def check_published(X):
    """No row moves the mean width of features, and no column has one value but zero."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for kernel in ("exp-chi2", "exp-js", "exp-intersection", "rbf"):
            assert mean_squared_distance(X, kernel=kernel) > 0
    low, high = X.min(axis=0), X.max(axis=0)
    assert not ((low == high) & (low != 0)).any()


@pytest.mark.parametrize(
    "X",
    [
        load_digits().data,
        unit_columns(load_wine().data),
        unit_columns(load_breast_cancer().data),
    ],
    ids=["digits", "wine", "breast-cancer"],
)
def test_published_tables_have_no_such_row_and_no_constant_column(X):
    check_published(X)


@pytest.mark.slow
def test_published_features_of_images_have_none(downloaded):
    pedestrians = load_dataset("daimler", data_dir=downloaded("daimler"))
    rows = np.arange(0, len(pedestrians.images), 98)
    gradients = {"cells": [18, 9, 3], "overlap": False, "orientations": 12, "signed": True}
    check_published(extract(pedestrians, "hog-pyramid", rows=rows, sigma=0, local=4, **gradients))
    check_published(extract(pedestrians, "phog", "l1", rows=rows))
    check_published(extract(pedestrians, "intensity", rows=rows))
