"""Published records with values changed as an editor, or a stranger, may: shown, or refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kmaps.cli.main import cli
from tests.bench.records.published import ROOT, kinds

VALUES = [
    *(None, "x", "", -1, 0, 1.5, 1e308, 10**400, True, "<b>", "\ud800"),
    *([], ["x"], {"a": 1}, [[]]),
]
COMMANDS = (
    ["table", ".", "--format", "csv"],
    ["report", ".", "--force"],
    ["check", ".", "--reported"],
)
RUNS = {kind: name for name, kind in kinds().items()}  # one of each kind


def places(value, place=()):
    """Yield the keys that lead to each value of a record."""
    for key in value if isinstance(value, dict) else ():
        yield (*place, key)
        yield from places(value[key], (*place, key))


@pytest.mark.parametrize("kind", RUNS)
def test_a_changed_value_is_no_mistake_of_kmaps(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(len(kind))
    lines = (ROOT / "results" / RUNS[kind] / "records.jsonl").read_text().splitlines()[:9]
    for _ in range(12):
        cells = [json.loads(line) for line in lines]
        changed = [*places(cells[0])][rng.integers(len([*places(cells[0])]))]
        value = VALUES[rng.integers(len(VALUES))]
        for cell in cells[: rng.choice([1, len(cells)])]:
            for key in changed[:-1]:
                cell = cell.get(key, {})
            cell[changed[-1]] = value
        Path("records.jsonl").write_text("".join(json.dumps(cell) + "\n" for cell in cells))
        for command in COMMANDS:
            done = CliRunner().invoke(cli, command)
            assert done.exit_code in (0, 1, 2, 5), (changed, value, done.output)
