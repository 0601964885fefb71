"""LaTeX tables: their structure always, and that they compile where there is a TeX."""

import re

import pytest

from kmaps.bench.kinds import shown_of
from kmaps.bench.report.tables import render
from tests.bench.records.published import records as published
from tests.bench.sample_records import record

RUNS = (  # one of each kind
    "annfm-table4-daimler",
    "scaling-mnist",
    "ldefm-table1",
    "lac-figure3-toy",
    "genrbf-approximation",
    "genrbf-figure3-tradeoff",
)
# Each character that latex() knows, in the name of a row.
ODD = r"\~^±⊗σγεΩ–…×·−²µ<>|†‡¶§&%$#_{}₀₉"


def tables_of(records):
    return render(records, "latex", shown_of(records).measures(records))


def odd_records():
    """Return records whose names hold all that is special, and equations."""
    params = {"n_frequencies": 1000}
    cells = [
        *(record(params={"order": 2, "window": name}, train_s=1.0) for name in ("uniform", ODD)),
        record("random-fourier", params=params, kernel="exp-chi2"),
    ]
    return [cell | {"dataset": "50 % & more"} for cell in cells]


def check_structure(text):
    """Check that environments end where they began and every row has all columns."""
    tables = re.findall(r"\\begin\{table\}\n(.*?)\\end\{table\}\n", text, re.DOTALL)
    assert len(tables) == text.count(r"\begin{table}") == text.count(r"\end{table}") > 0
    for table in tables:
        assert table.startswith("\\centering\n\\caption{")
        [columns] = re.findall(r"\\begin\{tabular\}\{(lr+)\}", table)
        rows = re.findall(r"^(.*) \\\\$", table, re.MULTILINE)
        assert len(rows) >= 2
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(columns) - 1}
        unescaped = re.sub(r"\\.", "", table)
        assert unescaped.count("{") == unescaped.count("}")
        for line in rows:
            unescaped = re.sub(r"\\.", "", line)
            assert unescaped.count("$") % 2 == 0
            assert not re.search(r"[%#~^]", re.sub(r"\$[^$]*\$", "", unescaped))
    labels = re.findall(r"\\label\{(tab:[A-Za-z0-9.-]+)\}", text)
    assert len(labels) == len(set(labels)) == len(tables)
    return labels


@pytest.mark.parametrize("run", [*RUNS, "odd names"])
def test_tables_are_whole(run):
    records = odd_records() if run == "odd names" else published()[run]
    text = tables_of(records)
    assert len(check_structure(text)) == 4 or run != "odd names"
    assert text.isascii()
