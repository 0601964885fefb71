"""Factors of classes: labels are looked up as they are."""

import numpy as np
import pytest

import kmaps
from kmaps.errors import ConfigError

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(60, 3)).astype(np.float32)
NUMBERS = np.digitize(X[:, 0] + RNG.normal(0, 0.5, 60), [1]) + 1

LEARNERS = [
    kmaps.CodedSVC(),
    kmaps.LiblinearSVC(),
    kmaps.KernelSVC(),
    kmaps.LandmarkSVC(n_landmarks=9, sigma=1.0),
    kmaps.GroupLassoSVC(group_size=1),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_text_labels_that_look_like_numbers(learner):
    by_number = learner.set_params(class_weight={1: 5.0, 2: 1.0}).fit(X, NUMBERS)
    expected = by_number.decision_function(X)
    texts = NUMBERS.astype(str)
    for y in (texts, texts.astype(object)):
        by_text = learner.set_params(class_weight={"1": 5.0, "2": 1.0}).fit(X, y)
        np.testing.assert_array_equal(by_text.decision_function(X), expected)
    with pytest.raises(ConfigError) as caught:
        learner.set_params(class_weight={1: 5.0, 2: 1.0}).fit(X, texts)
    assert "'1', '2'" in str(caught.value)


@pytest.mark.parametrize("weights", [{1: 5.0}, {1: 5.0, 2: 1.0, 3: 7.0}, {1.0: 5.0}])
def test_classes_without_a_factor_and_factors_without_a_class(weights):
    found = kmaps.CodedSVC(class_weight=weights).fit(X, NUMBERS).decision_function(X)
    expected = kmaps.CodedSVC(class_weight={1: 5.0, 2: 1.0}).fit(X, NUMBERS).decision_function(X)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("weights", [{1: 5.0, 3: 1.0}, "balance", 3, {1: 5.0, 2: np.inf}])
def test_what_no_weights_of_classes_are(weights):
    with pytest.raises(ConfigError):
        kmaps.CodedSVC(class_weight=weights).fit(X, NUMBERS)
