"""Ratios of sizes and of times."""

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_ind

from kmaps.bench.paper.intervals import exact_ratio, measured_ratio
from kmaps.errors import InputError


@pytest.mark.parametrize(
    ("left", "right", "ratio"), [([2, 4], [6, 12], 3.0), ([0], [5], np.inf), ([0], [0], 1.0)]
)
def test_sizes_compare_exactly(left, right, ratio):
    estimate = exact_ratio(left, right)
    assert estimate.value == ratio
    assert estimate.bounds(0.05) == (ratio, ratio)


def test_splits_are_compared_by_the_t_interval_of_their_logarithms():
    left, right = np.array([1.0, 2.0, 3.0]), np.array([2.0, 5.0, 5.0])
    logs = np.log(right / left)
    ends = student.interval(0.95, 2, logs.mean(), logs.std(ddof=1) / np.sqrt(3))
    estimate = measured_ratio(left, right)
    assert estimate.value == pytest.approx(np.exp(logs.mean()))
    assert estimate.bounds(0.05) == pytest.approx(np.exp(ends))
    turned = measured_ratio(right, left).bounds(0.05)
    assert turned == pytest.approx(1 / np.array(estimate.bounds(0.05))[::-1])


def test_repeats_of_a_split_count_by_their_median():
    repeated = measured_ratio([[1, 1, 9], [2, 2.5, 2]], [[3, 3, 3], [8, 1, 8]])
    assert repeated.bounds(0.05) == pytest.approx(measured_ratio([1, 2], [3, 8]).bounds(0.05))


def test_repeats_of_one_split_are_compared_by_welch():
    left, right = [1.0, 1.1, 0.9], [2.0, 2.3, 2.2, 2.6]
    ends = ttest_ind(np.log(right), np.log(left), equal_var=False).confidence_interval(0.95)
    estimate = measured_ratio([left], [right])
    assert estimate.bounds(0.05) == pytest.approx((np.exp(ends.low), np.exp(ends.high)))


def test_equal_times_are_rarely_told_apart():
    rng = np.random.default_rng(9)
    runs, wrong = 2000, 0
    for times in rng.lognormal(0, 0.3, (runs, 2, 5)):
        low, high = measured_ratio(*times).bounds(0.05)
        wrong += not low <= 1 <= high
    assert 0.02 <= wrong / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_a_time_measured_once_has_no_interval():
    estimate = measured_ratio([2.0], [5.0])
    assert (estimate.bounds, estimate.note) == (None, "one split, measured once")
    assert estimate.value == pytest.approx(2.5)


def test_counts_that_keep_their_ratio_are_exact():
    estimate = measured_ratio([10, 70, 130], [30, 210, 390])
    assert estimate.method == "exact"
    assert estimate.bounds(0.05) == pytest.approx((3, 3))


def test_bounds_of_any_alpha_are_numbers():
    low, high = measured_ratio([1, 2], [3, 4]).bounds(1e-12)
    assert (low, high) == (0.0, np.inf)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ([1.0, 2.0], [1.0], "values of 2 and 1 splits: expected the same, one or more"),
        ([0.0], [1.0], "got 0 among the values of a ratio: expected positive ones"),
    ],
)
def test_bad_values_are_refused(left, right, message):
    with pytest.raises(InputError) as refused:
        measured_ratio(left, right)
    assert str(refused.value) == message
