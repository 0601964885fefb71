"""What `kmaps train` does, in Python: what is held out, what is timed, what is on record."""

from types import SimpleNamespace

import numpy as np
import pytest

from kmaps import CodedSVC, CodedSVR, LandmarkSVC
from kmaps.models import choose_width, regression, train_model, training, training_record
from kmaps.svm import code_rows

X = np.random.default_rng(0).random((90, 4)).astype(np.float32)
Y = (X[:, 0] > X[:, 1]).astype(int)
SOURCE = SimpleNamespace(blocks=lambda: [X], sample=lambda: X, labels=lambda: Y)


@pytest.mark.parametrize("costs", [[1.0], [0.1, 1.0], "path"])
def test_each_stage_has_its_own_time(monkeypatch, costs):
    """Reading takes 3 seconds, choosing C 100, and training 7, by a clock that they set."""
    now = [0.0]

    def taking(seconds, function):
        def slow(*arguments, **options):
            now[0] += seconds
            return function(*arguments, **options)

        return slow

    monkeypatch.setattr(CodedSVC, "prepare_rows", taking(3, CodedSVC.prepare_rows))
    monkeypatch.setattr(training, "_choose_c", taking(100, training._choose_c))
    monkeypatch.setattr(training, "fit_and_warn", taking(7, training.fit_and_warn))
    facts = train_model(CodedSVC(), SOURCE, costs, hold_out=0.2, clock=lambda: now[0])
    assert (facts["code_s"], facts["cv_s"], facts["train_s"]) == (3, 100, 7)
    assert (facts["rows"], facts["hold_out"]["rows"], facts["classes"]) == (72, 18, 2)
    assert len(facts["cv"]) >= len(costs) or costs == [1.0]


def test_the_record_has_no_times_and_what_did_not_converge():
    with pytest.warns(UserWarning, match="max_iter=1"):
        facts = train_model(CodedSVC(C=100.0, tol=1e-9, max_iter=1), SOURCE, [100.0])
    record = training_record(facts, file="rows.npy")
    assert record["file"] == "rows.npy"
    assert "max_iter=1" in record["unfinished"][0]
    assert not [name for name in record if name.endswith("_s")]


def test_a_width_is_chosen_on_the_rows_that_are_not_held_out():
    """Which come in blocks; several values of C are compared with it."""
    source = SimpleNamespace(**vars(SOURCE) | {"blocks": lambda: [X[:40], X[40:]]})
    settings = {"landmarks": "uniform", "n_landmarks": 10, "sigma": "auto"}
    for hold_out in (None, 0.5):
        members = np.arange(90) if hold_out is None else training._parts(Y, hold_out, 0)[0]
        model = LandmarkSVC(**settings)
        facts = train_model(model, source, [0.1, 1.0], hold_out=hold_out)
        choice = choose_width(LandmarkSVC(**settings), X[members], Y[members], [0.1, 1.0], cv=3)
        assert model.sigma == choice.sigma
        assert [found["C"] for found in facts["cv"]] == [0.1, 1.0]


def test_c_of_a_regression_is_compared_by_r2_of_rows_left_out():
    targets = X[:, 0].astype(float)
    rows, fold = code_rows("chi2", lambda: [X]), np.random.default_rng(4).permutation(90) % 3
    found = regression._choose_c(CodedSVR(), rows, targets, [0.01, 1.0], 3, 4)
    for C, accuracy in zip(found.grid, found.accuracies, strict=True):
        errors = np.empty(90)
        for k in range(3):
            train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            model = CodedSVR(C=C).fit(rows.take(train), targets[train])
            errors[test] = targets[test] - model.predict(rows.take(test))
        assert accuracy == pytest.approx(1 - np.mean(errors**2) / targets.var(), abs=0.02)
