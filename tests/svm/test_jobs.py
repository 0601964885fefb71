"""The parameter n_jobs: as many threads for the binary problems, and the same machines."""

import importlib

import numpy as np
import pytest
from sklearn.base import clone

from kmaps import CodedSVC, GroupLassoSVC, KernelSVC, threads
from kmaps.thread_pool import num_threads, processors

LEARNERS = [
    (KernelSVC(solver="libsvm"), "kmaps.svm.kernel_svc", 1),
    (KernelSVC(), "kmaps.svm.kernel_svc", 5),
    (GroupLassoSVC(C=0.1), "kmaps.svm.grouplasso.classifier", 1),
    (CodedSVC(C=0.1), "kmaps.svm.coded.estimator", 5),
]


@pytest.mark.parametrize(("learner", "module", "default"), LEARNERS, ids=lambda one: str(one))
def test_threads_and_the_same_machines(digits, monkeypatch, learner, module, default):
    X, y = digits
    used, home = [], importlib.import_module(module)
    for_blocks = home.for_blocks

    def watched(*arguments):
        used.append(num_threads())
        return for_blocks(*arguments)

    monkeypatch.setattr(home, "for_blocks", watched)
    with threads(5):
        one = clone(learner).set_params(n_jobs=1).fit(X, y)
        several = clone(learner).set_params(n_jobs=3).fit(X, y)
        clone(learner).set_params(n_jobs=-1).fit(X, y)
        clone(learner).fit(X, y)
    assert used == [1, 3, processors(), default]
    np.testing.assert_array_equal(one.decision_function(X), several.decision_function(X))
    np.testing.assert_array_equal(one.n_iter_, several.n_iter_)
