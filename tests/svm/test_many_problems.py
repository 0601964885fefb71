"""Very many binary problems: refused in time, counted aloud, and nothing that grows faster."""

import tracemalloc

import numpy as np

from kmaps import (
    CodedSVC,
)
from kmaps.svm.coded.model import ScoreTables
from kmaps.svm.reduction import combine_scores

RNG = np.random.default_rng(0)
Y = np.arange(60) % 4
X = RNG.random((60, 6)) + np.eye(6)[Y]


def test_scores_of_half_a_million_pairs_take_no_cube_of_memory():
    scores = RNG.standard_normal((2, 499_500)).astype(np.float32)
    tracemalloc.start()
    decision = combine_scores(scores, 1000, "ovo")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e8  # a matrix of pairs and classes has 4 GB
    votes = np.round(decision)
    assert votes.sum() == scores.size
    lost = scores[0, :999] <= 0  # the pairs of the first class
    assert votes[0, 0] == lost.sum()


def test_tables_that_are_too_large_to_keep_are_not_made_for_every_few_rows(monkeypatch):
    made, make = [], ScoreTables._made
    monkeypatch.setattr(ScoreTables, "_made", lambda tables: made.append(1) or make(tables))
    monkeypatch.setattr("kmaps.svm.coded.model.KEPT_BYTES", 0)
    monkeypatch.setattr("kmaps.svm.reduction.BLOCK_VALUES", 8 * 6)  # as of half a million problems
    model = CodedSVC(multiclass="ovo").fit(X, Y)
    made.clear()
    assert model.decision_function(np.tile(X, (4, 1))).shape == (240, 4)
    assert len(made) == 4
