"""Verdicts from intervals, and Holm's correction for several of them."""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import norm

from kmaps.bench.paper.verdicts import (
    Comparison,
    Estimate,
    decide,
    exact,
    judge,
    unknown,
)


def judged(relation, by, named):
    """Judge comparisons of one relation and bound."""
    return judge(Comparison(where, relation, by, estimate) for where, estimate in named)


def normal(value, error=1.0):
    """Return an estimate with normal intervals."""

    def bounds(alpha):
        half = -ndtri(alpha / 2) * error
        return value - half, value + half

    return Estimate(value, bounds, "normal")


def at(p, sign=1):
    """Return an estimate whose difference from zero has this two-sided p-value."""
    return normal(sign * norm.isf(p / 2))


@pytest.mark.parametrize(
    ("relation", "by", "low", "high", "verdict"),
    [
        ("above", 4, 4.0, 5.0, "holds"),
        ("above", 4, 3.9, 5.0, "undecided"),
        ("above", 4, 3.0, 4.0, "undecided"),
        ("above", 4, 3.0, 3.9, "fails"),
        ("above", -0.5, -0.4, 0.2, "holds"),
        ("about", 0.5, -0.5, 0.5, "holds"),
        ("about", 0.5, -0.6, 0.1, "undecided"),
        ("about", 0.5, -0.1, 0.6, "undecided"),
        ("about", 0.5, 0.6, 0.9, "fails"),
        ("about", 0.5, -0.9, -0.6, "fails"),
        ("smaller", 9, 9.0, 12.0, "holds"),
        ("smaller", 9, 8.9, 12.0, "undecided"),
        ("smaller", 9, 7.0, 8.9, "fails"),
    ],
)
def test_the_whole_interval_decides(relation, by, low, high, verdict):
    assert decide(relation, by, low, high) == verdict


def test_one_comparison_is_decided_by_its_own_interval():
    assert judged("above", 0, [("", normal(1.97))]).verdict == "holds"
    assert judged("above", 0, [("", normal(1.95))]).verdict == "undecided"  # 1.645 is not enough
    assert judged("above", 0, [("", normal(-1.97))]).verdict == "fails"
    [finding] = judged("above", 0, [("", normal(1.5))]).findings
    assert finding.p == pytest.approx(2 * norm.sf(1.5), rel=1e-6)
    assert finding.interval == pytest.approx((1.5 - 1.95996, 1.5 + 1.95996), abs=1e-4)


def adjusted(*p_values):
    found = judged("above", 0, [(str(p), at(p)) for p in p_values]).findings
    return [finding.adjusted_p for finding in found]


def test_holm_steps_down_from_the_smallest():
    """The textbook case: 4 · 0.005, 3 · 0.01, then the larger one is kept for the rest."""
    assert adjusted(0.01, 0.04, 0.03, 0.005) == pytest.approx([0.03, 0.06, 0.06, 0.02], rel=1e-5)


def test_a_false_verdict_among_many_true_nulls_stays_rare():
    rng = np.random.default_rng(2)
    runs, wrong, uncorrected = 200, 0, 0
    for values in rng.normal(size=(runs, 8)):
        findings = judged("above", 0, [("", normal(value)) for value in values]).findings
        wrong += any(finding.verdict != "undecided" for finding in findings)
        uncorrected += any(finding.p <= 0.05 for finding in findings)
    assert wrong / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert uncorrected / runs > 0.2


def test_what_has_no_interval_is_undecided_and_no_test():
    judgement = judged("above", 0, [("a", at(0.04)), ("b", unknown(9.0, "one split"))])
    assert [finding.verdict for finding in judgement.findings] == ["holds", "undecided"]
    assert judgement.findings[1].interval is None
    assert judgement.verdict == "undecided"
    assert judgement.counts == "1 of 2 hold, 1 undecided"


@pytest.mark.parametrize(
    ("values", "verdict", "counts"),
    [
        ([2, 3], "holds", "2 of 2 hold"),
        ([2, -3, -1], "fails", "1 of 3 hold, 2 fail"),
        ([], "undecided", "nothing measured"),
    ],
)
def test_a_claim_holds_where_every_comparison_does(values, verdict, counts):
    judgement = judged("above", 0, [(str(value), exact(value)) for value in values])
    assert judgement.verdict == verdict
    assert judgement.counts == counts


def test_equivalence_at_its_margin_is_called_in_one_of_forty_cases():
    """Two one-sided tests of 2.5 %: a difference of exactly the margin is rarely about zero."""
    rng = np.random.default_rng(3)
    runs, error = 1000, 0.1
    values = rng.normal(0.5, error, runs)
    holds = [judged("about", 0.5, [("", normal(v, error))]).verdict == "holds" for v in values]
    assert np.mean(holds) <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / runs)
    assert np.mean(holds) >= 0.01


def test_comparisons_of_several_relations_are_corrected_together():
    accuracy = Comparison("accuracy", "above", 0, at(0.04))
    size = Comparison("size", "smaller", 9, exact(9.5))
    assert judge([accuracy]).verdict == "holds"
    assert [finding.verdict for finding in judge([accuracy, size]).findings] == ["holds", "holds"]
    twice = judge([accuracy, Comparison("again", "about", 1.0, at(0.04, -1))])
    assert [finding.verdict for finding in twice.findings] == ["undecided", "undecided"]


def test_a_verdict_of_any_computer_leaves_times_out():
    accuracy = Comparison("accuracy", "above", 0, at(0.04))
    time = Comparison("time", "smaller", 2, exact(1.0), of_computer=True)
    unclear = Comparison("time", "smaller", 2, normal(2.0), of_computer=True)
    assert judge([accuracy, time]).verdict == "fails"
    assert judge([accuracy, time]).verdict_of_any_computer == "holds"
    # An unclear time takes half of the correction; the verdict without it does not.
    assert judge([accuracy, unclear]).findings[0].verdict == "undecided"
    assert judge([accuracy, unclear]).verdict_of_any_computer == "holds"
    assert judge([time]).verdict_of_any_computer is None


def test_what_holm_leaves_open_is_told_from_what_is_open_anyway():
    named = [("one", at(0.03)), ("two", at(0.04)), ("three", at(0.2)), ("four", unknown(1.0, ""))]
    together = judged("above", 0, named).findings
    assert [found.is_left_open_by_holm for found in together] == [True, True, False, False]
    [alone] = judged("above", 0, named[:1]).findings
    assert (alone.verdict, alone.is_left_open_by_holm) == ("holds", False)
