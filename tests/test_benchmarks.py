"""Every benchmark can be imported; what it measures is told by `make bench`, never by a test."""

from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.record import table

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
NAMES = sorted(path.stem for path in FOLDER.glob("[!_]*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_can_be_imported(name):
    module = import_module(f"benchmarks.{name}")
    assert hasattr(module, "pairs") == (name not in ("measure", "record"))


def test_a_record_becomes_a_table_with_a_row_for_each_headline():
    rows = [
        {"headline": "a fit", "rival": "theirs", "ratio": 20.4} | measured
        for measured in (
            {"measure": "s", "ours": 0.12345, "other": 2.5},
            {"measure": "bytes", "ours": 2.5e6, "other": 5e7},
        )
    ]
    group = {"cpu": "Some Processor (family 1)", "date": "2026-01-02", "rows": rows}
    lines = table({"training": group}).splitlines()
    assert [line.split(" | ")[1:] for line in lines[2:4]] == [
        ["0.123 s", "theirs", "2.5 s", "20 × |"],
        ["2.5 MB", "theirs", "50 MB", "20 × |"],
    ]
    assert "Some Processor, 2026-01-02" in lines[-1]
