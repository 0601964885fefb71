"""Very many binary problems: refused in time, counted aloud, and nothing that grows faster."""

import re
import tracemalloc

import numpy as np
import pytest

from kmaps import CodedSVC, GroupLassoSVC, KernelSVC, LiblinearSVC
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
def test_verbose_says_how_many_problems_are_left_and_how_long_they_take(
    learner, monkeypatch, capsys
):
    monkeypatch.setattr("kmaps.svm.learner._PATIENCE_S", 0.0)
    name = type(learner).__name__
    learner.fit(X, Y)
    first, *solved = capsys.readouterr().out.splitlines()
    assert first == f"[{name}] 6 binary problems"
    assert len(solved) == 6
    for number, line in enumerate(solved, start=1):
        told = rf"\[{name}\] {number} of 6 solved, about \d+:\d\d left"
        assert re.fullmatch(told, line)
    assert solved[-1].endswith("about 0:00 left")


def test_lines_come_every_few_seconds_only(capsys):
    CodedSVC(multiclass="ovo", verbose=1).fit(X, Y)
    assert capsys.readouterr().out == "[CodedSVC] 6 binary problems\n"


def test_weights_that_no_memory_holds_are_refused_before_the_first_problem(monkeypatch):
    empty, y = np.empty, np.arange(600) % 300

    def scarce(shape, *arguments, **options):
        if np.prod(shape, dtype=float) > 1e8:
            raise MemoryError
        return empty(shape, *arguments, **options)

    monkeypatch.setattr("kmaps.svm.coded.training.np.empty", scarce)
    monkeypatch.setattr(CodedSVC, "task_of", None)  # nothing is trained
    codes = RNG.integers(0, 200, (600, 300), np.uint8)
    model = CodedSVC(multiclass="ovo", levels=np.arange(200.0))
    told = r"^[\d,]+ weights for each of 44,850 binary problems, 4 bytes each, twice, need [\d.]+ G"
    with pytest.raises(
        MemoryError, match=told + r"iB, more than there is: choose multiclass='ovr'"
    ):
        model.fit(codes, y)


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
    monkeypatch.setattr("kmaps.svm.coded.model._KEPT", 0)
    monkeypatch.setattr("kmaps.svm.learner.BLOCK_VALUES", 8 * 6)  # as of half a million problems
    model = CodedSVC(multiclass="ovo").fit(X, Y)
    made.clear()
    assert model.decision_function(np.tile(X, (4, 1))).shape == (240, 4)
    assert len(made) == 4
