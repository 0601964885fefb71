"""LiblinearSVC against scikit-learn's own LIBLINEAR, plain objectives and its contract."""

import ctypes
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from kmaps.svm import LiblinearSVC, clib, liblinear
from kmaps.svm.reduction import class_pairs
from tests.oracles import machines

COMBINATIONS = [
    ("l2", "hinge"),
    ("l2", "squared_hinge"),
    ("l2", "logistic"),
    ("l1", "squared_hinge"),
    ("l1", "logistic"),
]
C = 0.1


@pytest.fixture(scope="module")
def digits():
    """Four classes of the digits, in [0, 1], float64."""
    X, y = load_digits(return_X_y=True)
    chosen = y < 4
    return X[chosen] / 16, y[chosen]


def objective(w, X, signs, costs, penalty, loss):
    """The primal of the module docstring; the last column of X is the bias feature."""
    penalty_value = w @ w / 2 if penalty == "l2" else np.abs(w).sum()
    return penalty_value + machines.primal(0, signs * (X @ w), costs, loss)


# How far above the optimum, relatively. Measured, over the reductions and biases of the test:
# 2.5e-3 and, with the smaller tolerance, 4.8e-4; 2.3e-6; 1.0e-7; 1.5e-4; 1.1e-5.
@pytest.mark.parametrize(
    ("penalty", "loss", "tol", "gap"),
    [
        ("l2", "hinge", None, 7e-3),
        ("l2", "hinge", 1e-3, 1e-3),
        ("l2", "squared_hinge", None, 7e-6),
        ("l2", "logistic", None, 3e-7),
        ("l1", "squared_hinge", None, 4e-4),
        ("l1", "logistic", None, 3e-5),
    ],
)
@pytest.mark.parametrize(("bias", "reduction"), [(0.0, "ovo"), (5.0, "ovr")])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_objective_is_near_that_of_a_hundredth_of_the_tolerance(
    digits, penalty, loss, tol, gap, reduction, bias
):
    X, y = digits
    model = LiblinearSVC(C, penalty=penalty, loss=loss, multiclass=reduction, bias=bias, tol=tol)
    tight = clone(model).set_params(tol=1e-6, max_iter=100_000)  # by scikit-learn's LIBLINEAR
    weights = [
        np.c_[fitted.coef_, fitted.intercept_ / bias] if bias else fitted.coef_
        for fitted in (model.fit(X, y), tight.fit(X, y))
    ]
    rows = np.c_[X, np.full(len(X), bias)] if bias else X
    for k, (positive, negative) in enumerate(class_pairs(4, reduction)):
        used = np.full(len(y), True) if negative is None else np.isin(y, (positive, negative))
        signs = np.where(y[used] == positive, 1.0, -1.0)
        problem = rows[used], signs, np.full(used.sum(), C), penalty, loss
        found, best = (objective(w[k], *problem) for w in weights)
        assert -1e-9 <= found / best - 1 <= gap


SEEDED = {"penalty": "l2", "loss": "hinge", "tol": 0.1}


def test_same_seed_same_bits_whatever_ran_before(digits):
    first = LiblinearSVC(C, **SEEDED, random_state=3).fit(*digits)
    ctypes.CDLL(None).rand()
    second = LiblinearSVC(C, **SEEDED, random_state=3).fit(*digits)
    assert first.coef_.tobytes() == second.coef_.tobytes()
    other = LiblinearSVC(C, **SEEDED, random_state=4).fit(*digits)
    assert first.coef_.tobytes() != other.coef_.tobytes()


def test_same_bits_from_several_threads(digits):
    alone = LiblinearSVC(C, **SEEDED).fit(*digits).coef_.tobytes()
    with ThreadPoolExecutor(4) as pool:
        models = pool.map(lambda _: LiblinearSVC(C, **SEEDED).fit(*digits), range(8))
        assert {model.coef_.tobytes() for model in models} == {alone}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("reduction", ["ovr", "ovo"])
def test_sparse_and_dense_give_the_same_bits(digits, form, dtype, reduction):
    X, y = digits[0].astype(dtype), digits[1]
    dense = LiblinearSVC(C, loss="hinge", multiclass=reduction).fit(X, y)
    thin = LiblinearSVC(C, loss="hinge", multiclass=reduction).fit(form(X), y)
    assert dense.coef_.tobytes() == thin.coef_.tobytes()
    assert dense.intercept_.tobytes() == thin.intercept_.tobytes()
    # Measured: 2e-6 in float32 (sums in another order).
    np.testing.assert_allclose(
        dense.decision_function(X), thin.decision_function(form(X)), atol=6e-6
    )


def test_direction_follows_the_label_the_library_lists_first(digits, monkeypatch):
    from liblinear.liblinear import liblinear as library

    X, y = digits
    expected = LiblinearSVC(C).fit(X, y)
    train = library.train

    def other_way_round(task, options):
        model = train(task, options)
        content = model.contents
        content.label[0], content.label[1] = content.label[1], content.label[0]
        for j in range(X.shape[1] + 1):
            content.w[j] = -content.w[j]
        return model

    monkeypatch.setattr(library, "train", other_way_round)
    turned = LiblinearSVC(C).fit(X, y)
    np.testing.assert_array_equal(expected.coef_, turned.coef_)
    np.testing.assert_array_equal(expected.intercept_, turned.intercept_)


def test_shapes_and_accounts(digits):
    X, y = digits[0].astype(np.float32), digits[1]
    for reduction, n_problems in (("ovr", 4), ("ovo", 6)):
        model = LiblinearSVC(C, multiclass=reduction).fit(X, y)
        assert model.coef_.shape == (n_problems, 64)
        assert model.coef_.dtype == model.intercept_.dtype == np.float32
        assert model.decision_function(X).shape == (len(X), 4)
        assert model.model_bytes_ == n_problems * 65 * 4
        assert sorted(model.timings_) == ["convert_s", "train_s"]
        assert all(seconds > 0 for seconds in model.timings_.values())
        assert model.score(X, y) > 0.98


def test_integers_are_converted_not_truncated(digits):
    X, y = digits
    levels = np.round(X * 16)
    bytes_in = LiblinearSVC(1e-3).fit(levels.astype(np.uint8), y)
    floats_in = LiblinearSVC(1e-3).fit(levels, y)
    assert bytes_in.coef_.dtype == np.float64
    np.testing.assert_array_equal(bytes_in.coef_, floats_in.coef_)


def test_reaching_the_limit_of_passes_is_reported(digits):
    with pytest.warns(ConvergenceWarning, match=r"in 4 of 4 binary problems: lower C \(now 1000\)"):
        LiblinearSVC(1e3, loss="hinge", tol=1e-9).fit(*digits)


def test_fewer_and_more_passes_than_liblinears_own(digits):
    X, y = digits
    y = y == 3
    told = r"in 1 of 1 binary problems: .* or max_iter \(now 3\), or replace the hinge"
    with pytest.warns(ConvergenceWarning, match=told):
        few = LiblinearSVC(10.0, loss="hinge", max_iter=3).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"or max_iter \(now 300\), or"):
        own = LiblinearSVC(10.0, loss="hinge", tol=1e-4).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        many = LiblinearSVC(10.0, loss="hinge", tol=1e-4, max_iter=100_000).fit(X, y)

    def value(model):
        w, rows = np.append(model.coef_, model.intercept_), np.c_[X, np.ones(len(X))]
        return objective(w, rows, np.where(y, 1, -1), np.full(len(X), 10.0), "l2", "hinge")

    assert value(many) < value(own) < value(few)
    assert (few.n_iter_.tolist(), own.n_iter_.tolist()) == ([3], [300])
    assert many.n_iter_ > 300


def test_only_the_problems_that_reached_the_limit_count(digits, monkeypatch):
    messages = iter(
        [
            b"optimization finished, #iter = 7\n",
            b"\nWARNING: reaching max number of iterations\n",
            b"\nWARNING: reaching max number of Newton iterations\n",
            b"WARNING: reaching max number of inner iterations\n",
        ]
    )

    def speak(rows, problem, options, bias):
        clib._keep_printed(next(messages))
        return np.zeros(65)

    monkeypatch.setattr(liblinear, "_train_binary", speak)
    with pytest.warns(ConvergenceWarning, match="in 2 of 4 binary problems"):
        LiblinearSVC(C).fit(*digits)
