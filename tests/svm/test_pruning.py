"""Pruned maps and models: the same scores from fewer frequencies."""

import pickle

import numpy as np
import pytest

from kmaps import GeneralizedRBFMap, RandomFourierMap
from kmaps.svm import GroupLassoSVC, LiblinearSVC, prune

RNG = np.random.default_rng(0)
X = RNG.random((300, 6)).astype(np.float32)
near = (X * X[0] / (X + X[0])).sum(axis=1)  # by chi2
Y = (near > np.median(near)).astype(int)
Y3 = Y + (X[:, 5] > 0.7)

LEARNERS = [
    LiblinearSVC(1.0, penalty="l1"),
    LiblinearSVC(5.0, penalty="l1", loss="logistic"),
    GroupLassoSVC(1.0),
    GroupLassoSVC(1.0, loss="hinge"),
]


@pytest.mark.parametrize("structure", ["dense", "orthogonal", "fastfood"])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("y", [Y, Y3], ids=["two", "three"])
def test_scores_are_the_same(structure, learner, y):
    feature_map = GeneralizedRBFMap("chi2", n_frequencies=200, structure=structure).fit(X)
    model = learner.fit(feature_map.transform(X), y)
    small, smaller = prune(feature_map, model)
    kept = model.coef_.reshape(len(model.coef_), 200, 2).any(axis=(0, 2))
    np.testing.assert_array_equal(small.frequency_indices_, np.flatnonzero(kept))
    assert 0 < kept.sum() < 200
    Z = small.transform(X)
    assert Z.shape == (300, 2 * kept.sum())
    before = model.decision_function(feature_map.transform(X))
    np.testing.assert_allclose(smaller.decision_function(Z), before, rtol=0, atol=1e-5)
    assert smaller.model_bytes_ < model.model_bytes_
    again, model_again = pickle.loads(pickle.dumps((small, smaller)))
    np.testing.assert_array_equal(
        model_again.predict(again.transform(X)), model.predict(feature_map.transform(X))
    )


def test_a_frequency_stays_where_one_weight_of_its_pair_does():
    feature_map = RandomFourierMap(3).fit(X)
    model = LiblinearSVC().fit(feature_map.transform(X), Y)
    model.coef_ = np.array([[0, 1e-9, 0, 0, 2, 0]], np.float32)
    small, smaller = prune(feature_map, model)
    assert small.frequency_indices_.tolist() == [0, 2]
    assert smaller.coef_.tolist() == [[0, np.float32(1e-9), 2, 0]]
    assert prune(small, smaller)[0].frequency_indices_.tolist() == [0, 2]
