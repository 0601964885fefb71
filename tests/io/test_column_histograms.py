"""Histograms of columns: counts, and what differs from training beyond chance."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kmaps.io import ColumnHistograms, TrainingHistograms

DRAWN = np.random.default_rng(0)


def histograms(X, low=None, high=None):
    low = X.min(axis=0) if low is None else low
    high = X.max(axis=0) if high is None else high
    made = ColumnHistograms(np.asarray(low, float), np.asarray(high, float))
    made.add(X)
    return made


def test_blocks_and_sparse_rows_are_counted_as_the_whole():
    X = DRAWN.poisson(1, (300, 4)).astype(np.float64)
    X[:, 3] = 7  # no range
    whole = histograms(X)
    assert (whole.counts.sum(axis=1) == 300).all()
    assert whole.counts[3, 0] == 300
    ends = X.min(axis=0), X.max(axis=0)
    in_blocks = ColumnHistograms(*ends)
    for rows in (X[:10], csr_matrix(X[10:200]), X[200:].astype(np.float32)):
        in_blocks.add(rows)
    assert (in_blocks.counts == whole.counts).all()


def test_values_beyond_the_ends_and_infinite_ones_have_the_level_of_the_end():
    counts = histograms(np.array([[-5.0], [np.inf], [1e300], [0.0]]), [0], [1]).counts[0]
    assert (counts[0], counts[255], counts.sum()) == (2, 2, 4)


def kept(X):
    return json.loads(json.dumps(histograms(X).as_json()))


def test_rows_of_one_distribution_hardly_differ():
    training, new = DRAWN.normal(size=(1000, 20)), DRAWN.normal(size=(400, 20))
    counts = histograms(new, training.min(axis=0), training.max(axis=0)).counts
    of_training = TrainingHistograms(kept(training), 20)
    assert of_training.distances(counts).max() < 0.05
    assert of_training.unseen(counts).max() < 0.05


def test_the_distance_is_the_share_of_rows_that_moved():
    """A closed form: a quarter of the rows goes from one of two equal values to the other."""
    training = np.repeat([[0.0, 0.0], [1.0, 1.0]], 50_000, axis=0)
    new = training.copy()
    new[:25_000, 0] = 1
    distances = TrainingHistograms(kept(training), 2).distances(histograms(new).counts)
    assert distances == pytest.approx([0.25, 0], abs=0.003)


def test_levels_that_training_did_not_have():
    training = np.tile([[0.0], [2.0], [10.0]], (50, 1))
    new = np.array([[0.0], [2.0], [5.0], [7.0]])
    of_training = TrainingHistograms(kept(training), 1)
    assert of_training.unseen(histograms(new, [0], [10]).counts) == pytest.approx([0.5])


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: kept.pop("seen"),
        lambda kept: kept["seen"].append("00" * 32),
        lambda kept: kept["ends"].__setitem__(0, [300]),
        lambda kept: kept["ends"].__setitem__(0, []),
        lambda kept: kept["counts"].__setitem__(0, [-1] * len(kept["ends"][0])),
        lambda kept: kept["once"].__setitem__(0, "many"),
        lambda kept: kept["seen"].__setitem__(0, "zz"),
    ],
)
def test_what_is_no_histogram_is_refused(change):
    damaged = kept(DRAWN.normal(size=(50, 2)))
    change(damaged)
    with pytest.raises(ValueError):
        TrainingHistograms(damaged, 2)
