"""Claims on records: what is paired, what is judged together."""

from math import isnan

import pytest

from kmaps.bench.paper.claims import judge_claims
from tests.bench.sample_records import again, record


def rows(method, values, **columns):
    return [record(method, split=i, accuracy=a, **columns) for i, a in enumerate(values)]


def entry(relation, by=None, measure="accuracy", left=None, right=None, **more):
    return {
        "id": "as-good",
        "text": "as good",
        "left": left or {"method": "homogeneous"},
        "right": right or {"method": "exact"},
        "relation": relation,
        "measure": measure,
        "by": by,
    } | more


def check(records, relation, *args, **kwargs):
    """Return the findings of a claim of one entry."""
    [claim] = judge_claims([entry(relation, *args, **kwargs)], records)
    return claim.judgement.findings


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


@pytest.mark.parametrize(("by", "verdict"), [(9, "holds"), (10, "fails")])
def test_bytes_are_compared_exactly(by, verdict):
    records = rows("homogeneous", [0.9], train_bytes=10) + rows("exact", [0.9], train_bytes=95)
    (finding,) = check(records, "smaller", by, measure="storage-train")
    assert (value(finding), finding.verdict) == (9.5, verdict)


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


def test_repeats_of_several_splits_count_by_their_medians():
    fast = [again(cell, 1.0, 1.2, 9.0) for cell in timed("homogeneous", 50.0, 50.0)]
    slow = [
        again(cell, 3.6, 2.4, t) for cell, t in zip(timed("exact", 5.0, 5.0), (1, 9), strict=True)
    ]
    (finding,) = check(fast + slow, "smaller", measure="time")
    assert value(finding) == pytest.approx((2.4 / 1.2 * 3.6 / 1.2) ** 0.5)


def test_entries_of_one_identifier_are_one_claim():
    records = beside(0.1, 0.12, 0.11, 0.1) + EXACT
    entries = [
        entry("about", id="A2"),
        entry("about", id="as-good"),
        entry("above", 2, id="A2"),
    ]
    first, second = judge_claims(entries, records)
    assert (first.id, first.judgement.counts) == ("A2", "1 of 2 hold, 1 fail")
    assert first.text == "homogeneous map with r = 3 and r = 5 ≈ exact, on every dataset and kernel"
    assert (second.text, second.judgement.verdict) == ("as good", "holds")


def test_an_entry_may_speak_of_some_kernels_alone():
    records = [
        *(r for kernel in ("chi2", "js") for r in rows("homogeneous", [0.9], kernel=kernel)),
        *(r for kernel in ("chi2", "js") for r in rows("exact", [0.9], kernel=kernel)),
        *rows("linear", [0.8]),
    ]
    assert len(check(records, "about")) == 2
    (finding,) = check(records, "about", kernels=["js"])
    assert place(finding) == "ovo js homogeneous against exact"
    assert len(check(records, "above", kernels=["js"], right={"method": "linear"})) == 1


def test_rows_are_paired_by_what_the_selections_do_not_name():
    records = []
    for n in (30, 50):
        for k, accuracy in ((1, 0.9), (2, 0.91)):
            records += rows("anchor", [accuracy], params={"n_anchors": n, "n_neighbors": k})
    two, one = ({"method": "anchor", "n_neighbors": k} for k in (2, 1))
    assert len(check(records, "above", left=two, right=one)) == 2
    fifty, thirty = ({"method": "anchor", "n_anchors": n} for n in (50, 30))
    findings = check(records, "above", left=fifty, right=thirty)
    assert [value(finding) for finding in findings] == [0, 0]
    assert place(findings[0]) == "ovo chi2 ANNFM, N = 50 against ANNFM, N = 30"


def test_kernels_and_reductions_are_not_mixed_and_linear_stands_beside_all():
    records = rows("homogeneous", [0.9], kernel="chi2") + rows("exact", [0.5], kernel="js")
    records += rows("exact", [0.5], reduction="ovr")
    assert check(records, "about") == ()
    records += rows("linear", [0.85])
    (finding,) = check(records, "above", 4, right={"method": "linear"})
    assert place(finding) == "ovo chi2 homogeneous against linear"


def test_a_selection_may_name_its_kernel():
    records = rows("homogeneous", [0.9]) + rows("exact", [0.8], kernel="linear")
    assert check(records, "above") == ()
    linear = {"method": "exact", "kernel": "linear"}
    (finding,) = check(records, "above", 4, right=linear)
    assert place(finding) == "ovo chi2 homogeneous against linear exact"
    # Both names: the rows with that kernel, and no others.
    assert len(check(records, "above", left=linear, right={"method": "homogeneous"})) == 1
    assert check(records, "above", left=linear, right=linear) == ()


def test_failed_cells_and_missing_splits_do_not_count():
    records = rows("homogeneous", [0.9, 0.1]) + rows("exact", [0.9])
    records.append(record("exact", split=1, status="failed", accuracy=None))
    (finding,) = check(records, "about")
    assert value(finding) == 0


def test_rows_over_ranges_are_paired_on_one_range_at_one_dimension():
    records = [
        record(method, split=None, dim=dim, linf=linf, options={"range": text}, params={"dim": dim})
        for method, dim, linf, text in [
            ("lowdim", 5, 1.0, "0:127"),
            ("lowdim", 5, 4.0, "0:255"),
            ("homogeneous", 5, 2.0, "0:127"),
            ("homogeneous", 5, 12.0, "0:255"),
            ("homogeneous", 7, 0.5, "0:127"),
        ]
    ]
    low, homogeneous = {"method": "lowdim"}, {"method": "homogeneous"}

    def errors(left, right):
        return check(records, "smaller", measure="linf", left=left, right=right)

    assert sorted(value(finding) for finding in errors(low, homogeneous)) == [2, 3]
    (tail,) = errors(low | {"range": "0:127"}, low | {"range": "0:255"})
    assert value(tail) == 4
    assert "(0:127) against" in place(tail)
    (fewer,) = errors(low | {"dim": 5}, homogeneous | {"dim": 7})
    assert (value(fewer), fewer.verdict) == (0.5, "fails")


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


def test_splits_with_a_draw_each_are_splits_like_others():
    values = [(0.86, 0.90), (0.88, 0.91), (0.87, 0.93)]
    drawn = [
        record("generalized-rbf", split=i, draw=i, accuracy=a) for i, (a, _) in enumerate(values)
    ]
    exact = [record("exact", split=i, accuracy=b, predict_s=2.0) for i, (_, b) in enumerate(values)]
    maps = {"method": "generalized-rbf"}
    (finding,) = check([*exact, *drawn], "above", left=maps)
    plain = [cell | {"draw": None} for cell in drawn]
    (expected,) = check([*exact, *plain], "above", left=maps)
    assert finding.interval == expected.interval
    assert finding.estimate.method == "corrected resampled t, 3 splits"
    timed = [cell | {"predict_s": 1.0} for cell in drawn]
    (finding,) = check([*exact, *timed], "smaller", measure="predict", left=maps)
    assert finding.estimate.note == ""


def test_times_beside_other_work_decide_nothing():
    fast, slow = (record(m, train_s=s) for m, s in (("anchor", 1.0), ("exact", 99.0)))
    timed = {"left": {"method": "anchor"}, "right": {"method": "exact"}, "measure": "train"}
    beside = slow | {"other_cpus": 1.0}
    (finding,) = check([fast, beside], "smaller", **timed)
    assert (finding.verdict, finding.interval) == ("undecided", None)
    assert isnan(value(finding))
    assert finding.estimate.note == "timed once, perhaps while other programs ran"
    repeated = [
        again(cell, *(k * cell["train_s"] for k in (1.0, 1.1, 1.2))) for cell in (fast, beside)
    ]
    (finding,) = check(repeated, "smaller", **timed)
    assert finding.verdict == "holds"


def test_a_row_that_was_measured_once_is_said_to_be():
    exact = record("exact", predict_s=3.0)
    drawn = [record("generalized-rbf", draw=i, predict_s=s) for i, s in enumerate([1.0, 1.1])]
    maps = {"method": "generalized-rbf"}
    (finding,) = check([exact, *drawn], "smaller", measure="predict", left=maps)
    assert finding.estimate.note == "one of the two rows was measured once"
    again = [cell | {"key": cell["key"] + "b", "method": "random-fourier"} for cell in drawn]
    other = {"method": "random-fourier"}
    (finding,) = check([*drawn, *again], "smaller", measure="predict", left=maps, right=other)
    assert finding.estimate.note == ""


def test_solver_and_learner_can_be_named():
    records = rows("homogeneous", [0.9], solver="coded") + rows("homogeneous", [0.8])
    left, right = ({"method": "homogeneous", "solver": s} for s in ("coded", "liblinear"))
    (finding,) = check(records, "above", left=left, right=right)
    assert value(finding) == pytest.approx(10)
    learners = [
        record("generalized-rbf", draw=0, learner={"name": name, "C": 1.0}, accuracy=a)
        for name, a in (("dense", 0.9), ("group", 0.8))
    ]
    (finding,) = check(learners, "above", left={"learner": "dense"}, right={"learner": "group"})
    assert value(finding) == pytest.approx(10)


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


def test_parameters_may_be_lists():
    params = {"hidden_layer_sizes": [20, 10]}
    net = rows(
        "sklearn.neural_network.MLPClassifier", [0.9], params=params, solver="own", kernel=""
    )
    (finding,) = check([*net, *rows("exact", [0.8])], "above", left=params)
    assert value(finding) == pytest.approx(10)
