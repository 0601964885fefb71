"""Claims on records: what is paired, what holds."""

import pytest

from kmaps.bench.records.claims import check_claim
from tests.bench.sample_records import record


def rows(method, values, **columns):
    return [record(method, split=i, accuracy=a, **columns) for i, a in enumerate(values)]


def check(records, relation, by=None, measure="accuracy", left=None, right=None):
    claim = {
        "left": left or {"method": "homogeneous"},
        "right": right or {"method": "exact"},
        "relation": relation,
        "measure": measure,
        "by": by,
    }
    return check_claim(claim, records)


EXACT = rows("exact", [0.90, 0.92])


@pytest.mark.parametrize(("values", "holds"), [([0.896, 0.916], True), ([0.894, 0.914], False)])
def test_about_is_half_a_point(values, holds):
    (finding,) = check(rows("homogeneous", values) + EXACT, "about")
    assert finding.holds is holds
    assert finding.error == pytest.approx(0, abs=1e-9)  # the splits agree on the difference


def test_about_widens_with_two_standard_errors_of_the_paired_difference():
    (finding,) = check(rows("homogeneous", [0.88, 0.92]) + EXACT, "about")
    assert (finding.value, finding.error) == (pytest.approx(-1.0), pytest.approx(1.0))
    assert finding.holds


@pytest.mark.parametrize(("by", "holds"), [(1.9, True), (2.1, False)])
def test_above(by, holds):
    (finding,) = check(rows("homogeneous", [0.92, 0.94]) + EXACT, "above", by)
    assert finding.holds is holds
    assert not check(rows("homogeneous", [0.89, 0.91]) + EXACT, "above")[0].holds


def test_smaller_is_a_ratio():
    records = rows("homogeneous", [0.9], train_bytes=10) + rows("exact", [0.9], train_bytes=95)
    for by, holds in ((9, True), (10, False)):
        (finding,) = check(records, "smaller", by, measure="storage-train")
        assert (finding.value, finding.holds) == (9.5, holds)


def test_rows_are_paired_by_what_the_selections_do_not_name():
    records = []
    for n in (30, 50):
        for k, accuracy in ((1, 0.9), (2, 0.91)):
            records += rows("anchor", [accuracy], params={"n_anchors": n, "n_neighbors": k})
    two, one = ({"method": "anchor", "n_neighbors": k} for k in (2, 1))
    assert len(check(records, "above", left=two, right=one)) == 2
    fifty, thirty = ({"method": "anchor", "n_anchors": n} for n in (50, 30))
    findings = check(records, "above", left=fifty, right=thirty)
    assert [finding.value for finding in findings] == [0, 0]


def test_kernels_and_reductions_are_not_mixed_and_linear_stands_beside_all():
    records = rows("homogeneous", [0.9], kernel="chi2") + rows("exact", [0.5], kernel="js")
    records += rows("exact", [0.5], reduction="ovr")
    assert check(records, "about") == []
    records += rows("linear", [0.85])
    (finding,) = check(records, "above", 4, right={"method": "linear"})
    assert finding.where == "ovo chi2 homogeneous against linear"


def test_a_selection_may_name_its_kernel():
    records = rows("homogeneous", [0.9]) + rows("exact", [0.8], kernel="linear")
    assert check(records, "above") == []
    linear = {"method": "exact", "kernel": "linear"}
    (finding,) = check(records, "above", 4, right=linear)
    assert finding.where == "ovo chi2 homogeneous against linear exact"
    # Both names: the rows with that kernel, and no others.
    assert len(check(records, "above", left=linear, right={"method": "homogeneous"})) == 1
    assert check(records, "above", left=linear, right=linear) == []


def test_failed_cells_and_missing_splits_do_not_count():
    records = rows("homogeneous", [0.9, 0.1]) + rows("exact", [0.9])
    records.append(record("exact", split=1, status="failed", accuracy=None))
    (finding,) = check(records, "about")
    assert finding.value == 0


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
    found = check(
        records,
        "smaller",
        measure="linf",
        left={"method": "lowdim"},
        right={"method": "homogeneous"},
    )
    assert sorted(finding.value for finding in found) == [2, 3]
    (tail,) = check(
        records,
        "smaller",
        measure="linf",
        left={"method": "lowdim", "range": "0:127"},
        right={"method": "lowdim", "range": "0:255"},
    )
    assert tail.value == 4
    assert "(0:127) against" in tail.where
    (fewer,) = check(
        records,
        "smaller",
        measure="linf",
        left={"method": "lowdim", "dim": 5},
        right={"method": "homogeneous", "dim": 7},
    )
    assert (fewer.value, fewer.holds) == (0.5, False)


def test_what_has_no_draws_stands_beside_every_draw():
    exact = record("exact", accuracy=0.9)
    drawn = [record("generalized-rbf", draw=i, accuracy=a) for i, a in enumerate([0.86, 0.88])]
    maps = {"method": "generalized-rbf"}
    (finding,) = check([exact, *drawn], "above", left=maps)
    assert finding.value == pytest.approx(-3)
    assert finding.error == pytest.approx(1)
    other = [record("random-fourier", draw=1, accuracy=0.87)]
    (finding,) = check([*drawn, *other], "above", left=maps, right={"method": "random-fourier"})
    assert (finding.value, finding.error) == (pytest.approx(1), 0)


def test_rows_go_by_their_short_labels():
    records = rows("anchor", [0.8], params={"n_anchors": 40, "energy": 0.95}) + EXACT
    (finding,) = check(records, "about", left={"method": "anchor", "energy": 0.95})
    assert finding.where == "ovo chi2 ANNFM, N = 40 against exact"


def test_solver_and_learner_can_be_named():
    records = rows("homogeneous", [0.9], solver="coded") + rows("homogeneous", [0.8])
    left, right = ({"method": "homogeneous", "solver": s} for s in ("coded", "liblinear"))
    (finding,) = check(records, "above", left=left, right=right)
    assert finding.value == pytest.approx(10)
    learners = [
        record("generalized-rbf", draw=0, learner={"name": name, "C": 1.0}, accuracy=a)
        for name, a in (("dense", 0.9), ("group", 0.8))
    ]
    (finding,) = check(learners, "above", left={"learner": "dense"}, right={"learner": "group"})
    assert finding.value == pytest.approx(10)
