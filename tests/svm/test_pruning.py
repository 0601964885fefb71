"""Pruned maps and models: the same scores from fewer frequencies."""

import pickle

import numpy as np
import pytest

from kmaps import GeneralizedRBFMap, HomogeneousMap, RandomFourierMap
from kmaps.errors import ConfigError, InputError
from kmaps.svm import GroupLassoSVC, LiblinearSVC, prune, resample

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


def test_resampled_frequencies_suit_the_labels_better():
    """As few of the map's own are better for being picked; new ones near them, better still."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((1500, 8)).astype(np.float32)
    y = (np.sin(2 * X[:, 0]) + np.sin(2 * X[:, 1] - X[:, 2]) > 0).astype(int)
    feature_map = RandomFourierMap(300, sigma=1.5).fit(X)
    feature_maps = [feature_map.keep(np.arange(8))]
    feature_maps += [resample(feature_map, X[:500], y[:500], 8, rounds=rounds) for rounds in (0, 4)]
    assert np.isin(feature_maps[1].frequency_indices_, feature_map.frequency_indices_).all()
    assert feature_maps[2].frequency_indices_.max() >= 300
    losses = []
    for few in feature_maps:
        Z = few.transform(X)
        assert Z.shape == (1500, 16)
        losses.append(1 - LiblinearSVC(100.0).fit(Z[:500], y[:500]).score(Z[500:], y[500:]))
    assert losses[0] > losses[1] + 0.02 > losses[2] + 0.04


def test_resampling_keeps_what_there_is():
    feature_map = RandomFourierMap(12).fit(X)
    assert len(resample(feature_map, X, Y, 50, rounds=0).frequency_indices_) == 12
    assert len(resample(feature_map, X, Y3, 5, rounds=1).frequency_indices_) == 5


def test_refuses_what_does_not_fit():
    feature_map = RandomFourierMap(3).fit(X)
    model = LiblinearSVC().fit(feature_map.transform(X), Y)
    with pytest.raises(ConfigError, match="HomogeneousMap draws no frequencies: pass a fitted"):
        prune(HomogeneousMap().fit(X), model)
    with pytest.raises(InputError, match="the model has 6 features, the map gives 8: train the"):
        prune(RandomFourierMap(4).fit(X), model)
    with pytest.raises(ConfigError, match="n_frequencies='4': expected a whole number of at"):
        resample(feature_map, X, Y, "4")
    with pytest.raises(ConfigError, match="rounds=-1: expected a whole number of at least 0"):
        resample(feature_map, X, Y, 2, rounds=-1)
    with pytest.raises(ConfigError, match="'orthogonal': frequencies near others can be drawn"):
        resample(RandomFourierMap(3, structure="orthogonal").fit(X), X, Y, 2)
    model.coef_ = np.zeros((1, 6))
    with pytest.raises(InputError, match="gives none of the 3 frequencies a weight"):
        prune(feature_map, model)
