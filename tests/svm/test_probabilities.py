"""Probabilities against scikit-learn's CalibratedClassifierCV, on the same scores."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state

from kmaps import CodedSVC, GroupLassoSVC, KernelSVC, LiblinearSVC, RandomFeatureSVC
from kmaps.errors import InputError
from kmaps.svm.parameters import METHODS
from kmaps.svm.probabilities import fitted_curves, logistic_fit

SKLEARN = tuple(map(int, sklearn.__version__.split(".")[:2]))
SEED = check_random_state(0).randint(np.iinfo(np.int32).max)
FOLDS = StratifiedKFold(5, shuffle=True, random_state=SEED)


each_method = pytest.mark.parametrize(
    "method",
    [
        *("sigmoid", "isotonic"),
        pytest.param(
            "temperature",
            marks=pytest.mark.skipif(SKLEARN < (1, 8), reason="new in scikit-learn 1.8"),
        ),
    ],
)


def off(y, probability):
    """Return how far the probability of a sample is from the share of its bin, in the mean."""
    observed, said = calibration_curve(y, probability, n_bins=5)
    # As there, a probability at the edge of a bin belongs below.
    counts = np.bincount(np.searchsorted(np.linspace(0, 1, 6)[1:-1], probability))
    return np.abs(observed - said) @ counts[counts > 0] / len(y)


@pytest.fixture(scope="module")
def noisy():
    """Counts, so that all folds have the same levels; two classes that overlap."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    X = rng.poisson(np.where(y[:, None] == 1, [3, 2, 2, 1], [2, 2, 3, 1])).astype(np.float32)
    return np.vstack([X, np.arange(12)[:, None] * np.ones(4)]), np.r_[y, np.arange(12) % 2]


@each_method
@pytest.mark.parametrize(
    "learner",
    [
        CodedSVC(C=0.1),
        RandomFeatureSVC(n_frequencies=40, sigma=2.0),
        LiblinearSVC(),
        GroupLassoSVC(C=0.01, tol=1e-4),
        KernelSVC(C=0.1),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_two_classes(noisy, method, learner):
    X, y = noisy
    train, test = np.r_[0:1000, 2000:2012], np.arange(1000, 2000)
    ours = type(learner)(**learner.get_params() | {"probability": method})
    found = ours.fit(X[train], y[train]).predict_proba(X[test])
    theirs = CalibratedClassifierCV(learner, method=method, cv=FOLDS, ensemble=False)
    expected = theirs.fit(X[train], y[train]).predict_proba(X[test])
    # Measured: 2.4e-3: solutions have a tolerance, and a step of isotonic regression may move.
    assert np.mean(np.abs(found - expected)) < 5e-3
    brier = brier_score_loss(y[test], found[:, 1])
    assert brier == pytest.approx(brier_score_loss(y[test], expected[:, 1]), abs=1e-3)
    assert brier < 0.23 < brier_score_loss(y[test], np.full(1000, y[train].mean()))
    assert off(y[test], found[:, 1]) < min(0.08, off(y[test], expected[:, 1]) + 0.01)
    assert ours.classes_.tolist() == [0, 1]
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X[test])), found)


@each_method
@pytest.mark.parametrize(
    "machine",
    [
        CodedSVC(C=0.01),
        CodedSVC(C=0.01, multiclass="ovo"),
        LiblinearSVC(multiclass="ovo"),
        KernelSVC(),
    ],
    ids=str,
)
def test_many_classes(digits, machine, method):
    X, y = digits
    ours = clone(machine).set_params(probability=method).fit(X, y)
    theirs = CalibratedClassifierCV(machine, method=method, cv=FOLDS, ensemble=False).fit(X, y)
    found, expected = ours.predict_proba(X), theirs.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.mean(np.abs(found - expected)) < 2e-3
    # What predicts is the machine alone.
    np.testing.assert_array_equal(ours.predict(X), machine.fit(X, y).predict(X))
    assert ours.timings_["probability_s"] > 0


def test_weights_are_repeated_scores():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 200)
    scores = rng.normal(size=(200, 3)) + 2 * np.eye(3)[codes]
    weights = rng.integers(1, 4, 200)
    places = np.repeat(np.arange(200), weights)
    for method in METHODS:
        weighted = fitted_curves(scores, codes, weights.astype(float), method)
        repeated = fitted_curves(scores[places], codes[places], np.ones(len(places)), method)
        np.testing.assert_allclose(weighted.of(scores), repeated.of(scores), atol=1e-6)


def test_only_on_demand_and_with_enough_samples(digits):
    X, y = digits
    model = CodedSVC(C=0.01).fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(InputError, match="class 9 has a single sample"):
        CodedSVC(probability="sigmoid").fit(X, np.r_[9, y[1:]])
    few = np.r_[np.flatnonzero(y == 0)[:2], np.flatnonzero(y > 0)]
    model = CodedSVC(C=0.01, probability="sigmoid").fit(X[few], y[few])
    assert model.predict_proba(X).shape == (400, 4)


# The logistic fit against scikit-learn's logistic regression on weighted copies.


@pytest.mark.parametrize("weights", [(1.0, 1.0), (7.0, 0.5)])
@pytest.mark.parametrize(("scale", "shift"), [(1, 0), (1e4, 3e5), (1e-5, -1)])
def test_is_the_weighted_logistic_regression(weights, scale, shift):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=300)
    positive = rng.random(300) < 1 / (1 + np.exp(-2 * scores + 1))
    counts = np.where(positive, *weights)
    # Platt's targets: each row is partly of its class, partly of the other.
    n_positive, n_negative = counts @ positive, counts @ ~positive
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(
        np.r_[scores, scores][:, None],
        np.r_[np.ones(300), np.zeros(300)],
        np.r_[counts * target, counts * (1 - target)],
    )
    slope, intercept = logistic_fit(scale * scores + shift, positive, counts)
    assert slope * scale == pytest.approx(model.coef_[0, 0], rel=1e-4)
    assert intercept + slope * shift == pytest.approx(model.intercept_[0], abs=1e-3)


def test_separated_and_constant_scores_have_an_answer():
    positive = np.arange(20) < 5
    slope, shift = logistic_fit(np.where(positive, 1.0, -1.0), positive, np.ones(20))
    assert 0 < slope < 10
    assert 1 / (1 + np.exp(-(slope + shift))) == pytest.approx(6 / 7, abs=1e-3)
    slope, shift = logistic_fit(np.full(20, 0.3), positive, np.ones(20))
    assert 1 / (1 + np.exp(-(slope * 0.3 + shift))) == pytest.approx(0.27, abs=0.03)
