"""Printed numbers beside ours."""

import pytest

from kmaps.bench.records.printed import Comparison, compare
from tests.bench.sample_records import record


@pytest.mark.parametrize(
    ("printed", "ours", "met"),
    [
        (0.163, 0.1634, True),
        (0.163, 0.1636, False),
        (0.0009, 0.00094, True),
        (0.0009, 0.00096, False),
        (8.238, 7.6, True),
        (9e-05, 9.6e-05, False),
        (12.0, 12.4, True),
    ],
)
def test_met_to_the_printed_digits(printed, ours, met):
    assert Comparison(("", "", ""), "linf", printed, ours).met is met


def test_numbers_stand_beside_the_rows_they_are_of():
    shown = {"setting": "x, y in 0:255", "dataset": "", "options": {"range": "0:255"}}
    cells = [
        record("lowdim", params={"dim": dim}, dim=dim, linf=linf, rms=1.0, kernel=kernel, **shown)
        for dim, linf, kernel in [(5, 0.2, "chi2"), (7, 0.01, "chi2"), (5, 0.02, "js")]
    ]
    cells.append(record("lowdim", params={"dim": 5}, status="failed"))
    printed = [{"rows": {"dim": 5}, "kernel": "chi2", "values": {"linf": 0.1, "rms": 2.0}}]
    lines = list(compare(printed, cells))
    assert [(line.measure, line.ours, line.met) for line in lines] == [
        ("linf", 0.2, False),
        ("rms", 1.0, True),
    ]
    assert lines[0].texts == [
        *("x, y in 0:255", "chi2", "low-dimensional, D = 5"),
        *("largest error", "0.1", "0.20", "+100.0 %"),
    ]
