"""Weights of samples and of classes: they are repeated samples, in every learner."""

import numpy as np
import pytest

from kmaps import CodedSVC, GroupLassoSVC, KernelSVC, LiblinearSVC, RandomFeatureSVC
from kmaps.errors import InputError
from kmaps.svm import code_rows

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(60, 4))
Y = np.digitize(X[:, 0] - X[:, 1] + RNG.normal(0, 0.5, 60), [-0.4, 0.4])
WEIGHTS = RNG.integers(0, 4, 60)
# Each solved so far that what its tolerance leaves open is less than a millionth.
LEARNERS = {
    "coded": CodedSVC("chi2", 0.5, tol=1e-7, max_iter=20_000),
    "hinge": LiblinearSVC(0.03, loss="hinge", tol=1e-9),
    "squared hinge": LiblinearSVC(tol=1e-10, bias=3.0),
    "kernel": KernelSVC("chi2", tol=1e-9, multiclass="ovr"),
    "libsvm": KernelSVC("chi2", solver="libsvm", tol=1e-9, multiclass="ovr"),
    "group lasso": GroupLassoSVC(tol=1e-8),
    "random": RandomFeatureSVC(n_frequencies=30, loss="squared_hinge", tol=1e-10, sigma=1.0),
}


def copy(name, **changed):
    learner = LEARNERS[name]
    return type(learner)(**learner.get_params(deep=False) | changed)


@pytest.mark.parametrize("solver", ["smo", "libsvm"])
def test_rows_made_beforehand_take_weights(solver):
    matrix = np.minimum(X[:, None], X[None]).sum(axis=2)
    model = KernelSVC("precomputed", solver=solver, tol=1e-9)
    whole = model.fit(matrix, Y, WEIGHTS).decision_function(matrix)
    support = model.support_
    assert WEIGHTS[support].all()
    np.testing.assert_array_equal(
        model.fit(model.prepare_rows(matrix), Y, WEIGHTS).decision_function(matrix), whole
    )
    expected = KernelSVC("intersection", solver=solver, tol=1e-9).fit(X, Y, WEIGHTS)
    np.testing.assert_allclose(expected.decision_function(X), whole, atol=1e-6)
    np.testing.assert_array_equal(expected.support_, support)
    np.testing.assert_array_equal(expected.support_vectors_, X[support])
    coded = CodedSVC(tol=1e-6)
    rows = code_rows("chi2", lambda: iter([X]))
    np.testing.assert_allclose(
        coded.fit(rows, Y, WEIGHTS + 1).objective_,
        coded.fit(X, Y, WEIGHTS + 1).objective_,
        rtol=1e-6,
    )
    whole = coded.fit(rows, Y, WEIGHTS).objective_
    kept = np.flatnonzero(WEIGHTS)
    np.testing.assert_allclose(
        coded.fit(rows.take(kept), Y[kept], WEIGHTS[kept]).objective_, whole, rtol=1e-12
    )


BAD = [
    (np.ones(59), r"sample_weight of shape \(59,\): expected \(60,\), one number per sample"),
    (np.ones((60, 1)), r"sample_weight of shape \(60, 1\): expected \(60,\)"),
    (np.where(np.arange(60) == 7, -1, 1), r"sample_weight\[7\]=-1: expected finite weights of"),
    (np.where(np.arange(60) == 3, np.nan, 1), r"sample_weight\[3\]=nan: expected finite weights"),
    (np.zeros(60), "sample_weight: all weights are zero, expected at least one above zero"),
    (Y != 2, "sample_weight: the weights of class 2 are all zero: leave its samples out, or"),
    ("heavy", "sample_weight: expected one number per sample"),
]


@pytest.mark.parametrize(("weights", "message"), BAD)
@pytest.mark.parametrize("name", ["coded", "hinge", "kernel", "group lasso", "random"])
def test_bad_weights_are_refused(name, weights, message):
    with pytest.raises(InputError, match=message):
        copy(name).fit(X, Y, sample_weight=weights)
