"""A new map is one class, one line in the registry, one entry in an experiment; nothing else."""

import json

import numpy as np
import pytest

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


def test_one_class_one_line_one_entry(changed):
    kmaps, folder = changed
    assert "nobody, eq. 1" in kmaps("list", "maps").stdout
    # Options, help and refusals of `kmaps encode` come from the class.
    X = np.random.default_rng(0).random((20, 3), dtype=np.float32)
    np.save(folder / "in.npy", X)
    assert "--power FLOAT" in kmaps("encode", "--map", "power", "--help").stdout
    kmaps("encode", "in.npy", "out.npy", "--map", "power", "--power", "0.25")
    np.testing.assert_allclose(np.load(folder / "out.npy"), X**0.25, rtol=1e-6)
    refused = kmaps("encode", "in.npy", "no.npy", "--map", "power", "--power", "-1", code=2)
    assert "--power -1.0: expected a positive number" in refused.stderr
    # So do the rows of an experiment and the checks of its parameters.
    (folder / "powers.yaml").write_text(EXPERIMENT)
    kmaps("run", "powers.yaml", "--out", "powers", "--quiet")
    records = map(json.loads, (folder / "powers" / "records.jsonl").read_text().splitlines())
    accuracy = {(r["method"], r["params"].get("power")): r["accuracy"] for r in records}
    assert set(accuracy) == {("exact", None), ("power", 0.5), ("power", 2)}
    assert accuracy["power", 0.5] == pytest.approx(accuracy["exact", None], abs=0.02)
    (folder / "powers.yaml").write_text(EXPERIMENT.replace("power: [0.5, 2]", "powr: 1"))
    refused = kmaps("run", "powers.yaml", code=2)
    assert "powers.yaml:7:18: maps[0].powr: unknown key, did you mean 'power'?" in refused.stderr
