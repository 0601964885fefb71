"""Estimators of others: made, checked before anything is trained, and held to what they promise."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.svm import SVC, LinearSVC

from kmaps.bench.run.clock import UNTIMED, pinned
from kmaps.bench.work import third_party
from kmaps.bench.work.classify import Choosing, ModelSpec, choose_c, evaluate
from kmaps.bench.work.samples import Split
from kmaps.bench.work.storage import stored_rows
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


def test_what_can_be_a_row_has_no_problem(module):
    assert third_party.problems(f"{module}.Good", {"power": 2}, "liblinear") == []
    assert third_party.problems("sklearn.svm.SVC", {"C": 2}, "own") == []
    assert third_party.problems("kmaps.maps.SplineMap", {"n_bins": 5}, "coded") == []


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
    with pytest.raises(InputError, match=r"Wrong.transform: expected a row of outputs for each of"):
        third_party.ThirdPartyMap(Wrong()).fit(np.ones((3, 2)), [0, 1, 1]).transform(
            np.ones((3, 2))
        )
    with pytest.raises(InputError, match=r"Wrong.predict: expected a label for each of 3 samples"):
        third_party.labels(Wrong().predict(np.ones((3, 2))), 3, Wrong())


def test_a_map_of_others_gives_arrays_or_csr():
    X = np.eye(4, dtype=np.float32)

    class Columns(Wrong):
        def transform(self, X):
            return sparse.csc_array(X)

    outputs = third_party.ThirdPartyMap(Columns()).fit(X).transform(X)
    assert isinstance(outputs, sparse.csr_matrix)
    assert (outputs.toarray() == X).all()


@pytest.fixture(scope="module")
def split():
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    return Split(X[:150], y[:150], X[150:240], y[150:240])


def machine(estimator, params, solver="own"):
    learner = {"loss": "hinge", "penalty": "l2", "bias": 1.0, "tol": None}
    settings = learner if solver == "liblinear" else {}
    return ModelSpec(estimator, "", params, solver, "ovr", settings, False, seed=7)


def test_a_classifier_is_measured_as_it_is(split):
    made = machine("sklearn.svm.SVC", {"gamma": 0.5})
    columns, predicted = evaluate(made, 3.0, split, UNTIMED)
    expected = SVC(C=3.0, gamma=0.5, random_state=7).fit(split.x_train, split.y_train)
    assert (predicted == expected.predict(split.x_test)).all()
    size = len(pickle.dumps(expected, pickle.HIGHEST_PROTOCOL))
    train = stored_rows(split.x_train)
    assert columns == {
        "dim": 64,
        "train_bytes": train.nbytes,
        "table_bytes": 0,
        "model_bytes": pytest.approx(size, abs=50),  # a number may be another object
        "storage_bytes": columns["train_bytes"] + columns["model_bytes"],
        "storage_form": f"{train.form} + pickled model",
        "paper_train_bytes": None,
    }
    assert third_party.third_party_storage(split.x_train, expected)["model_bytes"] == size


def test_a_transformer_stands_in_front_of_the_learner(split):
    made = machine("sklearn.decomposition.PCA", {"n_components": 9}, "liblinear")
    columns, predicted = evaluate(made, 1.0, split, UNTIMED)
    assert (columns["dim"], columns["storage_form"]) == (9, "dense float32 + pickled map")
    pca = PCA(9, random_state=7).fit(split.x_train)
    assert columns["table_bytes"] == pytest.approx(len(pickle.dumps(pca)), rel=0.05)
    alike = LinearSVC(loss="hinge", random_state=0, max_iter=20_000, tol=1e-3)
    alike.fit(pca.transform(split.x_train), split.y_train)
    agree = predicted == alike.predict(pca.transform(split.x_test))
    assert agree.mean() > 0.9  # another bias and tolerance


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
