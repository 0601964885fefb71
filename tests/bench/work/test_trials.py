"""Trials: what they measure, what those of one draw share, detectors of classes."""

import numpy as np
import pytest

from kmaps import GeneralizedRBFMap, KernelSVC
from kmaps.bench.run.clock import UNTIMED
from kmaps.bench.work.samples import load_split
from kmaps.bench.work.trials import Trials, tasks_of
from kmaps.features import make_feature

STRONGEST = {"name": "strongest", "C": 10.0, "keep": 20}
DENSE = {"name": "dense", "C": 10.0}


@pytest.fixture(scope="module")
def split():
    protocol = {"train": 200, "test": 300}
    return load_split("digits", protocol, 0, make_feature("intensity", {}), "l1")


@pytest.fixture
def trials(split):
    return Trials(tasks_of(split))


def random_map(n_frequencies=60, random_state=1):
    return GeneralizedRBFMap(n_frequencies=n_frequencies, random_state=random_state)


def test_a_pilot_is_shared_but_changes_nothing(split, trials):
    alone, predicted = Trials(tasks_of(split)).learner(random_map(), STRONGEST, UNTIMED)
    trials.learner(random_map(), DENSE, UNTIMED)
    after, predicted_after = trials.learner(random_map(), STRONGEST, UNTIMED)
    assert after == alone
    np.testing.assert_array_equal(predicted_after, predicted)
    assert after["accuracy"] == np.mean(predicted == split.y_test)


def test_detectors_of_classes_have_average_precision(split):
    tasks = tasks_of(split, ["3", "8"])
    measured, predicted = Trials(tasks).exact("exp-chi2", 10.0, UNTIMED)
    expected = []
    for y, truth in tasks.labels:
        model = KernelSVC("exp-chi2", C=10.0, solver="libsvm").fit(split.x_train, y)
        ranked = truth[np.argsort(-model.decision_function(split.x_test))]
        precision = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
        expected.append(precision[ranked == 1].mean())
    assert 0 < sum(tasks.labels[0][0]) < 0.2 * len(split.x_train)
    assert measured["average_precision"] == pytest.approx(np.mean(expected))
    assert ("accuracy" in measured, predicted) == (False, None)
