"""Intervals over splits: what the splits share is in them."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import t as student

from kmaps.bench.paper.designs import (
    CrossedSets,
    Outcomes,
    RandomSplits,
    RepeatedDraws,
    design_of,
    score_interval,
)
from kmaps.bench.paper.intervals import difference
from kmaps.errors import InputError

ALL_SIX = CrossedSets(3, 2, 2, tuple(range(6)))
RUNS = 1000
SLACK = 3 * np.sqrt(0.05 * 0.95 / RUNS)  # three standard errors of a rate of 5 %


def misses(estimate, truth=0.0):
    low, high = estimate.bounds(0.05)
    return not low <= truth <= high


def naive_misses(differences):
    """Whether the t interval for independent splits misses zero."""
    n = len(differences)
    half = student.ppf(0.975, n - 1) * np.std(differences, ddof=1) / np.sqrt(n)
    return abs(np.mean(differences)) > half


# Two rows that are equally good in truth: nearest-mean classifiers, each on features of its own
# that are drawn alike. What they learn and how well they do vary with the samples they get.


def accuracies(outcomes):
    return np.transpose([found.accuracies for found in outcomes])


def test_draws_of_a_map_do_not_make_the_test_samples_more():
    rng = np.random.default_rng(6)
    wrong = np.zeros(2)
    for _ in range(RUNS):
        fixed = rng.random(300) < 0.8
        chance = rng.beta(8, 2, 300)  # of each sample to be right in a draw: 0.8 on average
        outcomes = [Outcomes(fixed, rng.random(300) < chance) for _ in range(5)]
        left, right = accuracies(outcomes)
        estimate = difference(left, right, RepeatedDraws(), outcomes)
        wrong += [misses(estimate), naive_misses(left - right)]
    assert wrong[0] / RUNS <= 0.05 + SLACK
    assert wrong[1] / RUNS > 0.2  # the draws alone


def width_of(estimate):
    low, high = estimate.bounds(0.05)
    return high - low


def test_corrected_resampled_t_in_numbers():
    differences = np.array([1.0, 2.0, 4.0, 3.0]) / 100
    estimate = difference(0.9 + differences, [0.9] * 4, RandomSplits(300, 100))
    assert estimate.value == pytest.approx(2.5)
    for n, bounds in ((4, estimate.bounds), (9, estimate.of_draws(9))):
        half = student.ppf(0.975, n - 1) * np.sqrt((1 / n + 1 / 3) * np.var([1, 2, 4, 3], ddof=1))
        assert bounds(0.05) == pytest.approx((2.5 - half, 2.5 + half))
    assert estimate.note == "from the splits alone: which test samples were right is not on record"


@pytest.mark.parametrize(
    ("sizes", "correlation"),
    [
        ((300, 100, None), 0.25),
        ((300, 100, 400), 0.25),  # all of the pool: Nadeau and Bengio's
        ((100, 100, 700), 1 / 7),
        ((200, 50, 2000), 0.1),
        ((50, 200, 2000), 0.1),
    ],
)
def test_splits_of_a_large_pool_share_less(sizes, correlation):
    assert RandomSplits(*sizes).correlation == pytest.approx(correlation)
    width, corrected = (
        width_of(difference([0.9, 0.8, 0.7], [0.6] * 3, RandomSplits(*s)))
        for s in (sizes, sizes[:2])
    )
    assert width <= corrected


def test_jackknife_over_training_sets_in_numbers():
    """Two of three sets: what one set adds is in two of three choices."""
    differences = np.array([[1.0, 3.0], [2.0, 6.0], [3.0, 9.0]])  # choices by test sets, points
    estimate = difference(0.5 + differences.ravel() / 100, [0.5] * 6, ALL_SIX)
    of_training = 4 / 3 * np.var([2, 4, 6], ddof=1)
    of_tests = np.var([2, 6], ddof=1) / 2
    degrees = (of_training + of_tests) ** 2 / (of_training**2 / 2 + of_tests**2 / 1)
    half = student.ppf(0.975, degrees) * np.sqrt(of_training + of_tests)
    assert estimate.value == pytest.approx(4)
    assert estimate.bounds(0.05) == pytest.approx((4 - half, 4 + half))


def outcomes_of(rng, n, *chances):
    """Return outcomes of n samples; the left row is right with each chance, the right with 0.5."""
    return [Outcomes(rng.random(n) < chance, rng.random(n) < 0.5) for chance in chances]


def half_width(parts, degrees):
    """Return the half width by a sum of variances, with Satterthwaite's degrees of freedom."""
    parts, degrees = np.array(parts), np.array(degrees)
    together = parts.sum() ** 2 / (parts**2 / degrees).sum()
    return student.ppf(0.975, together) * np.sqrt(parts.sum())


def test_draws_and_test_samples_add_up_in_numbers():
    found = outcomes_of(np.random.default_rng(10), 100, 0.9, 0.6, 0.3)
    left, right = accuracies(found)
    of_samples = np.mean([f.left * 1.0 - f.right for f in found], axis=0).var(ddof=1) / 100
    half = half_width([np.var(left - right, ddof=1) / 3, of_samples], [2, 99])
    estimate = difference(left, right, RepeatedDraws(), found)
    assert (width_of(estimate), estimate.on_these) == (pytest.approx(200 * half), True)


def test_training_sets_and_test_samples_add_up_in_numbers():
    found = outcomes_of(np.random.default_rng(11), 100, 0.9, 0.8, 0.6, 0.5, 0.3, 0.2)
    left, right = accuracies(found)
    means = (left - right).reshape(3, 2).mean(axis=1)
    signs = np.reshape([f.left * 1.0 - f.right for f in found], (3, 2, 100)).mean(axis=0)
    of_samples = signs.var(axis=1, ddof=1) / 100 / 4  # a quarter: the mean of two test sets
    estimate = difference(left, right, ALL_SIX, found)
    assert width_of(estimate) == pytest.approx(200 * half_width(of_samples, [99, 99]), rel=0.05)
    half = half_width([4 / 3 * np.var(means, ddof=1), *of_samples], [2, 99, 99])
    low, high = estimate.beyond(0.05)
    assert high - low == pytest.approx(200 * half)
    assert (estimate.on_these, estimate.note) == (True, "on these training sets")


def test_the_jackknife_of_a_mean_is_its_variance():
    values, sets = np.random.default_rng(9).random(5), CrossedSets(5, 2, 1, tuple(range(10)))
    means = np.mean(list(combinations(values, 2)), axis=1)
    jackknife = sets.jackknife_factor * ((means - means.mean()) ** 2).sum()
    assert jackknife == pytest.approx(values.var(ddof=1) / 5)


def test_test_samples_of_one_split_make_its_interval():
    rng = np.random.default_rng(8)
    left, right = rng.random(400) < 0.9, rng.random(400) < 0.8
    found = Outcomes(left, right)
    estimate = difference([left.mean()], [right.mean()], RandomSplits(10, 400), [found])
    low, high = score_interval(*found.discordant, 400, 0.05)
    assert estimate.value == pytest.approx(100 * (left.mean() - right.mean()))
    assert estimate.bounds(0.05) == pytest.approx((100 * low, 100 * high))
    assert 0 < low < high
    assert estimate.note == "the training set is taken as drawn"


@pytest.mark.parametrize(
    ("design", "n"),
    [(RandomSplits(300, 100), 100 / (0.75 / 6 + 0.25)), (ALL_SIX, 200), (RepeatedDraws(), 100)],
)
def test_splits_that_agree_are_no_more_certain_than_their_test_samples(design, n):
    """Equal differences on all splits: never ± 0."""
    left, right = np.array([True] * 90 + [False] * 10), np.array([True] * 88 + [False] * 12)
    found = [Outcomes(left, right)] * 6
    estimate = difference([0.9] * 6, [0.88] * 6, design, found)
    low, high = score_interval(0.02, 0.0, n, 0.05)
    ends = estimate.bounds(0.05)
    assert ends[0] <= 100 * low + 1e-9
    assert ends[1] >= 100 * high - 1e-9


SPLITS_ALONE = "which test samples were right is not on record"


@pytest.mark.parametrize(
    ("left", "design", "reason"),
    [
        ([0.9], RandomSplits(10, 10), f"one split, and {SPLITS_ALONE}"),
        ([0.9], RepeatedDraws(), f"one split, and {SPLITS_ALONE}"),
        ([0.7, 0.8, 0.9], CrossedSets(3, 2, 2, (0, 1, 2)), "3 of the 6 combinations of the sets"),
        ([0.7, 0.8], CrossedSets(3, 3, 2, (0, 1)), "one choice of training sets"),
        ([0.7, 0.8, 0.9], CrossedSets(3, 2, 1, (0, 1, 2)), f"one test set, and {SPLITS_ALONE}"),
        # Not ± 0.
        ([0.75] * 3, RandomSplits(10, 10), f"no difference between the splits, and {SPLITS_ALONE}"),
    ],
)
def test_no_interval_where_there_can_be_none(left, design, reason):
    estimate = difference(left, [0.5] * len(left), design)
    assert estimate.bounds is None
    assert estimate.note == reason
    assert estimate.value == pytest.approx(100 * (np.mean(left) - 0.5))


def test_choices_that_were_tested_on_other_samples_are_refused():
    found = [Outcomes(np.ones(2 + i // 2, bool), np.ones(2 + i // 2, bool)) for i in range(6)]
    with pytest.raises(InputError, match="2, 3, 4 test samples"):
        difference([1.0] * 6, [1.0] * 6, ALL_SIX, found)


SETS = {"choose": 2, "train": ["1", "2", "3"], "test": ["T1", "T2"]}


@pytest.mark.parametrize(
    ("protocol", "design"),
    [
        ({"train": 10, "test": 5}, RandomSplits(10, 5, 90)),
        ({"train_per_class": 2, "test_per_class": 1}, RandomSplits(10, 5, 90)),
        ({"official": True}, RepeatedDraws()),
        ({"train": ["1"], "test": ["T1"]}, RepeatedDraws()),
        (SETS, CrossedSets(3, 2, 2, (0, 1))),
    ],
)
def test_protocols_say_what_splits_share(protocol, design):
    assert design_of(protocol, [0, 1], 10, 5, 90) == design
