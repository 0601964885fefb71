"""C along a path: against cross-validation of one fold after the other, and by its own rule."""

import numpy as np
import pytest
from contract import NOT_THE_MOST_PROBABLE, TO_A_TOLERANCE, contract
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

from kmaps import CodedSVC, CodedSVCCV, HomogeneousMap, gram, load_model, threads
from kmaps.errors import ConfigError, InputError
from kmaps.models import along_c, choose_along_path, coded_path, cross_validate
from kmaps.models.choice import FOLD_TOL, POWERS_OF_C, splits, stratified_order
from kmaps.svm import code_rows
from kmaps.svm.coded import folds
from tests.oracles import machines

START = POWERS_OF_C.first
RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(150, 7)).astype(np.float32)
Y = np.digitize(X[:, 0] + X[:, 1] + RNG.normal(0, 0.3, 150), [1, 2])
GRID = [0.01, 1.0, 10.0]


@pytest.mark.slow  # each check chooses C; those of CodedSVC are in every run
@contract(
    [
        CodedSVCCV(C=[0.1, 1.0], cv=2),
        CodedSVCCV(),
        CodedSVCCV(HomogeneousMap(), "auto", multiclass="ovo", probability="sigmoid", cv=2),
    ],
    lambda estimator: TO_A_TOLERANCE | (NOT_THE_MOST_PROBABLE if estimator.probability else {}),
)
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


@pytest.mark.slow  # the general solver does
def test_accuracies_are_those_of_a_general_solver():
    """Of exact models on the kernel matrix; those of the folds stop at a gap of 0.01."""
    samples, y, signs = X.round(0), Y > 0, np.where(Y > 0, 1.0, -1.0)
    rows = code_rows("chi2", lambda: [samples])
    found = choose_along_path(CodedSVC(), rows, y, GRID, cv=3, random_state=1)
    order = stratified_order(y, 1)
    kernel = gram(samples, kernel="chi2").astype(float) + 1
    for C, accuracy in zip(GRID, found.accuracies, strict=True):
        right = []
        for kept, test in splits(y[order], 3):
            kept, test = order[kept], order[test]
            costs = np.full(len(kept), C)
            alpha, _ = machines.solve_dual(kernel[np.ix_(kept, kept)], signs[kept], costs, "hinge")
            scores = kernel[np.ix_(test, kept)] @ (alpha * signs[kept])
            right += [*(scores * signs[test] > 0)]
        assert accuracy == pytest.approx(np.mean(right), abs=2.5 / 150)  # two samples at most


def test_weights_take_part_in_training_and_zeros_in_nothing():
    rows = code_rows("intersection", lambda: [X])
    weights = RNG.integers(0, 3, 150).astype(float)
    kept = np.flatnonzero(weights)
    found = choose_along_path(CodedSVC(), rows, Y, GRID, sample_weight=weights)
    without = choose_along_path(
        CodedSVC(), rows.take(kept), Y[kept], GRID, sample_weight=weights[kept]
    )
    assert found == without
    assert found != choose_along_path(CodedSVC(), rows.take(kept), Y[kept], GRID)


@pytest.mark.parametrize("Cs", ["path", "auto", [1.0, 0.1]])
def test_the_same_machine_on_any_number_of_threads(Cs):
    several = CodedSVCCV(C=Cs, n_jobs=3).fit(X, Y)
    with threads(1):
        one = CodedSVCCV(C=Cs).fit(X, Y)
    assert several.choice_ == one.choice_
    alone = CodedSVC(C=one.C_).fit(X, Y)
    for model in (several, one):
        np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))


def test_all_folds_are_in_the_threads_at_once(monkeypatch):
    """Also of two classes, which are one problem a fold; as many threads as are asked for."""
    asked, blocks = [], folds.for_blocks

    def counted(function, n, size):
        asked.append((folds.num_threads(), n))
        return blocks(function, n, size)

    monkeypatch.setattr(folds, "for_blocks", counted)
    CodedSVCCV(C=[1.0], cv=5, n_jobs=2).fit(X, Y > 0)
    assert asked == [(2, 5)]


def test_each_value_starts_where_the_one_before_stopped(monkeypatch):
    starts, solve = [], folds.solve
    monkeypatch.setattr(
        folds, "solve", lambda *a, **k: starts.append(k["alpha"] is None) or solve(*a, **k)
    )
    rows = code_rows("chi2", lambda: [X])
    with threads(1):
        choose_along_path(CodedSVC(), rows, Y > 0, [4.0, 0.1, 1.0], cv=2)
    assert starts == [True, True] + 4 * [False]


class Known:
    """Machines whose number of wrong labels in each fold is known, by the exponent of √10 of C."""

    def __init__(self, wrong):
        self.wrong, self.asked = wrong, []

    def __call__(self, model, rows, y, splits, weights):
        self.held_out = [y[test] for _, test in splits]
        return self

    def predict(self, C):
        self.asked.append(C)
        n = self.wrong(round(2 * np.log10(C)))
        return [np.where(np.arange(len(y)) < n, y + 1, y) for y in self.held_out]


@pytest.mark.parametrize(
    ("grid", "wrong", "C", "asked"),
    [
        # Best at 0.316, and 12 more wrong of 150 a step: more than their root, twice.
        ("path", lambda k: 4 * abs(k + 1), 0.316228, START[:4]),
        # Best at 0.1: fallen, then extended downwards.
        ("path", lambda k: 4 * abs(k + 2), 0.1, (*START[:3], 0.01, 0.0316228)),
        # Flat until the end: one value inside that edge.
        ("path", lambda k: int(k > 1), 1.0, START),
        # Rising until 100: extended upwards, and one decade beyond it.
        ("path", lambda k: 4 * abs(k - 4), 100.0, (*START, 31.6228, 100.0, 316.228, 1000.0)),
        ("auto", lambda k: 4 * abs(k - 1), 3.16228, START),
        ([100, 1], lambda k: 4 * abs(k + 9), 1.0, (1.0, 100.0)),
    ],
)
def test_which_values_are_compared(monkeypatch, grid, wrong, C, asked):
    machines = Known(wrong)
    monkeypatch.setattr(coded_path, "FoldModels", machines)
    seen = []
    found = choose_along_path(
        CodedSVC(),
        code_rows("chi2", lambda: [X]),
        Y,
        grid,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert (found.C, tuple(machines.asked)) == (C, asked)
    assert found.grid == tuple(sorted(asked))
    assert [done for done, _ in seen] == list(range(1, len(asked) + 1))
    assert all(done <= total for done, total in seen)


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


def test_what_is_not_reached_is_told():
    with pytest.warns(
        ConvergenceWarning, match=r"in \d+ of 9 .* held-out samples: lower C \(now 100\)"
    ):
        choose_along_path(CodedSVC(max_iter=1), code_rows("chi2", lambda: [X]), Y, [100.0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": "paths"}, "C='paths': expected values of C, or a rule: 'auto', 'path', 'plateau'"),
        ({"Cs": [0.1, -1]}, "C=-1: expected a positive number"),
        ({"cv": 1}, "cv=1: expected a whole number of at least 2"),
        ({"n_jobs": 0}, "n_jobs=0: expected a whole number of at least 1, -1 or None"),
        ({"loss": "hinges"}, "loss='hinges': expected 'hinge', 'squared_hinge' or 'logistic', d"),
    ],
)
def test_refused_parameters(parameters, message):
    with pytest.raises(ConfigError) as error:
        CodedSVCCV(**parameters).fit(X, Y)
    assert str(error.value).startswith(message)


def test_a_class_that_is_too_small():
    with pytest.raises(InputError, match="without one fold, only class 0 is left to train on"):
        CodedSVCCV().fit(X, np.arange(150) // 149)
