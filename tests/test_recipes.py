"""The recipes of CONTRIBUTING, followed to the letter in a copy of the package, are enough."""

import json
import re

import numpy as np
import pytest
from changed_package import RECIPES, changed_package, run_in

POWERS = """\
experiment: powers
dataset: {name: digits, train: 300, test: 200}
kernels: [hellinger]
reductions: [ovo]
baselines: [exact]
maps:
  - {map: power, power: [0.5, 2]}
C: 1
"""
[EXPERIMENT] = (text for path, *_, text in RECIPES if path == "experiments/long.yaml")
N_CELLS = 8
EVERY_CHANGE = (
    "layers",
    "capabilities",
    "missing",
    "schema",
    "generated",
    "packaging",
)
NEW_TESTS = [path for path, *_ in RECIPES if path.startswith("tests/")]


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
    (folder / "powers.yaml").write_text(POWERS)
    kmaps("run", "powers.yaml", "--out", "powers", "--quiet")
    records = map(json.loads, (folder / "powers" / "records.jsonl").read_text().splitlines())
    accuracy = {(r["method"], r["params"].get("power")): r["accuracy"] for r in records}
    assert set(accuracy) == {("exact", None), ("power", 0.5), ("power", 2)}
    assert accuracy["power", 0.5] == pytest.approx(accuracy["exact", None], abs=0.02)
    (folder / "powers.yaml").write_text(POWERS.replace("power: [0.5, 2]", "powr: 1"))
    refused = kmaps("run", "powers.yaml", code=2)
    assert "powers.yaml:7:18: maps[0].powr: unknown key, did you mean 'power'?" in refused.stderr


def test_a_command_is_one_file_and_one_line(changed):
    kmaps, _ = changed
    assert re.search(r"outputs +Count the outputs of a map\.", kmaps("--help").stdout)
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
    refused = kmaps(*given, "--penalty", "l1", code=2)
    assert "smooth_hinge" in refused.stderr


def records(folder):
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def test_a_kind_is_one_folder_one_line_and_one_yaml(changed):
    kmaps, folder = changed
    (folder / "long.yaml").write_text(EXPERIMENT)
    listed = kmaps("run", "long.yaml", "--out", "out", "--dry-run")
    assert listed.stdout.count("to do") == N_CELLS
    assert "length at 0.5 chi2 homogeneous order=1" in listed.stdout
    ran = kmaps("run", "long.yaml", "--out", "out", "--jobs", "2", "--threads", "1")
    assert f"{N_CELLS}/{N_CELLS}" in ran.stderr
    assert "length at 1" in ran.stdout
    out = folder / "out"
    first = records(out)
    assert len(first) == N_CELLS
    assert all(r["threads"] == 1 and r["jobs"] == 2 and r["encode_s"] > 0 for r in first)
    assert all(0 < r["linf"] < 0.3 for r in first)
    assert (out / "lengths.svg").stat().st_size > 1000
    assert "nothing to do" in kmaps("run", "long.yaml", "--out", "out").stderr

    # Gated, by the column that the kind says is judged.
    moved = [r | {"linf": 1.01 * r["linf"]} if i == 0 else r for i, r in enumerate(first)]
    (folder / "moved.jsonl").write_text("".join(json.dumps(r) + "\n" for r in moved))
    assert "linf" in kmaps("check", "moved.jsonl", "--against", "out", code=1).stdout

    # Shown: as a table, and on a page with its figure and a part of its own.
    assert "homogeneous, r = 3" in kmaps("table", "out").stdout
    kmaps("report", "out")
    page = (out / "README.md").read_text()
    assert f"## Lengths\n\nThere are {N_CELLS} of them." in page
    assert "![lengths.svg](lengths.svg)" in page

    # Refused: a mistake in the file.
    (folder / "long.yaml").write_text(EXPERIMENT.replace("values", "valeus"))
    wrong = kmaps("run", "long.yaml", code=2)
    assert "long.yaml:6:1: valeus: unknown key, did you mean 'values'?" in wrong.stderr


def test_what_every_change_may_break_passes_with_the_recipes(changed):
    source = changed[1] / "source"
    run_in(source, "tools/generate.py")
    # Of the tests of each map's capabilities, those of the new one.
    chosen = "not (test_capabilities and test_a_map and not power)"
    files = [f"tests/test_{name}.py" for name in EVERY_CHANGE]
    run_in(source, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen, *files, *NEW_TESTS)


@pytest.mark.soak  # make test-recipes: all tests of `make test` once more, on both processors
def test_all_tests_pass_with_the_recipes(tmp_path):
    with changed_package(tmp_path):
        source = tmp_path / "source"
        run_in(source, "tools/generate.py")
        ignored = "--ignore=tests/test_recipes.py"  # it follows them once more
        two = ("-n", "2", "--dist", "worksteal")
        run_in(source, "-m", "pytest", "-q", "-p", "no:cacheprovider", *two, ignored)
