"""A new map is one class, one line in the registry, one entry in an experiment; nothing else."""

import json

import numpy as np
import pytest
from changed_package import changed_package

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
    """Yield `kmaps` of a copy of the package that has the new map."""
    line = '_OWN.places["power"] = "kmaps.maps.power.PowerMap"\n'
    with changed_package(tmp_path, "maps/power.py", CLASS, "maps/__init__.py", line) as command:
        yield command


def test_one_class_one_line_one_entry(kmaps, tmp_path):
    assert "nobody, eq. 1" in kmaps("list", "maps").stdout
    # Options, help and refusals of `kmaps encode` come from the class.
    X = np.random.default_rng(0).random((20, 3), dtype=np.float32)
    np.save(tmp_path / "in.npy", X)
    assert "--power FLOAT" in kmaps("encode", "--map", "power", "--help").stdout
    kmaps("encode", "in.npy", "out.npy", "--map", "power", "--power", "0.25")
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), X**0.25, rtol=1e-6)
    refused = kmaps("encode", "in.npy", "no.npy", "--map", "power", "--power", "-1", code=2)
    assert "--power -1.0: expected a positive number" in refused.stderr
    # So do the rows of an experiment and the checks of its parameters.
    (tmp_path / "powers.yaml").write_text(EXPERIMENT)
    kmaps("run", "powers.yaml", "--out", "powers", "--quiet")
    records = map(json.loads, (tmp_path / "powers" / "records.jsonl").read_text().splitlines())
    accuracy = {(r["method"], r["params"].get("power")): r["accuracy"] for r in records}
    assert set(accuracy) == {("exact", None), ("power", 0.5), ("power", 2)}
    assert accuracy["power", 0.5] == pytest.approx(accuracy["exact", None], abs=0.02)
    (tmp_path / "powers.yaml").write_text(EXPERIMENT.replace("power: [0.5, 2]", "powr: 1"))
    refused = kmaps("run", "powers.yaml", code=2)
    assert "powers.yaml:7:18: maps[0].powr: unknown key, did you mean 'power'?" in refused.stderr
