"""Which machines are shown: within limits, on the front, with an interval."""

from math import sqrt

import pytest
from scipy.stats import norm

from kmaps.bench.recommend.choices import (
    Limits,
    accuracy_interval,
    points_by_key,
    row_us,
    standing,
    unbeaten,
)
from tests.bench.sample_records import record

COSTS = {
    **dict.fromkeys(("fit_s", "encode_s", "convert_s"), 0.0),
    **{"train_s": 1.0, "predict_s": 1.0, "peak_bytes": 10, "storage_bytes": 100, "n_test": 1000},
    **{"n_train": 2000, "C": 1.0, "C_samples": 1000, "cv_C": [1.0, 10.0]},
}


def machine(kernel, accuracy, **columns):
    folds = {"cv_accuracy": [accuracy, 1.0]}
    return record("exact-coded", kernel=kernel, accuracy=accuracy, **COSTS | folds | columns)


def names(records):
    return [choice.point.name for choice in unbeaten(records, points_by_key(records))]


def test_a_machine_is_shown_when_no_other_beats_it_in_one_cost():
    records = [
        machine("chi2", 0.9),
        machine("js", 0.8),  # beaten in everything
        machine("hellinger", 0.7, storage_bytes=50),
        machine("intersection", 0.95, train_s=9.0, predict_s=9.0, peak_bytes=90, storage_bytes=900),
    ]
    chosen = names(records)
    assert [name.split()[0] for name in chosen] == ["intersection", "chi2", "hellinger"]


def test_the_folds_have_a_say_in_the_order_but_not_in_what_is_shown():
    records = [
        machine("chi2", 0.9, train_s=2.0, cv_accuracy=[0.7, 1.0]),
        machine("js", 0.88, train_s=1.0, cv_accuracy=[0.8, 1.0]),
        machine("hellinger", 0.87, train_s=1.0, cv_accuracy=[0.9, 1.0]),  # beaten by js
    ]
    assert [name.split()[0] for name in names(records)] == ["js", "chi2"]
    # So many rows of the folds as there were, and no more.
    records[1] |= {"C_samples": None, "n_train": 100}
    assert [name.split()[0] for name in names(records)] == ["js", "chi2"]
    assert standing(records[1]) == pytest.approx((0.88 * 1000 + 0.8 * 100) / 1100)


def test_reductions_are_named_where_there_are_several():
    records = [machine("chi2", 0.9), machine("chi2", 0.95, reduction="ovr", key="other")]
    assert names(records) == ["ovr chi2 exact on codes"]
    assert names(records[:1]) == ["chi2 exact on codes"]


def test_failures_have_no_point():
    failed = machine("js", None, status="failed")
    assert points_by_key([machine("chi2", 0.9), failed]).keys() == {machine("chi2", 0.9)["key"]}


def test_limits_are_of_storage_and_of_a_row():
    one = machine("chi2", 0.9)
    assert row_us(one) == 1000.0
    assert Limits(100, 1000.0).hold(one)
    assert not Limits(99, 1000.0).hold(one)
    assert not Limits(100, 999.0).hold(one)


@pytest.mark.parametrize(("accuracy", "n"), [(0.93, 300), (0.5, 10), (1.0, 50), (0.0, 7)])
def test_the_interval_is_that_of_the_score_test(accuracy, n):
    z = norm.isf(0.025)
    ends = accuracy_interval(accuracy, n)
    assert 0 <= ends[0] <= accuracy <= ends[1] <= 1
    for end in ends:
        at_end = end in (0.0, 1.0)
        distance = z * sqrt(end * (1 - end) / n)
        assert at_end or abs(accuracy - end) == pytest.approx(distance, rel=1e-9)
    wider = accuracy_interval(accuracy, n, alpha=0.01)
    assert wider[1] - wider[0] > ends[1] - ends[0]
