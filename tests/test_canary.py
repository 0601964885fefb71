"""Which cells of a published run the canary measures, and what it lets pass."""

from itertools import chain

import pytest

from kmaps.bench.records.file import read_records
from tests.canary import RESULTS, _holds, cheap_cells, is_on_words, published_runs, third

RECORD = {
    **{"status": "ok", "solver": "coded", "versions": {}, "method": "exact", "key": "a", "dim": 3},
    **{"dataset": "mnist", "features": "intensity", "normalize": "l1", "split": 0, "train_s": 1.0},
}


def test_the_cheapest_cells_of_two_methods_on_one_split_are_measured():
    others = [
        RECORD | {"key": "b", "train_s": 0.5},
        RECORD | {"key": "c", "train_s": 0.1, "solver": "own"},
        RECORD | {"key": "d", "train_s": 3.0, "method": "homogeneous"},
        RECORD | {"key": "e", "train_s": 2.0, "method": "homogeneous", "split": 1},
        RECORD | {"key": "f", "train_s": 0.2, "status": "failed"},
    ]
    assert [one["key"] for one in cheap_cells([RECORD, *others])] == ["b", "d"]
    assert len(cheap_cells([RECORD | {"train_s": 11.0}, *others[2:3]])) == 1


def test_runs_on_visual_words_are_measured_on_the_first_split_whose_vocabulary_they_share():
    words = RECORD | {"features": "dense-sift-bow words=8"}
    cells = [words | {"split": 1, "train_s": 0.1}, words, words | {"split": 2, "train_s": 0.2}]
    assert cheap_cells(cells) == [words]


@pytest.mark.parametrize(
    ("column", "ours", "baseline", "moved", "holds"),
    [
        ("accuracy", 0.745, 0.752, True, True),
        ("accuracy", 0.745, 0.752, False, False),
        ("accuracy", 0.735, 0.752, True, False),
        ("linf", 1.2e-6, 1.0e-6, True, False),
        ("train_bytes", 1_000_500, 1_000_000, True, True),
    ],
)
def test_words_may_move_a_little_on_another_processor(column, ours, baseline, moved, holds):
    one = {"column": column, "ours": ours, "baseline": baseline, "verdict": "worse"}
    kept = {"column": "dim", "ours": 206.0, "baseline": 203.0, "verdict": "same"}
    assert _holds({"verdict": "worse", "differences": [one, kept]}, moved=moved) == holds


def test_a_cell_without_differences_passes_only_when_the_gate_passes_it():
    for verdict in ("same", "changed", "improved"):
        assert _holds({"verdict": verdict, "differences": []}, moved=False)
    assert not _holds({"verdict": "missing", "differences": []}, moved=True)


def test_every_published_run_is_measured_once_and_words_first():
    runs = published_runs()
    published = sorted(path.parent.name for path in RESULTS.glob("*/records.jsonl"))
    assert sorted(chain(*runs)) == published
    for name in chain(*runs):
        assert cheap_cells(read_records(RESULTS / name)), name
    assert any({"annfm-table3-grid", "genrbf-caltech101-words"} <= {*shared} for shared in runs[:3])


def test_a_tree_draws_a_third_of_the_runs_and_of_those_on_words():
    runs = published_runs()
    drawn = list(chain(*third(runs, "tree")))
    assert drawn == list(chain(*third(runs[::-1], "tree")))
    assert drawn != list(chain(*third(runs, "another tree")))
    for of_kind in (drawn, [name for name in drawn if is_on_words(name)]):
        every = [name for name in chain(*runs) if of_kind is drawn or is_on_words(name)]
        assert len(every) / 3 <= len(of_kind) == len({*of_kind}) <= len(every) / 3 + 2
