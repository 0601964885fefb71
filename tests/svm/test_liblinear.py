"""LiblinearSVC: seeds, limits, accounts; its objectives are in ``test_objectives.py``."""

import ctypes
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kmaps.svm import LiblinearSVC, clib, liblinear
from tests.oracles import machines

C = 0.1


SEEDED = {"loss": "hinge", "tol": 0.1}


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
    X, y = digits
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
    levels = np.round(X * 16).astype(float)
    bytes_in = LiblinearSVC(1e-3).fit(levels.astype(np.uint8), y)
    floats_in = LiblinearSVC(1e-3).fit(levels, y)
    assert bytes_in.coef_.dtype == np.float64
    np.testing.assert_array_equal(bytes_in.coef_, floats_in.coef_)


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
        margins = np.where(y, 1, -1) * (rows @ w)
        return machines.primal(w @ w, margins, np.full(len(X), 10.0), "hinge")

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
