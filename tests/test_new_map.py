"""A new map is one class, one line in the registry, one entry in an experiment; nothing else."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent

CLASS = '''\
"""Powers of a value: a map of one output."""

import numpy as np

from kmaps.maps.base import AdditiveMap


class PowerMap(AdditiveMap):
    """x ↦ x^p, the hellinger kernel at p = 1/2.

    Parameters
    ----------
    power : float
        p > 0.
    """

    source = "nobody, eq. 1"

    def __init__(self, power: float = 0.5):
        self.power = power

    def _fit_curve(self, X):
        if self.power <= 0:
            raise ValueError(f"power={self.power!r}: expected a positive number")

    def _curve(self, x, feature):
        return np.sign(x)[..., None] * np.abs(x)[..., None] ** self.power

    def _grid(self):
        return None
'''
EXPERIMENT = """\
experiment: powers
dataset: {name: digits, train: 300, test: 200}
kernels: [hellinger]
reductions: [ovo]
baselines: [exact]
maps:
  - {map: power, power: [0.5, 2]}
C: 1
"""


@pytest.fixture
def kmaps(tmp_path):
    """Return `kmaps` of a copy of the package that has the new map."""
    source = tmp_path / "source"
    for folder in ("kmaps", "cli", "datasets", "experiments"):
        unneeded = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, source / folder, ignore=unneeded)
    (source / "kmaps" / "maps" / "power.py").write_text(CLASS)
    registry = source / "kmaps" / "maps" / "__init__.py"
    line = 'MAPS["power"] = __import__("kmaps.maps.power", fromlist=["PowerMap"]).PowerMap\n'
    registry.write_text(registry.read_text() + line)
    program = "from kmaps.cli.main import main; main()"

    def run(*args, code=0):
        done = subprocess.run(
            [sys.executable, "-c", program, *map(str, args)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(source)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stderr
        return done

    return run


def test_one_class_one_line_one_entry(kmaps, tmp_path):
    assert "nobody, eq. 1" in kmaps("list", "maps").stdout
    # Options, help and refusals of `kmaps encode` come from the class.
    X = np.random.default_rng(0).random((20, 3), dtype=np.float32)
    np.save(tmp_path / "in.npy", X)
    assert "--power FLOAT" in kmaps("encode", "--map", "power", "--help").stdout
    kmaps("encode", "in.npy", "out.npy", "--map", "power", "--power", "0.25")
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), X**0.25, rtol=1e-6)
    refused = kmaps("encode", "in.npy", "no.npy", "--map", "power", "--power", "-1", code=2)
    assert "power=-1.0: expected a positive number" in refused.stderr
    # So do the rows of an experiment and the checks of its parameters.
    (tmp_path / "powers.yaml").write_text(EXPERIMENT)
    kmaps("run", "powers.yaml", "--out", "powers", "--quiet")
    records = map(json.loads, (tmp_path / "powers" / "records.jsonl").read_text().splitlines())
    accuracy = {record["label"]: record["accuracy"] for record in records}
    assert set(accuracy) == {"exact", "power power=0.5", "power power=2"}
    assert accuracy["power power=0.5"] == pytest.approx(accuracy["exact"], abs=0.02)
    (tmp_path / "powers.yaml").write_text(EXPERIMENT.replace("power: [0.5, 2]", "powr: 1"))
    refused = kmaps("run", "powers.yaml", code=2)
    assert "powers.yaml:7:18: maps[0].powr: unknown key, did you mean 'power'?" in refused.stderr
