"""Rows whose C is at the edge of its grid: told from records of lists and of auto."""

import pytest

from kmaps.bench.records import gate
from kmaps.bench.records.gate import FRACTION, Judged
from kmaps.bench.records.lines import chosen_rows, edge, edge_text
from kmaps.bench.report.choice import edges_of_runs
from tests.bench.sample_records import record

LIST = {"C_grid": [1, 3, 10], "C_folds": 3}
AUTO = {"C_grid": "auto", "C_folds": 3, "cv_C": [0.1, 0.316228, 1.0, 3.16228, 10.0]}


@pytest.mark.parametrize(
    ("given", "C", "where"),
    [
        (LIST, 1, "least"),
        (LIST, 3, ""),
        (LIST, 10, "largest"),
        (AUTO, 0.1, "least"),
        (AUTO, 0.316228, ""),
        (AUTO, 3.16228, ""),
        (AUTO, 10.0, "largest"),
        ({"C_grid": [10], "C_folds": None}, 10, ""),  # given, not chosen
        ({"C_grid": [1, 3, 10], "C_folds": 3, "cv_C": [1, 3, 10]}, 10, "largest"),
        ({}, 1, ""),
    ],
)
def test_edges(given, C, where):
    assert edge(record(C=C, **given)) == where


def rows():
    """Three rows on three splits: at the upper edge, at both, inside; and one whose C is given."""
    chosen = {"linear": (10, 10, 10), "exact": (1, 3, 10), "homogeneous": (3, 3, 3)}
    records = [
        record(method, split, C=C, **LIST)
        for method, values in chosen.items()
        for split, C in enumerate(values)
    ]
    return [*records, record("exact-coded", C=10, C_grid=[10])]


def test_rows_are_counted_over_their_splits():
    found = [(row.name, row.least, row.largest, row.n_records) for row in chosen_rows(rows())]
    assert found == [
        ("ovo linear", 0, 3, 3),
        ("ovo chi2 exact", 1, 1, 3),
        ("ovo chi2 homogeneous", 0, 0, 3),
    ]
    assert edges_of_runs({"a": rows(), "b": rows()[9:]}) == {"a": (2, 3)}
    assert edge_text(rows()[3:6]) == "C = 1, 10 is at the edge of its grid in 2 of 3 records"
    assert edge_text(rows()[6:9]) == ""


def test_the_gate_flags_and_passes_them():
    judged = [Judged("accuracy", FRACTION, highest=True)]
    verdicts = gate.compare(rows(), rows(), judged)
    assert gate.outcome(verdicts) is None
    by_name = {cell.name.split()[-1]: cell.edge for cell in verdicts}
    assert by_name["linear"] == "C = 10 is at the edge of its grid in 3 of 3 records"
    assert by_name["homogeneous"] == by_name["exact-coded"] == ""
