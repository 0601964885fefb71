"""Intervals of two rows: of paired proportions, by a score, and of ratios of sizes and times."""

import numpy as np
import pytest
from scipy.stats import norm, ttest_ind
from scipy.stats import t as student

from kmaps.bench.paper.designs import Outcomes, score_interval
from kmaps.bench.paper.intervals import exact_ratio, measured_ratio


def test_weights_make_a_mean_over_classes():
    classes = np.array([0] * 8 + [1] * 2)
    left, right = (
        np.array([True] * 8 + [False, True]),
        np.array([True] * 4 + [False] * 4 + [True] * 2),
    )
    weights = 1 / np.bincount(classes)[classes]
    found = Outcomes(left, right, weights)
    per_class = [[row[classes == c].mean() for c in (0, 1)] for row in (left, right)]
    assert found.accuracies == pytest.approx(np.mean(per_class, axis=1))
    assert found.n_effective == pytest.approx(1 / (8 / 16**2 + 2 / 4**2))


@pytest.mark.parametrize(("b", "c", "n"), [(12, 5, 200), (5, 12, 200), (0, 0, 500)])
def test_differences_within_are_those_the_score_test_does_not_reject(b, c, n):
    """Against the score found on a grid, its nuisance share by brute force over the likelihood."""
    low, high = score_interval(b / n, c / n, n, 0.05)
    for end in (low, high):
        q = np.linspace(max(0, -end) + 1e-9, 0.5, 400_001)
        p = q + end
        inside = (p > 0) & (p + q < 1)
        q, p = q[inside], p[inside]
        likelihood = b * np.log(p) + c * np.log(q) + (n - b - c) * np.log(1 - p - q)
        share = q[likelihood.argmax()]
        score = (b - c - n * end) / np.sqrt(n * (2 * share + end * (1 - end)))
        assert abs(score) == pytest.approx(norm.ppf(0.975), abs=1e-3)
    assert low < (b - c) / n < high


@pytest.mark.parametrize(("only_left", "only_right"), [(1.0, 0.0), (0.0, 1.0), (0.5, 0.5)])
def test_ends_stay_within_one(only_left, only_right):
    low, high = score_interval(only_left, only_right, 20, 0.05)
    assert -1 <= low < high <= 1
    assert low <= only_left - only_right <= high


def test_a_true_null_is_rejected_in_one_of_twenty_cases():
    rng = np.random.default_rng(1)
    shares, n, runs = (0.02, 0.02, 0.96), 1000, 2000
    ends = [score_interval(b / n, c / n, n, 0.05) for b, c, _ in rng.multinomial(n, shares, runs)]
    low, high = np.transpose(ends)
    above, below = (low > 0).mean(), (high < 0).mean()
    assert above + below <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert above + below >= 0.02  # not merely wide
    for one_side in (above, below):
        assert one_side <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / runs)


@pytest.mark.parametrize(
    ("left", "right", "ratio"), [([2, 4], [6, 12], 3.0), ([0], [5], np.inf), ([0], [0], 1.0)]
)
def test_sizes_compare_exactly(left, right, ratio):
    estimate = exact_ratio(left, right)
    assert estimate.value == ratio
    assert estimate.bounds(0.05) == (ratio, ratio)


def test_splits_are_compared_by_the_t_interval_of_their_logarithms():
    left, right = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 5.0, 5.0, 9.0])
    logs = np.log(right / left)
    ends = student.interval(0.95, 3, logs.mean(), logs.std(ddof=1) / np.sqrt(4))
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


def test_a_time_measured_once_has_no_interval():
    estimate = measured_ratio([2.0], [5.0])
    assert (estimate.bounds, estimate.note) == (None, "one split, measured once")
    assert estimate.value == pytest.approx(2.5)


def test_counts_that_keep_their_ratio_are_exact():
    for left, right in (([10, 70, 130], [30, 210, 390]), ([[2, 2]], [[6, 6]])):
        estimate = measured_ratio(left, right)
        assert estimate.method == "exact"
        assert estimate.bounds(0.05) == pytest.approx((3, 3))


def test_bounds_of_any_alpha_are_numbers():
    low, high = measured_ratio([1, 2], [3, 4]).bounds(1e-12)
    assert (low, high) == (0.0, np.inf)
