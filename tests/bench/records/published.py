"""The published runs, for tests."""

import json
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@cache
def records() -> dict[str, list[dict]]:
    """Return the records of every published run, by the name of its folder."""
    paths = (ROOT / "results").glob("*/records.jsonl")
    return {path.parent.name: [json.loads(line) for line in path.open()] for path in paths}
