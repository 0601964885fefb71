"""The published runs, for tests."""

from functools import cache
from pathlib import Path

from kmaps.bench.records.file import read_records

ROOT = Path(__file__).resolve().parents[3]


@cache
def records() -> dict[str, list[dict]]:
    """Return the records of every published run, by the name of its folder."""
    paths = (ROOT / "results").glob("*/records.jsonl")
    return {path.parent.name: read_records(path) for path in paths}
