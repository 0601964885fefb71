"""How many draws would decide what is undecided."""

from math import nan, sqrt

import numpy as np
import pytest

from kmaps.bench.paper.designs import CrossedSets, Outcomes, RandomSplits
from kmaps.bench.paper.intervals import difference, measured_ratio
from kmaps.bench.paper.verdicts import Comparison, Estimate, judge, needed, unknown
from tests.bench.paper.test_coverage import Simulated


def compared(value, relation="above", by=0.0, measured=4, **more):
    """Return a comparison whose interval is ± 2 / √draws, at any error probability."""

    def of_draws(n):
        return lambda alpha: (value - 2 / sqrt(n), value + 2 / sqrt(n))

    found = Estimate(value, of_draws(measured), "", of_draws=of_draws, **more)
    return Comparison("rows", relation, by, found)


NO_INTERVAL = Comparison("rows", "above", 0.0, unknown(nan, "one split, measured once"))


@pytest.mark.parametrize(
    ("comparisons", "said"),
    [
        ([compared(0.5)], "16 draws would decide"),
        ([compared(0.4, "about", 0.5)], "400 draws would decide"),
        ([compared(0.5), compared(0.25)], "64 draws would decide"),  # both have to hold
        ([compared(-0.5), compared(0.25)], "17 draws would decide"),  # one that fails decides
        ([compared(-0.5), NO_INTERVAL], "17 draws would decide"),
        ([compared(0.5), NO_INTERVAL], "no number of draws is known: one split, measured once"),
        (
            [compared(0.01)],
            "no feasible number of draws decides, 1,000 do not: too near the margin",
        ),
        ([compared(2.0)], ""),
        ([compared(-2.0), compared(0.5)], ""),
        ([], ""),
    ],
)
def test_in_words(comparisons, said):
    assert needed(judge(comparisons)) == said


def test_where_all_combinations_are_measured_so_many_more_test_samples_decide():
    rng = np.random.default_rng(0)
    tests = [rng.random((2, 3000)) < [[0.9], [0.88]] for _ in range(2)]
    found = [Outcomes(*(tests[split % 2] ^ (rng.random((2, 3000)) < 0.02))) for split in range(6)]
    left, right = np.transpose([one.accuracies for one in found])
    value = difference(left, right, CrossedSets(3, 2, 2, tuple(range(6))), found)
    low, high = value.bounds(0.05)
    near = value.value - (high - low) / 6  # a third of the half width: nine times the samples
    said = needed(judge([Comparison("rows", "above", near, value)]))
    assert said in {f"{n} times as many test samples would decide" for n in (9, 10)}
    said = needed(judge([Comparison("rows", "above", value.value, value)]))
    assert said.startswith("no feasible number of test samples decides, 1,000 times as many do not")


def test_as_many_draws_of_accuracies_as_an_oracle_says_decide():
    """A difference that is 0.6 points from its bound: in the median of 25 runs of five draws."""
    numbers = []
    for seed in range(25):
        found = Simulated(3500, 500, 5, 0.1, training=1).draw(np.random.default_rng(seed))
        left, right = np.transpose([one.accuracies for one in found])
        value = difference(left, right, RandomSplits(3000, 500, 3500), found)
        said = needed(judge([Comparison("rows", "above", value.value - 0.6, value)]))
        numbers.append(int(said.split()[0]))
    enough = next(n for n in range(2, 99) if 100 * Simulated(3500, 500, n, 0.1, 0, 1).oracle < 0.6)
    assert 0.8 * enough < np.median(numbers) < 1.5 * enough


def test_as_many_splits_of_times_decide():
    times = [1.0, 1.3, 0.8, 1.1], [1.1, 1.2, 1.0, 1.2]
    found = measured_ratio(*times)
    said = needed(judge([Comparison("rows", "smaller", 1.0, found)]))
    n = int(said.split()[0])
    log = np.log(np.divide(times[1], times[0]))
    assert found.of_draws(n)(0.05)[0] >= 1 > found.of_draws(n - 1)(0.05)[0]
    assert found.of_draws(4)(0.05) == pytest.approx(found.bounds(0.05))
    assert n > 4
    assert np.exp(log.mean()) == pytest.approx(found.value)
