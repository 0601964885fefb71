"""The group lasso against its dual, solved by a general method; what it drops."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kmaps import RandomFourierMap
from kmaps._loops.groups import descend_groups
from kmaps.svm import GroupLassoSVC, LiblinearSVC

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 11))
Y = np.where(X[:, 0] - X[:, 3] + 0.7 * RNG.standard_normal(30) > 0, "b", "a")


def test_groups_of_one_are_the_l1_machine():
    alone = GroupLassoSVC(0.1, group_size=1, tol=1e-7, max_iter=5000).fit(X, Y)
    ours = LiblinearSVC(0.1, penalty="l1", tol=1e-8).fit(X, Y)
    np.testing.assert_allclose(alone.coef_, ours.coef_, atol=2e-3)
    np.testing.assert_array_equal(alone.coef_ != 0, np.abs(ours.coef_) > 1e-6)


def test_drops_whole_groups_the_more_the_smaller_c():
    kept = []
    for C in (0.03, 0.1, 0.3):
        model = GroupLassoSVC(C).fit(X, Y)
        used = model.coef_[0] != 0
        assert (used[0:10:2] == used[1:10:2]).all()
        kept.append(used[::2].sum())
    assert 0 < kept[0] < kept[1] < kept[2]
    assert not GroupLassoSVC(1e-3, bias=0.0).fit(X, Y).coef_.any()


def test_float32_and_many_classes():
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    for multiclass, n_problems in (("ovr", 3), ("ovo", 3)):
        model = GroupLassoSVC(1.0, multiclass=multiclass).fit(X.astype(np.float32), y)
        assert model.coef_.shape == (n_problems, 11)
        assert model.coef_.dtype == np.float32
        assert model.score(X, y) > 0.8


def test_float32_reaches_a_small_gap_on_columns_much_alike():
    """Where losses nearly vanish, groups come in that gain less than float32 margins would tell."""
    feature_map = RandomFourierMap(200, sigma=10.0).fit(X)
    model = GroupLassoSVC(100.0, tol=1e-5).fit(feature_map.transform(X.astype(np.float32)), Y)
    assert model.duality_gap_[0] <= 1e-5
    assert model.n_iter_ < 40


def test_sweeps_end_where_the_model_is_least():
    """The gradient there is minus each group's unit vector, at most 1 long without weights."""
    starts = np.array([0, 2, 5, 6, 8])
    gram = X[:, :8].T @ X[:, :8]
    start = np.ones(8)
    first = gram @ start + np.array([3.0, 3.0, 0.1, 0.1, 0.1, 3.0, 0.1, 0.1])
    weights, gradient = start.copy(), first.copy()
    descend_groups(gram, starts, gradient, weights, 3000)
    np.testing.assert_allclose(gradient, first + gram @ (weights - start), atol=1e-9)
    lengths = np.sqrt(np.add.reduceat(weights**2, starts[:-1])).repeat(np.diff(starts))
    used = lengths > 0
    assert 0 < used.sum() < 8
    np.testing.assert_allclose(gradient[used], -weights[used] / lengths[used], atol=1e-9)
    assert (np.add.reduceat(gradient**2, starts[:-1]) < 1 + 1e-9).all()


def test_says_when_it_stopped_early():
    with pytest.warns(ConvergenceWarning, match="after max_iter=1 rounds, above tol="):
        assert GroupLassoSVC(10.0, max_iter=1).fit(X, Y).n_iter_ == 1


def test_the_hinge_is_reached_by_rounded_ones():
    model = GroupLassoSVC(loss="hinge", tol=1e-5).fit(X, Y)
    assert model.duality_gap_[0] <= 1e-5
    assert model.n_iter_ < 40
