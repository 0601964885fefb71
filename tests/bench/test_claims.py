"""Claims on records: what is paired, what holds, and the page that says so."""

import pytest
from click.testing import CliRunner

from kmaps.bench.kinds import load as spec
from kmaps.bench.records.claims import check_claim
from kmaps.bench.records.file import COLUMNS, RecordsFile
from kmaps.bench.report.page import report
from kmaps.cli.main import cli
from kmaps.errors import ConfigError
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
    assert finding.where == "ovo chi2 homogeneous against exact"
    # Both names: the rows with that kernel, and no others.
    assert len(check(records, "above", left=linear, right={"method": "homogeneous"})) == 1
    assert check(records, "above", left=linear, right=linear) == []


def test_failed_cells_and_missing_splits_do_not_count():
    records = rows("homogeneous", [0.9, 0.1]) + rows("exact", [0.9])
    records.append(record("exact", split=1, status="failed", accuracy=None))
    (finding,) = check(records, "about")
    assert finding.value == 0


CLAIMS = """
claims:
  - {id: A2, text: as good, left: {method: homogeneous}, right: {method: exact}, relation: about}
"""
TEXT = """\
experiment: trial
about: What it is.
dataset: {name: digits, train: 100, test: 50}
reductions: [ovo]
baselines: [linear]
C: 1
"""


def test_claims_of_an_experiment_are_checked():
    assert spec.parse(TEXT + CLAIMS).claims[0].id == "A2"
    with pytest.raises(ConfigError, match="unknown key, did you mean 'relation'"):
        spec.parse(TEXT + CLAIMS.replace("relation:", "relatoin:"))
    with pytest.raises(ConfigError, match=r"claims\[0\]\.relation"):
        spec.parse(TEXT + CLAIMS.replace("about}", "abut}"))


def test_page_says_what_ran_and_what_fails():
    records = rows("homogeneous", [0.8, 0.8]) + EXACT
    for line in records:
        line |= {"commit": "abc123", "cpu": "a processor", "started": "2026-01-01T00:00:00+00:00"}
        line |= {"time": 1, "fit_s": 1, "encode_s": 1, "convert_s": 1, "train_s": 1}
        line |= {"storage_bytes": 1, "versions": {"numpy": "2.0"}}
    claims = [claim.model_dump() for claim in spec.parse(TEXT + CLAIMS).claims]
    page = report(records, "What it is.", claims, ["errors.png"], "It is so.")
    assert "    kmaps run trial" in page
    assert "- commit: abc123" in page
    assert "**A2** as good: holds in 0 of 1 comparisons." in page
    assert "- fails: ovo chi2 homogeneous against exact: -11.00 ± 1.00 points" in page
    assert "## Findings\n\nIt is so." in page
    assert "![errors.png](errors.png)" in page


def test_command_writes_once(tmp_path):
    with RecordsFile(tmp_path) as file:
        for i, line in enumerate(rows("homogeneous", [0.8])):
            file.append(dict.fromkeys(COLUMNS) | line | {"key": str(i)})
    run = ["report", str(tmp_path)]
    assert CliRunner().invoke(cli, run).exit_code == 0
    assert (tmp_path / "README.md").read_text().startswith("# trial\n")
    again = CliRunner().invoke(cli, run)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert CliRunner().invoke(cli, [*run, "--force"]).exit_code == 0


def test_rows_of_a_study_are_paired_on_one_range_at_one_dimension():
    records = [
        record(method, split=None, dim=dim, linf=linf, protocol={"range": text})
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
