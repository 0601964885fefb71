"""The choice of C: against folds and machines made by hand."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.svm import SVC

from kmaps import CodedSVC, HomogeneousMap, KernelSVC, LiblinearSVC, gram
from kmaps.errors import ConfigError, InputError
from kmaps.models import (
    along_c,
    along_c_precomputed,
    cross_validate,
    stratified_order,
)
from kmaps.models.choice import splits
from kmaps.svm import code_rows

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(120, 7)).astype(np.float32)
Y = np.digitize(X[:, 0] + X[:, 1], [1, 2])
GRID = [0.01, 1.0, 100.0]


def folds_of(y, folds, seed):
    """Return the fold of each sample, as the documentation says."""
    fold = np.empty(len(y), int)
    fold[stratified_order(y, seed)] = np.arange(len(y)) % folds
    return fold


def by_hand(predict, folds=3, seed=0):
    """Return the accuracy of ``predict(train, test)``, each fold left out once."""
    fold, right = folds_of(Y, folds, seed), 0
    for held_out in range(folds):
        test = np.flatnonzero(fold == held_out)
        right += np.sum(predict(np.flatnonzero(fold != held_out), test) == Y[test])
    return right / len(Y)


def truth(y):
    """Return a ``prepare`` that knows all labels, and what it was called with."""
    calls = []

    def prepare(chosen):
        def predict(grid, train, test):
            calls.append((chosen, list(grid), train, test))
            return [y[chosen][test]] * len(grid)

        return predict

    return prepare, calls


def test_each_fold_is_left_out_once():
    prepare, calls = truth(Y)
    seen = []
    found = cross_validate(
        prepare, [1, 4, 2], Y, cv=5, random_state=3, progress=lambda *at: seen.append(at)
    )
    assert (found.C, found.grid, found.accuracies) == (1.0, (1.0, 2.0, 4.0), (1.0, 1.0, 1.0))
    assert seen == [(i, 15) for i in range(1, 16)]
    assert len(calls) == 5
    fold = folds_of(Y, 5, 3)
    for held_out, (chosen, grid, train, test) in enumerate(calls):
        assert grid == [1.0, 2.0, 4.0]
        assert set(chosen[test]) == set(np.flatnonzero(fold == held_out))
        assert set(chosen[train]) == set(np.flatnonzero(fold != held_out))
        share = np.bincount(Y[chosen[test]]) - np.bincount(Y) / 5
        assert np.abs(share).max() < 1


def test_the_order_goes_class_by_class_at_random():
    y = np.array([2, 0, 1, 0, 2, 0] * 10)
    order = stratified_order(y, 1)
    assert sorted(order) == list(range(60))
    np.testing.assert_array_equal(order, stratified_order(y, 1))
    assert not np.array_equal(order, stratified_order(y, 2))
    assert not np.array_equal(order, np.argsort(y, kind="stable"))
    words = np.array(["b", "a", "c"])[y]
    assert "".join(words[stratified_order(words, 1)]) == 10 * "a" + 30 * "b" + 20 * "c"
    for first in range(7):  # every seventh is a stratified draw
        counts = np.bincount(y[order[first::7]], minlength=3)
        assert np.abs(counts - np.bincount(y) / 7).max() < 1


def test_codes_along_the_path_are_machines_trained_alone():
    """Against cold machines on the folds' own copies of the codes."""
    rows = code_rows("chi2", lambda: [X])
    model = CodedSVC(tol=1e-5)
    found = cross_validate(lambda of: along_c(model, rows.take(of), Y[of]), GRID, Y)
    codes = rows.rows.codes.reshape(120, 7)

    def alone(C):
        cold = CodedSVC(C=C, tol=1e-5, levels=rows.levels)
        return lambda train, test: cold.fit(codes[train], Y[train]).predict(codes[test])

    expected = [by_hand(alone(C)) for C in GRID]
    assert found.accuracies == pytest.approx(expected, abs=1.5 / 120)
    assert max(found.accuracies) > min(found.accuracies) + 0.1
    assert (model.C, model.warm_start) == (1.0, False)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_features_and_machines_by_hand(form):
    Z = form(HomogeneousMap().fit_transform(X))
    model = LiblinearSVC(multiclass="ovo")
    found = cross_validate(lambda of: along_c(model, Z[of], Y[of]), GRID, Y, cv=4, random_state=5)

    def alone(C):
        learner = LiblinearSVC(C, multiclass="ovo")
        return lambda train, test: learner.fit(Z[train], Y[train]).predict(Z[test])

    expected = [by_hand(alone(C), 4, 5) for C in GRID]
    assert found.accuracies == pytest.approx(expected, abs=1.5 / 120)
    assert found.grid[int(np.argmax(found.accuracies))] == found.C


def test_a_gram_matrix_agrees_with_scikit_learn():
    """The same folds, LIBSVM through scikit-learn's own copy."""
    matrix = gram(X, kernel="chi2")
    found = cross_validate(
        lambda of: along_c_precomputed(KernelSVC("precomputed"), matrix[np.ix_(of, of)], Y[of]),
        GRID,
        Y,
    )
    exact = matrix.astype(float)

    def alone(C):
        model = SVC(C=C, kernel="precomputed")
        return lambda train, test: model.fit(exact[np.ix_(train, train)], Y[train]).predict(
            exact[np.ix_(test, train)]
        )

    assert list(found.accuracies) == [by_hand(alone(C)) for C in GRID]


def rising(best):
    """Return a ``prepare`` whose machines are right for more samples the nearer C is to a value."""
    calls = []

    def prepare(chosen):
        def predict(grid, train, test):
            calls.append(list(grid))
            for C in grid:
                n = 100 - 20 * abs(np.log10(C / best))
                yield np.where(chosen[test] < n, Y[chosen][test], -1)

        return predict

    return prepare, calls


def test_auto_compares_more_values_until_the_best_is_inside():
    prepare, calls = rising(100)
    seen = []
    found = cross_validate(prepare, "auto", Y, progress=lambda *at: seen.append(at))
    start, first, second = calls[0], [31.6228, 100.0], [316.228, 1000.0]
    assert calls == [start] * 3 + [first] * 3 + [second] * 3
    assert (found.C, found.is_at_edge) == (100.0, False)
    assert found.grid == (*start, *first, *second)
    twelfths = np.array([4, 5, 6, 7, 8, 9, 10, 9, 8])
    assert found.accuracies == pytest.approx(twelfths / 12, abs=0.01)
    assert seen == [(i, 15 if i < 16 else 21 if i < 22 else 27) for i in range(1, 28)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"C": "all"}, "C='all': expected values of C, or a rule: 'auto', 'path', 'plateau'"),
        ({"C": []}, "C=(): expected at least one value"),
        ({"C": [1, 0]}, "C=0: expected a positive number"),
        ({"C": [np.nan]}, "C=nan: expected a positive number"),
        ({"cv": 1}, "cv=1: expected a whole number of at least 2"),
        ({"random_state": -1}, "random_state=-1: expected a whole number of at least 0"),
        ({"samples": 0}, "samples=0: expected a whole number of at least 1"),
        ({"samples": 2.5}, "samples=2.5: expected a whole number of at least 1"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ConfigError) as caught:
        cross_validate(truth(Y)[0], **({"C": [1], "y": Y} | arguments))
    assert str(caught.value) == message


def test_folds_do_not_divide_groups():
    groups = np.repeat(list("abcde"), [9, 4, 3, 3, 1])
    y = np.arange(20) % 2
    seen = []

    def prepare(chosen):
        def predict(grid, train, test):
            seen.append({*groups[chosen][train]} & {*groups[chosen][test]})
            yield from (y[chosen][test] for C in grid)

        return predict

    cross_validate(prepare, [1, 2], y, cv=3, groups=groups)
    assert seen == [set()] * 3
    sizes = sorted(len(test) for _, test in splits(y, 3, groups))
    assert sizes == [5, 6, 9]
    with pytest.raises(InputError, match="5 groups cannot be cut into cv=6 folds: use fewer"):
        cross_validate(prepare, [1, 2], y, cv=6, groups=groups)
