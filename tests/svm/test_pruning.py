"""Pruned maps and models: the same scores from fewer projections."""

import pickle

import numpy as np
import pytest

from kmaps import GeneralizedRBFMap, HomogeneousMap, RandomFourierMap, gram
from kmaps.errors import ConfigError, InputError
from kmaps.svm import GroupLassoSVC, LiblinearSVC, keep_strongest, prune

RNG = np.random.default_rng(0)
X = RNG.random((300, 6)).astype(np.float32)
Y = (gram(X, X[:1], kernel="chi2")[:, 0] > np.median(gram(X, X[:1], kernel="chi2"))).astype(int)
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
    encoder = GeneralizedRBFMap("chi2", n_frequencies=200, structure=structure).fit(X)
    model = learner.fit(encoder.transform(X), y)
    small, smaller = prune(encoder, model)
    kept = model.coef_.reshape(len(model.coef_), 200, 2).any(axis=(0, 2))
    np.testing.assert_array_equal(small.projections_, np.flatnonzero(kept))
    assert 0 < kept.sum() < 200
    Z = small.transform(X)
    assert Z.shape == (300, 2 * kept.sum())
    before = model.decision_function(encoder.transform(X))
    np.testing.assert_allclose(smaller.decision_function(Z), before, rtol=0, atol=1e-5)
    assert smaller.model_bytes_ < model.model_bytes_
    again, model_again = pickle.loads(pickle.dumps((small, smaller)))
    np.testing.assert_array_equal(
        model_again.predict(again.transform(X)), model.predict(encoder.transform(X))
    )


def test_a_projection_stays_where_one_weight_of_its_pair_does():
    encoder = RandomFourierMap(3).fit(X)
    model = LiblinearSVC().fit(encoder.transform(X), Y)
    model.coef_ = np.array([[0, 1e-9, 0, 0, 2, 0]], np.float32)
    small, smaller = prune(encoder, model)
    assert small.projections_.tolist() == [0, 2]
    assert smaller.coef_.tolist() == [[0, np.float32(1e-9), 2, 0]]
    assert prune(small, smaller)[0].projections_.tolist() == [0, 2]
    assert keep_strongest(encoder, model, 1).projections_.tolist() == [2]
    assert keep_strongest(encoder, model, 9).projections_.tolist() == [0, 1, 2]


def test_refuses_what_does_not_fit():
    encoder = RandomFourierMap(3).fit(X)
    model = LiblinearSVC().fit(encoder.transform(X), Y)
    with pytest.raises(ConfigError, match="HomogeneousMap has no projections: pass a fitted Rand"):
        prune(HomogeneousMap().fit(X), model)
    with pytest.raises(InputError, match="the model has 6 features, the map gives 8: train the"):
        prune(RandomFourierMap(4).fit(X), model)
    with pytest.raises(ConfigError, match="n_projections=0: expected a whole number from 1 on"):
        keep_strongest(encoder, model, 0)
    model.coef_ = np.zeros((1, 6))
    with pytest.raises(InputError, match="gives none of the 3 projections a weight"):
        prune(encoder, model)
