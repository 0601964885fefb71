"""KernelSVC against scikit-learn's SVC on the same Gram matrix, and its contract."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_info

import kmaps
from kmaps.gram_matrix import gram, mean_squared_distance
from kmaps.svm import KernelSVC, kernel_svc, libsvm
from kmaps.svm.reduction import class_pairs

C = 0.05  # about two coefficients in three at the bound, the others inside

# Two solvers stopping at 1e-6: measured differences 1.3e-6 (coefficients), 1.6e-6 (intercepts),
# 1e-6 (scores).
CLOSE = {"rtol": 0, "atol": 4e-6}


@pytest.fixture(scope="module")
def digits():
    """Five classes: 300 training rows and 100 others, float32, in [0, 1]."""
    X, y = load_digits(n_class=5, return_X_y=True)
    X = (X / 16).astype(np.float32)
    return X[:300], y[:300], X[300:400], y[300:400]


@pytest.fixture(scope="module")
def grams(digits):
    train, _, test, _ = digits
    return gram(train).astype(float), gram(test, train).astype(float)


def pair_coefficients(model, y):
    """Unpack scikit-learn's dual_coef_ of shape (K - 1, s) to one column a pair."""
    starts = np.cumsum([0, *model.n_support_])
    columns = []
    for positive, negative in class_pairs(len(model.classes_), "ovo"):
        column = np.zeros(len(y))
        for k, row in ((negative, positive - 1), (positive, negative)):
            part = slice(starts[k], starts[k + 1])
            # Their earlier class is the positive one, ours the later.
            column[model.support_[part]] = -model.dual_coef_[row, part]
        columns.append(column)
    return np.array(columns).T


SOLVERS = pytest.mark.parametrize("solver", kernel_svc.SOLVERS)


@SOLVERS
@pytest.mark.parametrize("weight", [None, "balanced", {0: 5.0, 3: 0.2}])
def test_one_vs_one_is_scikit_learns(digits, grams, weight, solver):
    _, y, _, _ = digits
    K, K_test = grams
    ours = KernelSVC("precomputed", C, solver=solver, tol=1e-6, class_weight=weight).fit(K, y)
    theirs = SVC(C=C, kernel="precomputed", tol=1e-6, class_weight=weight, break_ties=True)
    theirs.fit(K, y)
    np.testing.assert_array_equal(ours.support_, np.sort(theirs.support_))
    found = np.zeros((300, ours.dual_coef_.shape[1]))
    found[ours.support_] = ours.dual_coef_.toarray()
    np.testing.assert_allclose(found, pair_coefficients(theirs, y), **CLOSE)
    np.testing.assert_allclose(ours.intercept_, -theirs.intercept_, **CLOSE)
    np.testing.assert_allclose(
        ours.decision_function(K_test), theirs.decision_function(K_test), **CLOSE
    )
    np.testing.assert_array_equal(ours.predict(K_test), theirs.predict(K_test))


@SOLVERS
def test_one_vs_rest_is_scikit_learns(digits, grams, solver):
    y, (K, K_test) = digits[1], grams
    ours = KernelSVC("precomputed", C, solver=solver, multiclass="ovr", tol=1e-6).fit(K, y)
    theirs = OneVsRestClassifier(SVC(C=C, kernel="precomputed", tol=1e-6)).fit(K, y)
    np.testing.assert_allclose(
        ours.decision_function(K_test), theirs.decision_function(K_test), **CLOSE
    )
    np.testing.assert_array_equal(ours.predict(K_test), theirs.predict(K_test))


@pytest.mark.parametrize("reduction", ["ovr", "ovo"])
@pytest.mark.parametrize(
    "given",
    [
        {"kernel": "chi2", "gamma": 0.5},
        {"kernel": "exp-js"},
        {"kernel": "rbf"},
        {"kernel": "exp-chi2", "gamma": 0.5, "sigma": 2.0},
    ],
    ids=str,
)
@SOLVERS
def test_a_kernel_is_its_gram_matrix(digits, given, reduction, solver):
    X, y, X_test, _ = digits
    others = {"multiclass": reduction, "solver": solver, "tol": 1e-6}
    direct = KernelSVC(**given, **others).fit(X, y)
    expected = given.get("sigma")
    if given["kernel"] in ("exp-js", "rbf"):
        expected = pytest.approx(mean_squared_distance(X, kernel=given["kernel"]) ** 0.5)
    assert direct.sigma_ == expected
    given = given | {"sigma": direct.sigma_}
    by_hand = KernelSVC("precomputed", 1.0, **others).fit(gram(X, **given), y)
    np.testing.assert_array_equal(direct.support_, by_hand.support_)
    np.testing.assert_array_equal(direct.support_vectors_, X[direct.support_])
    # Measured: no difference by LIBSVM; float32 sums may come in another order. 1e-5 by the other,
    # whose Gram matrix may come from differences.
    np.testing.assert_allclose(
        direct.decision_function(X_test),
        by_hand.decision_function(gram(X_test, X, **given)),
        atol=4e-5 if solver == "smo" else 1e-5,
    )
    assert direct.score(X_test, digits[3]) > 0.9


def test_libsvm_trains_on_one_thread(digits, grams, monkeypatch):
    seen = []
    train = libsvm._train

    def look(*arguments):
        seen.extend(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "openmp")
        return train(*arguments)

    monkeypatch.setattr(libsvm, "_train", look)
    with kmaps.threads(2):
        KernelSVC("precomputed", solver="libsvm").fit(grams[0], digits[1])
    assert seen
    assert set(seen) == {1}


def test_reaching_the_limit_of_steps_is_reported(digits, monkeypatch, recwarn):
    train, y, *_ = digits
    KernelSVC(solver="libsvm").fit(train, y)
    assert not recwarn.list
    monkeypatch.setattr(kernel_svc, "_LEAST_LIMIT", 1)
    monkeypatch.setattr(libsvm, "_train", _slow_on(libsvm._train, [3, 7]))
    with pytest.warns(ConvergenceWarning, match=r"2 of 10 binary problems"):
        KernelSVC(C=10.0, solver="libsvm").fit(train, y)


def _slow_on(train_binary, slow):
    """Return what trains and, but for some problems, says that fewer steps were enough."""
    done = itertools.count()

    def train(rows, problem, options, printed):
        model, limit = train_binary(rows, problem, options, printed), 100 * len(problem.rows)
        return model._replace(steps=limit if next(done) in slow else limit - 1)

    return train
