"""Every benchmark can be imported; what it measures is told by `make bench`, never by a test."""

from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
NAMES = sorted(path.stem for path in FOLDER.glob("[!_]*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_can_be_imported(name):
    module = import_module(f"benchmarks.{name}")
    assert hasattr(module, "pairs") == (name != "measure")
