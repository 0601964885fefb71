"""Verdicts from intervals, and Holm's correction of what fails among several."""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import norm

from kmaps.bench.paper.verdicts import Comparison, Estimate, decide, exact, judge, unknown


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
    [finding] = judged("above", 0, [("", normal(-1.5))]).findings
    assert finding.p == pytest.approx(2 * norm.sf(1.5), rel=1e-6)
    assert finding.interval == pytest.approx((-1.5 - 1.95996, -1.5 + 1.95996), abs=1e-4)
    [finding] = judged("about", 9, [("", normal(1.5))]).findings
    assert finding.interval == pytest.approx((1.5 - 1.64485, 1.5 + 1.64485), abs=1e-4)
    assert finding.p == 1.0  # no interval makes it fail


def test_holm_steps_down_from_the_smallest():
    """The textbook case: 4 · 0.005, 3 · 0.01, then the larger one is kept for the rest."""
    given = [(str(p), at(p, -1)) for p in (0.01, 0.04, 0.03, 0.005)]
    adjusted = [finding.adjusted_p for finding in judged("above", 0, given).findings]
    assert adjusted == pytest.approx([0.03, 0.06, 0.06, 0.02], rel=1e-5)


def test_all_hold_needs_no_correction():
    """Each of ten comparisons holds by its own interval: so does the claim."""
    assert judged("above", 0, [("", at(0.049))] * 10).verdict == "holds"
    assert judged("above", 0, [*[("", at(0.049))] * 9, ("", at(0.051))]).verdict == "undecided"


def test_false_verdicts_on_a_claim_stay_rare():
    """Eight differences of zero: one of them fails, or all hold, in at most one of twenty cases."""
    rng = np.random.default_rng(2)
    runs, fail, hold, uncorrected = 200, 0, 0, 0
    for values in rng.normal(size=(runs, 8)):
        judgement = judged("above", 0, [("", normal(value)) for value in values])
        fail += judgement.verdict == "fails"
        hold += judgement.verdict == "holds"
        uncorrected += any(finding.p <= 0.05 for finding in judgement.findings)
    most = 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert (fail / runs <= most, hold) == (True, 0)
    assert uncorrected / runs > most


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


def test_equivalence_at_its_margin_is_called_in_one_of_twenty_cases():
    """Two one-sided tests of 5 %: a difference of exactly the margin is rarely about zero."""
    rng = np.random.default_rng(3)
    runs, error = 1000, 0.1
    values = rng.normal(0.5, error, runs)
    holds = [judged("about", 0.5, [("", normal(v, error))]).verdict == "holds" for v in values]
    assert np.mean(holds) == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / runs))


def test_comparisons_of_several_relations_are_corrected_together():
    accuracy = Comparison("accuracy", "above", 0, at(0.04, -1))
    size = Comparison("size", "smaller", 9, exact(8.5))
    assert judge([accuracy]).verdict == "fails"
    assert [finding.verdict for finding in judge([accuracy, size]).findings] == ["fails", "fails"]
    twice = judge([accuracy, Comparison("again", "about", 1.0, normal(0.5))])
    assert [finding.verdict for finding in twice.findings] == ["undecided", "undecided"]


def test_a_verdict_of_any_computer_leaves_times_out():
    accuracy = Comparison("accuracy", "above", 0, at(0.04))
    time = Comparison("time", "smaller", 2, exact(1.0), of_computer=True)
    assert judge([accuracy, time]).verdict == "fails"
    assert judge([accuracy, time]).verdict_of_any_computer == "holds"
    assert judge([time]).verdict_of_any_computer is None
    # An unclear time takes half of the correction; the verdict without it does not.
    below = Comparison("accuracy", "above", 0, at(0.04, -1))
    unclear = Comparison("time", "smaller", 2, normal(2.0), of_computer=True)
    assert judge([below, unclear]).verdict == "undecided"
    assert judge([below, unclear]).verdict_of_any_computer == "fails"


def test_what_holm_leaves_open_differs_from_what_is_open_anyway():
    p_values = {"one": 0.03, "two": 0.04, "three": 0.2}
    named = [*((name, at(p, -1)) for name, p in p_values.items()), ("four", unknown(1.0, ""))]
    together = judged("above", 0, named).findings
    assert [found.is_left_open_by_holm for found in together] == [True, True, False, False]
    [alone] = judged("above", 0, named[:1]).findings
    assert (alone.verdict, alone.is_left_open_by_holm) == ("fails", False)
