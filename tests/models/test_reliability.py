"""Calibration against scikit-learn's metrics and sums by hand."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss

from kmaps.errors import InputError
from kmaps.models.evaluation import calibration

RNG = np.random.default_rng(0)
GIVEN = RNG.dirichlet([1, 1, 1], 200)
TRUE = RNG.integers(0, 3, 200)


def test_bins_are_scikit_learns():
    largest, right = GIVEN.max(axis=1), GIVEN.argmax(axis=1) == TRUE
    accuracy, confidence = calibration_curve(right, largest, n_bins=10)
    found = calibration(TRUE, GIVEN)
    some = found.rows > 0
    assert some.tolist() == [False] * 3 + [True] * 7
    np.testing.assert_allclose(found.accuracy[some], accuracy, rtol=1e-12)
    np.testing.assert_allclose(found.confidence[some], confidence, rtol=1e-12)
    assert np.isnan(found.accuracy[~some]).all()
    assert found.rows.tolist() == np.histogram(largest, found.bounds)[0].tolist()
    error = np.abs(accuracy - confidence) @ found.rows[some] / 200
    assert found.error == pytest.approx(error, rel=1e-12)


def test_scores_are_scikit_learns():
    found = calibration(TRUE, GIVEN)
    assert found.log_loss == pytest.approx(log_loss(TRUE, GIVEN), rel=1e-12)
    two = GIVEN[:, :2] / GIVEN[:, :2].sum(axis=1, keepdims=True)
    # Of two classes scikit-learn's counts one of two equal distances.
    expected = 2 * brier_score_loss(TRUE > 0, two[:, 1])
    assert calibration(TRUE > 0, two).brier == pytest.approx(expected, rel=1e-12)


def test_certain_rows_and_unknown_labels():
    found = calibration([0, 1, 2], [[1.0, 0.0]] * 3)
    assert found.rows.tolist() == [0] * 9 + [3]
    assert found.error == pytest.approx(2 / 3)
    assert found.brier == pytest.approx((0 + 2 + 1) / 3)
    # Of the rows with a known label one has the probability 0, which is taken for the smallest.
    assert found.log_loss == pytest.approx(-np.log(np.finfo(float).tiny) / 2)
    assert np.isnan(calibration([2], [[0.5, 0.5]]).log_loss)


def test_as_many_labels_as_rows():
    with pytest.raises(InputError, match="1 labels and 2 rows of probabilities"):
        calibration([0], [[1.0, 0.0]] * 2)
