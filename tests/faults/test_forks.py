"""Servers that fork: after the import, after training, after the compiled loops had threads."""

import os
import signal
import time
from functools import partial

import numpy as np
import pytest

from kmaps import (
    CodedSVC,
    GeneralizedRBFMap,
    KernelSVC,
    LandmarkSVC,
    LiblinearSVC,
    RandomFeatureSVC,
    threads,
)

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork"),
    # Python 3.12 warns of threads of whoever runs the tests.
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),
]
X = np.random.default_rng(0).random((300, 12)).astype(np.float32)
Y = np.arange(300) % 3
MODELS = [
    CodedSVC(max_iter=50, tol=0.1),
    LiblinearSVC(),
    KernelSVC("exp-chi2"),
    RandomFeatureSVC(n_frequencies=150, sigma=None),
    LandmarkSVC(n_landmarks=40, sigma=1.0, tol=0.1),
]
_PATIENCE_S = 60


def in_a_child(work):
    """Return the exit code of a forked process that does some work; fail when it hangs."""
    child = os.fork()
    if not child:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError(f"a forked process was not done after {_PATIENCE_S} s")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_children_predict_and_train_what_their_parent_would(model):
    with threads(2):
        expected = model.fit(X, Y).decision_function(X)

        def predict():
            np.testing.assert_array_equal(model.decision_function(X), expected)

        def train():
            again = type(model)(**model.get_params()).fit(X, Y)
            np.testing.assert_array_equal(again.decision_function(X), expected)

        assert [in_a_child(work) for work in (predict, train, predict)] == [0, 0, 0]


def test_children_map_as_their_parent():
    feature_map = GeneralizedRBFMap("chi2", n_frequencies=200).fit(X)
    with threads(2):
        expected = feature_map.transform(X)
        compare = partial(np.testing.assert_array_equal, expected)
        assert in_a_child(lambda: compare(feature_map.transform(X))) == 0
