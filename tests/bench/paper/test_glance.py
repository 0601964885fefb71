"""The page on all runs: each paper's tables and claims, and what is missing."""

from collections import Counter

import pytest

from kmaps.bench.paper import reported
from kmaps.bench.paper.entries import claim_entries, packaged
from kmaps.bench.paper.glance import glance
from kmaps.bench.paper.numbers import Outcome, printed_tables
from kmaps.bench.paper.statements import claims, papers
from tests.bench.records.published import records

DAIMLER = "annfm-table4-daimler"


@pytest.fixture(scope="module")
def page():
    names = ["ldefm-table1", DAIMLER, "quickstart"]
    runs = {name: records()[name] for name in names}
    return glance(reported.reported(runs, claim_entries(runs), {}), runs, packaged())


def lines_with(page, text):
    return [line for line in page.splitlines() if line.startswith(text)]


def test_each_paper_table_and_claim_has_its_place(page):
    for paper in papers():
        assert f"## {paper.name}: {paper.title}\n" in page
    for claim in claims().values():
        assert len(lines_with(page, f"| {claim.id} | {claim.text} |")) == 1
    for paper, table in printed_tables():
        assert lines_with(page, f"| {table} | "), (paper, table)


def test_a_table_says_how_many_are_met_and_how_far_they_are(page):
    runs = {DAIMLER: records()[DAIMLER]}
    items = reported.reported(runs, {}, {})
    outcomes = Counter(one.verdict for one in items if one.name.startswith("annfm Table 4: "))
    met = outcomes[Outcome.MET]
    judged = met + outcomes[Outcome.NOT_MET]
    assert judged == 25
    [line] = lines_with(page, f"| Table 4 | {met} of {judged} | ")
    assert " points | " in line
    assert f"{outcomes[Outcome.SHOWN]} times, shown as ratios" in line
    assert line.endswith("| [annfm-table4-daimler](annfm-table4-daimler/README.md) |")


def test_a_run_says_how_many_rows_have_c_at_an_edge(page):
    """Counted by hand from the records: quickstart's 0.01 and 10, annfm Table 4's 3."""
    names = "kernel", "reduction", "solver", "method", "params"
    for name in ("annfm-table4-daimler", "quickstart"):
        at_edge, rows = set(), set()
        for one in records()[name]:
            row = str([one[column] for column in names])
            rows.add(row)
            if one["C"] in (min(one["C_grid"]), max(one["C_grid"])):
                at_edge.add(row)
        [line] = [line for line in lines_with(page, f"| [{name}]") if "folds" in line]
        assert line.endswith(f" | {len(at_edge)} of {len(rows)} |")
    assert not [line for line in lines_with(page, "| [ldefm-table1]") if "folds" in line]


def test_a_claim_links_to_what_decides_it(page):
    [line] = lines_with(page, "| C1 | ")
    assert "**fails**: [ldefm-table1](ldefm-table1/README.md) (" in line
    [line] = lines_with(page, "| V4 | ")
    assert "holds: `tests/maps/test_homogeneous.py::" in line
    [line] = lines_with(page, "| L5 | ")
    assert "::test_passes_hardly_grow_with_bins` (passes of the on-the-fly solver" in line
    assert "Other runs: [quickstart](quickstart/README.md)." in page
    assert "`annfm-table1-mnist`" in page.splitlines()[-1]  # has no run
