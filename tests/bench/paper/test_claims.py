"""Claims on records: what is paired, what is judged together."""

from math import isnan

import pytest

from kmaps.bench.paper.claims import judge_claims
from tests.bench.sample_records import again, claim, record


def rows(method, values, **columns):
    return [record(method, split=i, accuracy=a, **columns) for i, a in enumerate(values)]


def check(records, relation, by=None, **given):
    """Return the findings of a claim of one entry."""
    [judged] = judge_claims([claim(relation, by=by, **given)], records)
    return judged.judgement.findings


def value(finding):
    return finding.estimate.value


def place(finding):
    return finding.comparison.where


EXACT = rows("exact", [0.90, 0.92, 0.91, 0.93])


def beside(*differences):
    """Return four splits of the map, so many points from the exact kernel."""
    return rows(
        "homogeneous", [r["accuracy"] + d / 100 for r, d in zip(EXACT, differences, strict=True)]
    )


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ((0.1, 0.12, 0.11, 0.1), "holds"),
        ((0.9, 0.92, 0.91, 0.9), "fails"),
        ((-1.5, 1.5, 0.2, -0.2), "undecided"),  # the mean is zero, the splits differ
    ],
)
def test_about_is_the_whole_interval_within_half_a_point(differences, verdict):
    (finding,) = check(beside(*differences) + EXACT, "about")
    assert finding.verdict == verdict


def test_random_splits_are_not_taken_for_independent():
    """Four differences of 1 to 2.2 points: t over independent splits would decide."""
    records = [r | {"n_train": 900, "n_test": 897} for r in beside(1.0, 2.2, 1.4, 1.8) + EXACT]
    (finding,) = check(records, "above", 0.6)
    mean, spread, t = 1.6, 0.5164, 3.1824
    low, high = finding.interval
    assert value(finding) == pytest.approx(mean)
    assert mean - t * spread / 2 > 0.6  # of independent splits
    assert low < 0.6
    # The digits are 1,797 samples, of which 900 train in each split: two splits share half.
    correlation = min(897 / 1797, 900 / 1797)
    half = t * spread * (1 / 4 + correlation / (1 - correlation)) ** 0.5
    assert (low, high) == pytest.approx((mean - half, mean + half), abs=1e-3)


def timed(method, *seconds):
    given = enumerate(seconds)
    parts = {"fit_s": 0.0, "encode_s": 0.0, "convert_s": 0.0}
    return [record(method, split=i, train_s=s, **parts) for i, s in given]


def test_times_are_decided_by_how_far_they_vary():
    fast, slow = timed("homogeneous", 1.0, 1.1, 0.9), timed("exact", 3.0, 3.2, 2.9)
    (finding,) = check(fast + slow, "smaller", 2, measure="time")
    assert finding.verdict == "holds"
    (finding,) = check(fast + timed("exact", 1.0, 9.0, 2.0), "smaller", 2, measure="time")
    assert finding.verdict == "undecided"
    (finding,) = check(fast[:1] + slow[:1], "smaller", 2, measure="time")
    assert (finding.verdict, finding.interval) == ("undecided", None)
    (finding,) = check(timed("homogeneous", 0.0, 1.0) + slow[:2], "smaller", measure="time")
    assert finding.estimate.note == "one of the numbers is zero"


def test_repeats_of_one_split_give_an_interval():
    """Of all of them: medians alone would have none, and the times of the run are others."""
    fast = [again(timed("homogeneous", 50.0)[0], 1.0, 1.1, 0.9)]
    slow = [again(timed("exact", 50.0)[0], 3.0, 3.2, 2.9, 3.1)]
    (finding,) = check(fast + slow, "smaller", 2, measure="time")
    assert finding.verdict == "holds"
    assert finding.estimate.method == "Welch's t of the logarithms, 3 and 4 repeats"
    assert value(finding) == pytest.approx((3.0 * 3.2 * 2.9 * 3.1) ** 0.25 / 0.99 ** (1 / 3))
    (finding,) = check(fast + timed("exact", 3.0), "smaller", 2, measure="time")
    assert (finding.verdict, finding.interval) == ("undecided", None)


def test_failed_cells_and_missing_splits_do_not_count():
    records = rows("homogeneous", [0.9, 0.1]) + rows("exact", [0.9])
    records.append(record("exact", split=1, status="failed", accuracy=None))
    (finding,) = check(records, "about")
    assert value(finding) == 0


def test_what_has_no_draws_stands_beside_every_draw():
    exact = record("exact", accuracy=0.9)
    drawn = [record("generalized-rbf", draw=i, accuracy=a) for i, a in enumerate([0.86, 0.88])]
    maps = {"method": "generalized-rbf"}
    (finding,) = check([exact, *drawn], "above", left=maps)
    assert value(finding) == pytest.approx(-3)
    assert finding.interval == pytest.approx((-3 - 12.7062, -3 + 12.7062), abs=1e-3)  # t, 1 degree
    other = [record("random-fourier", draw=1, accuracy=0.87)]
    (finding,) = check([*drawn, *other], "above", left=maps, right={"method": "random-fourier"})
    assert (value(finding), finding.interval) == (pytest.approx(1), None)


def test_times_beside_other_work_decide_nothing():
    fast, slow = (record(m, train_s=s) for m, s in (("anchor", 1.0), ("exact", 99.0)))
    timed = {"left": {"method": "anchor"}, "right": {"method": "exact"}, "measure": "train"}
    beside = slow | {"other_cpus": 1.0}
    (finding,) = check([fast, beside], "smaller", **timed)
    assert (finding.verdict, finding.interval) == ("undecided", None)
    assert isnan(value(finding))
    assert finding.estimate.note == "timed once, perhaps while other programs ran"
    repeated = [again(one, *(k * one["train_s"] for k in (1, 1.1, 1.2))) for one in (fast, beside)]
    (finding,) = check(repeated, "smaller", **timed)
    assert finding.verdict == "holds"
    other = [one | {"split": 1, "key": one["key"] + "1", "train_s": 50.0} for one in (fast, beside)]
    (finding,) = check([*repeated, *other], "smaller", **timed)
    assert (finding.verdict, value(finding)) == ("holds", pytest.approx(99))


def test_rows_are_compared_at_the_same_size_unless_a_size_is_named():
    sizes = 1_000, 2_000
    records = [r for n in sizes for r in rows("exact", [0.9], size=n)]
    records += [r for n in sizes for r in rows("homogeneous", [0.91], size=n)]
    assert [place(f) for f in check(records, "about")] == [
        f"ovo chi2 homogeneous, n = {n:,} against exact, n = {n:,}" for n in sizes
    ]
    right = {"method": "exact", "size": 2_000}
    assert [place(f) for f in check(records, "about", right=right)] == [
        f"ovo chi2 homogeneous, n = {n:,} against exact, n = 2,000" for n in sizes
    ]
