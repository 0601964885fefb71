"""LiblinearSVC: seeds, limits, accounts; its objectives are in ``test_objectives.py``."""

import ctypes

import numpy as np

from kmaps.svm import LiblinearSVC

C = 0.1


SEEDED = {"loss": "hinge", "tol": 0.1}


def test_same_seed_same_bits_whatever_ran_before(digits):
    first = LiblinearSVC(C, **SEEDED, random_state=3).fit(*digits)
    ctypes.CDLL(None).rand()
    second = LiblinearSVC(C, **SEEDED, random_state=3).fit(*digits)
    assert first.coef_.tobytes() == second.coef_.tobytes()
    other = LiblinearSVC(C, **SEEDED, random_state=4).fit(*digits)
    assert first.coef_.tobytes() != other.coef_.tobytes()


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
