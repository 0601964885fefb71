"""Very many binary problems: refused in time, counted aloud, and nothing that grows faster."""

import re
import tracemalloc

import numpy as np
import pytest

from kmaps import (
    CodedSVC,
    CodedSVCCV,
    GroupLassoSVC,
    KernelSVC,
    KernelSVCCV,
    LandmarkSVC,
    LiblinearSVC,
    RandomFeatureSVC,
)
from kmaps.svm.coded.model import ScoreTables
from kmaps.svm.reduction import combine_scores

RNG = np.random.default_rng(0)
Y = np.arange(60) % 4
X = RNG.random((60, 6)) + np.eye(6)[Y]
LEARNERS = [
    CodedSVC(multiclass="ovo", verbose=1),
    CodedSVC(multiclass="ovo", penalty="l1", verbose=1),
    LiblinearSVC(multiclass="ovo", verbose=1),
    LiblinearSVC(multiclass="ovo", max_iter=50, verbose=1),
    KernelSVC(verbose=1),
    GroupLassoSVC(multiclass="ovo", verbose=1),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_verbose_says_how_many_problems_are_left_and_for_how_long(learner, monkeypatch, capsys):
    monkeypatch.setattr("kmaps.progress._ASKED_INTERVAL_S", 0.0)
    name = type(learner).__name__
    learner.fit(X, Y)
    first, *solved = capsys.readouterr().out.splitlines()
    assert first == f"[{name}] 6 binary problems"
    told = [
        re.fullmatch(rf"\[{name}\] (\d) of 6 problems solved, about \d+:\d\d left", line)
        for line in solved
    ]
    numbers = [int(line[1]) for line in told]  # gaps on the way are told of as well
    assert numbers == sorted(numbers)
    assert set(numbers) | {0} == set(range(7))
    assert solved[-1].endswith("about 0:00 left")
    monkeypatch.setattr(
        "kmaps.progress._ASKED_INTERVAL_S", np.inf
    )  # lines come every so often only
    learner.fit(X, Y)
    assert capsys.readouterr().out == f"[{name}] 6 binary problems\n"


@pytest.mark.parametrize(
    ("model", "lines"),
    [
        (CodedSVCCV(verbose=1), ["[1-9] of [1-9] values of C compared", "0 of 4 problems solved"]),
        (
            RandomFeatureSVC(n_frequencies=20, verbose=1),
            ["60 of 60 rows in the first pass", r"\d+ passes, a gap of \d\.\de-0\d"],
        ),
        (LandmarkSVC(n_landmarks=20, verbose=1), ["4 of 4 widths compared", r"\d passes, a gap.*"]),
        (KernelSVCCV("exp-chi2", verbose=1), ["4 of 4 widths compared", "6 of 6 problems solved"]),
    ],
    ids=str,
)
def test_choices_and_passes_are_told_of_with_the_time_left(model, lines, monkeypatch, capsys):
    monkeypatch.setattr("kmaps.progress._ASKED_INTERVAL_S", 0.0)
    model.fit(X, Y)
    told = capsys.readouterr().out
    for line in lines:
        assert re.search(rf"^\[\w+\] {line}, about \d+:\d\d left$", told, re.MULTILINE), told
    silent = type(model)(**model.get_params() | {"verbose": 0}).fit(X, Y)
    np.testing.assert_array_equal(silent.decision_function(X), model.decision_function(X))
    assert capsys.readouterr().out == ""


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
