"""The published runs, for tests."""

import gc
import json
from functools import cache
from pathlib import Path

from kmaps.bench.records.file import read_records

ROOT = Path(__file__).resolve().parents[3]


@cache
def kinds() -> dict[str, str]:
    """Return the kind of every published run, from the first line of its records."""
    kinds_of_runs = {}
    for path in sorted((ROOT / "results").glob("*/records.jsonl")):
        with path.open() as lines:
            kinds_of_runs[path.parent.name] = json.loads(next(lines))["kind"]
    return kinds_of_runs


@cache
def records() -> dict[str, list[dict]]:
    """Return the records of every published run, by the name of its folder."""
    paths = (ROOT / "results").glob("*/records.jsonl")
    records_of_runs = {path.parent.name: read_records(path) for path in paths}
    gc.freeze()  # else each later collection of garbage would go through all of them
    return records_of_runs
