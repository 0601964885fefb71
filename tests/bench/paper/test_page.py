"""Pages on one run and on all runs; tests/test_published.py makes all published ones again."""

from kmaps.bench.paper.entries import claim_entries, packaged
from kmaps.bench.paper.glance import glance
from kmaps.bench.paper.numbers import numbers_of, printed_tables
from kmaps.bench.paper.page import page
from kmaps.bench.paper.reported import reported
from kmaps.bench.paper.reproduced import compare
from kmaps.bench.paper.statements import claims
from kmaps.bench.report.document import Section, Table, as_markdown
from tests.bench.records.published import records
from tests.bench.sample_records import claim, record

CLAIM = claim("about")
RECORDS = [
    *(record("homogeneous", i, accuracy=0.8, params={"order": 1}) for i in (0, 1)),
    *(record("exact", i, accuracy=a) for i, a in enumerate([0.90, 0.92])),
]


def shown(records=RECORDS, **parts):
    return as_markdown(page(records, measures=("accuracy",), **parts))


def test_a_page_says_what_accuracies_are_compared_by():
    correct = {cell["key"]: None for cell in RECORDS[2:]}
    text = shown(claims=[{**CLAIM, "relation": "smaller", "measure": "storage"}])
    assert "compared by" not in text
    text = shown(claims=[CLAIM])
    assert "## Claims\n\nNo `correct.npz` says which test samples each row got right, so" in text
    text = shown(claims=[CLAIM], correct=correct)
    assert "`correct.npz` has no test samples of 2 of 4 cells, so accuracies are" in text
    text = shown(claims=[CLAIM | {"measure": "ap"}])
    assert "Average precisions are compared by their splits and draws alone." in text


def test_a_claim_that_compares_nothing_is_not_measured():
    text = shown(RECORDS[:2], claims=[CLAIM], sections=[Section("Growth", [Table("a", [])])])
    assert "| as-good | as good | not measured |  |  |" in text
    assert "## Growth\n\n| a |\n| --- |\n\n## Tables" in text


def test_numbers_that_a_run_lacks_are_counted():
    numbers = [number for number in numbers_of("ldefm-table1") if number.row == "VLFeat 5D"]
    text = shown(numbers=list(compare(numbers, {})))
    assert f" {len(numbers)} missing among our records." in text


def test_what_has_no_run_keeps_its_place_on_the_page_on_all_runs():
    runs = {name: records()[name] for name in ("ldefm-table1", "quickstart")}
    text = as_markdown(glance(reported(runs, claim_entries(runs), {}), runs, packaged()))
    for one in claims().values():
        assert text.count(f"\n| {one.id} | {one.text} |") == 1
    for _, table in printed_tables():
        assert f"\n| {table} | " in text
    assert "`annfm-table1-mnist`" in text.splitlines()[-1]
