"""Weights that all steps have left, and the gap that they certify."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from kmaps import CodedSVC, HomogeneousMap
from kmaps._loops.forms import Form
from kmaps.svm import code_rows
from kmaps.svm.coded.rounding import apart, is_close


def low_rank(scale=None):
    table = np.ones(1, np.float32)
    row = table, 0, (0,) * 2, None, None
    return Form(2, *row, *row, scale)


def test_distance_and_norm_are_those_of_the_features():
    weights = np.array([3.0, 4.0, 1.0, 0.0], np.float32)
    rebuilt = np.array([3.0, 4.5, 1.0, 0.5], np.float32)
    assert apart(low_rank(), weights, 2.0, rebuilt, 1.0) == (0.25 + 0.25 + 1, 29.25 + 1.25 + 1)
    # A feature's changes have its factor, so its weights have the root of it too much.
    scale = np.array([4.0, 0.0], np.float32)
    assert apart(low_rank(scale), weights, 2.0, rebuilt, 2.0) == (0.0625, 29.25 / 4 + 4)


def test_without_features_there_is_no_distance():
    full = low_rank()._replace(basis=None)
    assert apart(full, np.ones(2, np.float32), 0, np.ones(2, np.float32), 0)[0] == np.inf


def test_weights_stay_if_they_cost_little_of_the_tolerance():
    assert is_close(9e-7, 1.0, 1e-4)
    assert not is_close(2e-6, 1.0, 1e-4)
    assert is_close(0.0, 0.0, 1e-4)


@pytest.mark.parametrize("n_blocks", [1, 2])
def test_small_gaps_at_a_large_cost_are_reached_and_true(n_blocks):
    X, y = load_digits(return_X_y=True)
    X, signs = X[:600] / 16, np.where(y[:600] == 8, 1, -1)
    feature_map = HomogeneousMap().fit(X)
    rows = code_rows(feature_map, lambda: [X])
    # With the margins of rebuilt weights the gap of one block was 6.6e-5 after 1,000 passes.
    machine = CodedSVC(feature_map, 100, tol=2e-5, n_blocks=n_blocks).fit(rows, signs)
    assert machine.duality_gap_[0] <= 2e-5
    E = feature_map.transform(X).astype(np.float64)
    # The functions of all features, as weights of the map's outputs, in double precision.
    scores = machine.decision_function(X)
    w, residual = np.linalg.lstsq(np.c_[E, np.ones(600)], scores, rcond=None)[:2]
    assert np.max(np.abs(np.c_[E, np.ones(600)] @ w - scores)) < 1e-4, residual
    hinge = np.maximum(0, 1 - signs * scores).sum()
    assert w @ w / 2 + 100 * hinge == pytest.approx(machine.objective_[0], rel=1e-4)


def test_a_better_multiple_is_tried_whatever_the_gap():
    X, y = load_digits(return_X_y=True)
    # Takes 79 passes; without the multiple the gap stays above the tolerance for thousands.
    machine = CodedSVC("intersection", 100, tol=1e-5, max_iter=300).fit(X, y == 8)
    assert machine.duality_gap_[0] <= 1e-5
