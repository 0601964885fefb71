"""The recipes of CONTRIBUTING, followed to the letter in a copy of the package, are enough."""

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


def test_a_map_is_one_file_one_line_and_one_entry_of_an_experiment(changed):
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


def test_a_command_is_one_file(changed):
    kmaps, _ = changed
    assert "outputs     Count the outputs of a map." in kmaps("--help").stdout
    assert kmaps("outputs", "power").stdout == "1\n"
    assert kmaps("outputs", "spline").stdout == "11\n"


def test_a_loss_is_one_class_and_one_line(changed):
    kmaps, folder = changed
    X = np.random.default_rng(0).random((200, 4), dtype=np.float32)
    np.save(folder / "X.npy", X)
    np.savetxt(folder / "y.txt", X[:, 0] > X[:, 1], "%d")
    given = ["train", "X.npy", "m.npz", "--labels", "y.txt", "--loss", "smooth_hinge", "--force"]
    found = json.loads(kmaps(*given, "--json").stdout)
    assert 0 <= found["duality_gap"] <= 1e-4
    refused = kmaps(*given, "--set", "penalty=l1", code=2)
    assert "smooth_hinge" in refused.stderr
