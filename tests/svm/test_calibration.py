"""The logistic fit against scikit-learn's logistic regression on weighted copies."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from kmaps.svm.probabilities import logistic_fit


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
