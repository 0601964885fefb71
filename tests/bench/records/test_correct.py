"""Which test samples were right: kept small, checked, and what two rows are compared by."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from kmaps.bench.paper.claims import judge_claims
from kmaps.bench.paper.designs import outcomes_of
from kmaps.bench.records.arrays import CORRECT, Correct, collect_arrays, read_correct, write_arrays
from kmaps.errors import InputError
from tests.bench.sample_records import claim, record

RNG = np.random.default_rng(0)


def answers(n, chance, n_classes=10):
    """Return labels of a classifier of ten classes, and what it says."""
    truth = RNG.integers(0, n_classes, n)
    wrong = RNG.random(n) >= chance
    return truth, np.where(wrong, (truth + 1) % n_classes, truth)


def cell(correct, **columns):
    return record(n_test=len(correct.correct), **(correct.columns | columns))


def kept(folder, cells):
    """Write the samples of cells beside their records, as a run does at its end."""
    for one, correct in cells:
        write_arrays(folder, one["key"], correct.arrays, CORRECT)
    collect_arrays(folder, [one["key"] for one, _ in cells], CORRECT)


def test_accuracies():
    truth, predicted = answers(997, 0.8)
    truth, predicted = truth % 7, predicted % 7  # classes of other sizes
    correct = Correct.of(truth, predicted)
    assert correct.accuracy == np.mean(truth == predicted)
    balanced = balanced_accuracy_score(truth, predicted)
    assert correct.accuracy_per_class == pytest.approx(balanced, abs=1e-12)
    assert correct.accuracy_per_class != correct.accuracy


def test_rows_have_their_samples_in_one_order():
    truth = np.array([2, 0, 2, 1, 0])
    one = Correct.of(truth, np.array([2, 1, 1, 1, 0]))
    other = Correct.of(truth, np.array([1, 0, 2, 0, 0]))
    assert one.correct.tolist() == [False, True, True, True, False]
    assert other.correct.tolist() == [True, True, False, False, True]
    found = outcomes_of(one, other, by_class=False)
    assert found.accuracies == pytest.approx((one.accuracy, other.accuracy))
    found = outcomes_of(one, other, by_class=True)
    assert found.accuracies == pytest.approx((one.accuracy_per_class, other.accuracy_per_class))
    assert found.shares.tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 6, 1 / 6])
    with pytest.raises(InputError, match="5 and 4 test samples"):
        outcomes_of(one, Correct.of(truth[:4], truth[:4]), by_class=False)


@pytest.mark.parametrize("n", [1, 8, 9, 997])
def test_what_is_kept_is_what_is_read(tmp_path, n):
    correct = Correct.of(*answers(n, 0.7))
    one = cell(correct)
    kept(tmp_path, [(one, correct)])
    found = read_correct(tmp_path, [one, record("exact")])
    assert found.keys() == {one["key"]}
    np.testing.assert_array_equal(found[one["key"]].correct, correct.correct)
    np.testing.assert_array_equal(found[one["key"]].per_class, correct.per_class)
    assert read_correct(tmp_path / "ours.jsonl", [one]) == {}  # a copy of records


def test_another_accuracy_of_classes_than_the_record_says_is_refused(tmp_path):
    correct = Correct.of(*answers(50, 0.5))
    kept(tmp_path, [(cell(correct), correct)])
    with pytest.raises(InputError, match=r"split 0 ovo .*right make its accuracy_per_class"):
        read_correct(tmp_path, [cell(correct, accuracy_per_class=0.0)])


@pytest.mark.parametrize(
    "change",
    [
        {"bits": np.zeros(8, np.uint8)},
        {"bits": np.zeros(7, np.int8)},
        {"per_class": np.array([49], np.uint32)},
        {"per_class": np.array([50, 0], np.uint32)},
        {"per_class": np.array([50.0])},
        {"bits": None},
        {"samples": np.arange(49, dtype=np.uint8)},
        {"samples": np.zeros(50, np.uint8)},  # one sample, 50 times
        {"samples": np.arange(50.0)},
    ],
)
def test_bits_of_other_samples_are_refused(tmp_path, change):
    correct = Correct.of(*answers(50, 0.5, n_classes=1))
    arrays = {**correct.arrays, **change}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    samples = {name: arrays.pop(name) for name in ("samples",) if name in arrays}
    write_arrays(tmp_path, "split-0", samples, CORRECT)
    write_arrays(tmp_path, cell(correct)["key"], arrays, CORRECT)
    with pytest.raises(InputError, match="one bit per test sample, of 50"):
        read_correct(tmp_path, [cell(correct)])


# ---- what they are for

ENTRY = claim(by=0.0)


def two_rows(n_splits, gain, n=400, **columns):
    """Return the records of two rows, the first right wherever the second is and more often."""
    records, correct = [], {}
    for split in range(n_splits):
        truth, predicted = answers(n, 0.8)
        better = predicted.copy()
        wrong = np.flatnonzero(truth != predicted)[: int(gain * n) + split]
        better[wrong] = truth[wrong]
        for method, said in (("homogeneous", better), ("exact", predicted)):
            found = Correct.of(truth, said)
            one = record(method, split, n_train=900, n_test=n, **found.columns, **columns)
            records.append(one)
            correct[one["key"]] = found
    return records, correct


def finding(entry, records, correct):
    [judged] = judge_claims([entry], records, correct)
    return judged.judgement.findings[0]


def test_one_split_is_decided_by_its_samples():
    records, correct = two_rows(1, 0.03)
    assert finding(ENTRY, records, correct).verdict == "holds"
    found = finding(ENTRY, records, {})
    assert (found.verdict, found.interval) == ("undecided", None)
    assert "which test samples were right is not on record" in found.estimate.note


def test_a_cell_without_samples_leaves_the_splits_alone():
    records, correct = two_rows(3, 0.03, average_precision=0.5)
    records[0]["average_precision"] = 0.6
    assert "splits alone" not in finding(ENTRY, records, correct).estimate.note
    precision = finding(ENTRY | {"measure": "ap"}, records, correct)  # it has no right samples
    del correct[records[0]["key"]]
    for found in (precision, finding(ENTRY, records, correct)):
        assert found.estimate.note.startswith("from the splits alone")


def test_accuracies_per_class_weigh_the_classes():
    records, correct = two_rows(1, 0.03)
    found = finding(ENTRY | {"measure": "per-class"}, records, correct)
    difference = records[0]["accuracy_per_class"] - records[1]["accuracy_per_class"]
    assert found.estimate.value == pytest.approx(100 * difference)
    assert found.interval != finding(ENTRY, records, correct).interval
