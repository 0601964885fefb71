"""KernelSVC against scikit-learn's SVC on the same Gram matrix, and its contract."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_info

import kmaps
from kmaps.errors import ConfigError, InputError
from kmaps.gram_matrix import gram, mean_squared_distance
from kmaps.svm import KernelSVC, gram_rows, kernel_svc, libsvm, losses
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


SOLVERS = pytest.mark.parametrize("solver", losses.SOLVERS)


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


def test_direction_follows_the_label_the_library_lists_first(digits, grams, monkeypatch):
    from libsvm.svm import libsvm as library

    model = KernelSVC("precomputed", C, solver="libsvm")
    expected = clone(model).fit(grams[0], digits[1])
    train = library.svm_train

    def other_way_round(task, options):
        model = train(task, options)
        content = model.contents
        content.label[0], content.label[1] = content.label[1], content.label[0]
        content.rho[0] = -content.rho[0]
        for i in range(content.l):
            content.sv_coef[0][i] = -content.sv_coef[0][i]
        return model

    monkeypatch.setattr(library, "svm_train", other_way_round)
    turned = model.fit(grams[0], digits[1])
    np.testing.assert_array_equal(expected.intercept_, turned.intercept_)
    np.testing.assert_array_equal(expected.dual_coef_.toarray(), turned.dual_coef_.toarray())


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


@SOLVERS
@pytest.mark.parametrize("reduction", ["ovr", "ovo"])
def test_converted_rows_and_their_subsets(digits, grams, reduction, solver):
    y = digits[1]
    K = grams[0].astype(np.float32)
    model = KernelSVC("precomputed", C, solver=solver, multiclass=reduction)
    rows = model.prepare_rows(K)
    some = np.random.default_rng(0).permutation(300)[:200]
    for converted, matrix, labels in (
        (rows, K, y),
        (rows.take(some), K[np.ix_(some, some)], y[some]),
    ):
        shared = model.fit(converted, labels).decision_function(matrix)
        assert model.n_features_in_ == len(labels)
        assert model.timings_["convert_s"] == 0
        np.testing.assert_array_equal(shared, model.fit(matrix, labels).decision_function(matrix))


def test_converted_rows_are_for_precomputed_kernels_only(grams):
    rows = gram_rows(grams[0])
    with pytest.raises(ConfigError, match=r"^kernel='chi2': rows that .*='precomputed'$"):
        KernelSVC().fit(rows, np.zeros(300))
    with pytest.raises(InputError, match=r"inconsistent numbers of samples: \[300, 299\]"):
        KernelSVC("precomputed").fit(rows, np.arange(299) % 2)


@SOLVERS
def test_accounts(digits, grams, solver):
    X, y, _, _ = digits
    model = KernelSVC(solver=solver, multiclass="ovr").fit(X, y)
    n_support, n_stored = len(model.support_), model.dual_coef_.nnz
    assert model.dual_coef_.shape == (n_support, 5)
    assert (np.diff(model.dual_coef_.tocsr().indptr) > 0).all()
    coefficients = n_stored * (8 + 4) + 6 * 4 + 5 * 8
    assert model.model_bytes_ == n_support * 64 * 4 + coefficients
    assert sorted(model.timings_) == ["convert_s", "gram_s", "train_s"]
    assert all(seconds > 0 for seconds in model.timings_.values())
    assert model.gram_bytes_ == 4 * 300**2
    assert model.copy_bytes_ == (16 * 300 * 302 + 8 * 300 if solver == "libsvm" else 0)
    assert hasattr(model, "duality_gap_") == (solver == "smo")
    precomputed = KernelSVC("precomputed", solver=solver).fit(grams[0], y)
    assert precomputed.copy_bytes_ == (
        16 * 300 * 302 + 8 * 300 if solver == "libsvm" else 4 * 300**2
    )
    assert precomputed.timings_["gram_s"] == 0
    assert not hasattr(precomputed, "support_vectors_")


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


def test_bad_data_are_refused(digits, grams):
    _, y, *_ = digits
    with pytest.raises(InputError, match=r"has shape \(300, 299\): expected \(n, n\)"):
        KernelSVC("precomputed").fit(grams[0][:, 1:], y)
    with pytest.raises(InputError, match="sigma cannot be estimated"):
        KernelSVC("exp-chi2").fit(np.ones((4, 2)), [0, 1, 0, 1])


def test_reaching_the_limit_of_steps_is_reported(digits, monkeypatch, recwarn):
    train, y, *_ = digits
    KernelSVC(solver="libsvm").fit(train, y)
    assert not recwarn.list
    monkeypatch.setattr(kernel_svc, "_LEAST_LIMIT", 1)
    monkeypatch.setattr(libsvm, "_train", _slow_on(libsvm._train, [3, 7]))
    with pytest.warns(ConvergenceWarning, match=r"limit of steps in 2 of 10 binary problems"):
        KernelSVC(C=10.0, solver="libsvm").fit(train, y)


@SOLVERS
def test_a_limit_of_ones_own_on_the_steps(digits, grams, solver):
    _, y, *_ = digits
    K, K_test = grams
    with pytest.warns(ConvergenceWarning, match=r"in 10 of 10 .* or max_iter \(now 3\)$"):
        model = KernelSVC("precomputed", C, solver=solver, max_iter=3).fit(K, y)
    assert (model.n_iter_ == [3] * 10).all()
    ours = KernelSVC("precomputed", C, solver=solver, tol=1e-6).fit(K, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        limited = clone(ours).set_params(max_iter=10**6).fit(K, y)
    np.testing.assert_allclose(
        limited.decision_function(K_test), ours.decision_function(K_test), **CLOSE
    )
    assert min(limited.n_iter_.min(), ours.n_iter_.min()) > 3
    with pytest.raises(ConfigError, match="max_iter=0: expected a whole number of at least 1"):
        KernelSVC("precomputed", solver=solver, max_iter=0).fit(K, y)


def _slow_on(train_binary, slow):
    """Return what trains and, but for some problems, says that fewer steps were enough."""
    done = itertools.count()

    def train(rows, problem, options, printed):
        model, limit = train_binary(rows, problem, options, printed), 100 * len(problem.rows)
        return model._replace(steps=limit if next(done) in slow else limit - 1)

    return train


@pytest.mark.slow
def test_libsvm_says_its_steps_at_its_own_limit():
    # Two rows of each class that differ by what rounding loses: no step ends the descent.
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 3)), np.arange(60) % 2
    model = KernelSVC("rbf", 1e12, solver="libsvm", tol=1e-12, sigma=1.0)
    with pytest.warns(ConvergenceWarning, match=r"in 1 of 1 binary problems"):
        model.fit(X, y)
