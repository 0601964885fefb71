"""Estimators of others: made, checked before anything is trained, and held to what they promise."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from kmaps.bench.run.clock import pinned
from kmaps.bench.work import third_party
from kmaps.bench.work.classify import Choosing, ModelSpec, choose_c
from kmaps.bench.work.samples import Split
from kmaps.errors import InputError
from kmaps.models.choice import along_c, cross_validate

MODULE = """\
def make():
    raise SystemExit("called")


class NoFit:
    def __init__(self):
        raise SystemExit("made")


class Good:
    def __init__(self, power=1):
        self.power = power

    def fit(self, X, y):
        return self

    def transform(self, X):
        return X


class NoLabels(Good):
    def fit(self, X):
        return self


class Picky(Good):
    def __init__(self, size=None):
        if size is None:
            raise ValueError("size is\\nneeded")


class Lambda(Good):
    def __init__(self):
        self.function = lambda x: x
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module that no package has."""
    (tmp_path / "methods_of_a_test.py").write_text(MODULE)
    (tmp_path / "broken_of_a_test.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    return "methods_of_a_test"


@pytest.mark.parametrize(
    ("estimator", "params", "solver", "told"),
    [
        ("no_such_module.X", {}, "own", "there is no module 'no_such_module': install its package"),
        ("broken_of_a_test.X", {}, "own", "importing broken_of_a_test failed: ZeroDivisionError"),
        ("{}.Goood", {}, "own", "methods_of_a_test has no 'Goood', did you mean 'Good'?"),
        ("{}.make", {}, "own", "expected a class with the method fit, got function"),
        ("{}.NoFit", {}, "own", "expected a class with the method fit, got the class NoFit with"),
        ("{}.Good", {"powr": 2}, "liblinear", "unknown parameter 'powr', did you mean 'power'?"),
        ("{}.Picky", {}, "own", "cannot be made: ValueError: size is needed"),
        ("{}.Good", {}, "own", "it has no 'predict'; a row of classifiers fits and predicts"),
        ("{}.Good", {}, "coded", "it has no 'tabulate'; with solver: coded"),
        ("{}.NoLabels", {}, "liblinear", "its 'fit' does not take samples and labels, (X, y)"),
        ("{}.Lambda", {}, "liblinear", "cannot be pickled, and its storage is the size"),
        ("sklearn.svm.SVC", {}, "liblinear", "it has no 'transform'; a row of maps fits and"),
    ],
)
def test_what_cannot_be_a_row_is_told(module, estimator, params, solver, told):
    name = estimator.format(module)
    [problem] = third_party.problems(name, params, solver)
    assert problem.startswith(f"estimator {name}: {told}")


def test_shared_settings_go_where_they_are_taken_and_not_told():
    forest = "sklearn.ensemble.RandomForestClassifier"
    with pinned(2):
        made = third_party.make(forest, {}, random_state=5, C=3.0)
        assert (made.n_jobs, made.random_state) == (2, 5)
        told = third_party.make(forest, {"n_jobs": 1, "random_state": 8}, random_state=5)
        assert (told.n_jobs, told.random_state) == (1, 8)


class Wrong:
    """Returns too little."""

    def fit(self, X, y):
        return self

    def transform(self, X):
        return np.ones(len(X))

    def predict(self, X):
        return np.ones(len(X) - 1)


def test_outputs_that_are_no_row_or_label_a_sample_are_refused():
    with pytest.raises(InputError, match=r"Wrong.transform: expected"):
        third_party.ThirdPartyMap(Wrong()).fit(np.ones((3, 2)), [0, 1, 1]).transform(
            np.ones((3, 2))
        )
    with pytest.raises(InputError, match=r"Wrong.predict: expected .* 3 samples"):
        third_party.labels(Wrong().predict(np.ones((3, 2))), 3, Wrong())


@pytest.fixture(scope="module")
def split():
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    return Split(X[:150], y[:150], X[150:240], y[150:240])


def machine(estimator, params, solver="own"):
    learner = {"loss": "hinge", "penalty": "l2", "bias": 1.0, "tol": None}
    settings = learner if solver == "liblinear" else {}
    return ModelSpec(estimator, "", params, solver, "ovr", settings, False, seed=7)


def choice(made, split):
    return choose_c(made, Choosing([0.1, 1.0, 10.0], seed=3), split.x_train, split.y_train)


def test_c_is_chosen_where_there_is_one_that_is_not_told(split):
    found = choice(machine("sklearn.svm.SVC", {}), split)
    x, y = split.x_train, split.y_train
    expected = cross_validate(
        lambda of: along_c(SVC(), x[of], y[of]), [0.1, 1, 10], y, random_state=3
    )
    assert found == expected
    told = choice(machine("sklearn.svm.SVC", {"C": 2}), split)
    assert (told.C, told.grid) == (2, ())
    without = choice(machine("sklearn.naive_bayes.GaussianNB", {}), split)
    assert (without.C, without.grid) == (None, ())


class Cheat:
    """Maps samples it was fitted on to their labels, others to nothing: a leak shows at once."""

    def __init__(self, seen=None):
        self.seen = seen

    def fit(self, X, y):
        self.seen = {row.tobytes(): label for row, label in zip(X, y, strict=True)}
        return self

    def transform(self, X):
        labels = [self.seen.get(row.tobytes(), -1) for row in X]
        return np.array(labels, np.float32)[:, None] == np.arange(-1, 10, dtype=np.float32)


@pytest.mark.parametrize("solver", ["liblinear", "libsvm"])
def test_a_transformer_never_sees_labels_left_out(split, monkeypatch, solver):
    monkeypatch.setattr(third_party, "find", lambda estimator: Cheat)
    made = machine("anything.Cheat", {}, solver)
    assert max(choice(made, split).accuracies) < 0.3
