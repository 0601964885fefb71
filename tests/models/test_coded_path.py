"""C along a path: against cross-validation of one fold after the other, and by its own rule."""

import numpy as np
import pytest
from contract import TO_A_TOLERANCE, contract
from scipy.sparse import csr_matrix

from kmaps import CodedSVC, CodedSVCCV, HomogeneousMap, load_model, threads
from kmaps.models import along_c, choose_along_path, cross_validate
from kmaps.models.choice import FOLD_TOL
from kmaps.svm import code_rows
from kmaps.svm.coded import folds

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(150, 7)).astype(np.float32)
Y = np.digitize(X[:, 0] + X[:, 1] + RNG.normal(0, 0.3, 150), [1, 2])
GRID = [0.01, 1.0, 10.0]


@pytest.mark.slow  # each check chooses C; those of CodedSVC are in every run
@contract([CodedSVCCV(C=[0.1, 1.0], cv=2)], lambda estimator: TO_A_TOLERANCE)
def test_follows_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"multiclass": "ovo", "loss": "squared_hinge", "class_weight": "balanced"},
        {"calibrate": True, "map": HomogeneousMap(), "bias": 0.0},
        pytest.param({"loss": "logistic", "form": "full"}, marks=pytest.mark.slow),
        {"penalty": "l1", "form": "low-rank", "bias": 0.5},
    ],
    ids=lambda settings: "-".join(map(str, settings.values())) or "default",
)
def test_accuracies_are_those_of_one_fold_after_the_other(settings):
    model = CodedSVC(tol=FOLD_TOL, **settings)
    rows = code_rows(model.map, lambda: [X], form=model.form)
    found = choose_along_path(model, rows, Y, GRID, cv=4, random_state=1)
    expected = cross_validate(
        lambda of: along_c(model, rows.take(of), Y[of]), GRID, Y, cv=4, random_state=1
    )
    assert found == expected
    assert max(found.accuracies) > min(found.accuracies) + 0.03


@pytest.mark.parametrize("Cs", ["path", "auto", [1.0, 0.1]])
def test_the_same_machine_on_any_number_of_threads(Cs):
    several = CodedSVCCV(C=Cs, n_jobs=3).fit(X, Y)
    with threads(1):
        one = CodedSVCCV(C=Cs).fit(X, Y)
    assert several.choice_ == one.choice_
    alone = CodedSVC(C=one.C_).fit(X, Y)
    for model in (several, one):
        np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))
        np.testing.assert_array_equal(model.feature_importances_, alone.importance_)


def test_each_value_starts_where_the_one_before_stopped(monkeypatch):
    starts, solve = [], folds.solve
    monkeypatch.setattr(
        folds, "solve", lambda *a, **k: starts.append(k["alpha"] is None) or solve(*a, **k)
    )
    rows = code_rows("chi2", lambda: [X])
    with threads(1):
        choose_along_path(CodedSVC(), rows, Y > 0, [4.0, 0.1, 1.0], cv=2)
    assert starts == [True, True] + 4 * [False]


def test_codes_labels_and_files(tmp_path):
    words = np.array(["low", "middle", "high"])[Y]
    rows = code_rows("chi2", lambda: [X])
    model, coded, sparse = (
        CodedSVCCV(C=[0.1, 1.0], probability="sigmoid").fit(samples, words)
        for samples in (X, rows, csr_matrix(X))
    )
    for other in (coded, sparse):
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(coded.decision_function(rows), model.decision_function(X))
    model.best_estimator_.save(tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.C == model.C_
    assert set(model.timings_) == {"convert_s", "choose_s", "train_s"}
