"""Every benchmark can be imported; what it measures is told by `make bench`, never by a test."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import record
from benchmarks.measure import Measurement

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
NAMES = sorted(path.stem for path in FOLDER.glob("[!_]*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_can_be_imported(name):
    module = import_module(f"benchmarks.{name}")
    assert hasattr(module, "pairs") == (name not in ("measure", "record"))


def test_a_record_keeps_the_headlines_of_the_group_that_was_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "PATH", tmp_path / "measured.json")
    headline = Measurement("", True, "a fit", "theirs", "s", 0.1, 2.0, 20.0)
    record.write("training", [headline, Measurement("", True)], load=0.0)
    record.write("encoding", [replace(headline, headline="a map")], load=0.0)
    record.write("training", [replace(headline, ratio=30.0)], load=0.0)
    record.write("scale", [Measurement("", True)], load=0.0)
    groups = record.read()
    assert {name: len(group["rows"]) for name, group in groups.items()} == {
        "encoding": 1,
        "training": 1,
    }
    assert groups["training"]["rows"][0]["ratio"] == 30
