"""The toy problem: accuracies on record, functions in the arrays."""

from measured import TOLD, cells_of, measured

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds import load as spec
from kmaps.bench.records.arrays import read_arrays
from kmaps.bench.records.row import Row
from kmaps.bench.run.runner import run

TOY = """\
experiment: disc
kind: toy
side: 12
maps:
  - {map: spline, degree: [1, 3]}
  - {map: fourier}
"""


def test_toy(tmp_path):
    outcome = run(spec.parse(TOY), tmp_path)
    accuracy = {Row.of(record).label: record["accuracy"] for record in outcome.records}
    assert set(accuracy) == {"spline degree=1", "spline degree=3", "fourier"}
    assert min(accuracy.values()) > 0.95
    assert {record["setting"] for record in outcome.records} == {"disc in a square"}
    arrays = read_arrays(tmp_path, [record["key"] for record in outcome.records])
    assert len(arrays) == 3
    assert {array["x"].shape for array in arrays.values()} == {(401,)}
    assert {array["function"].shape for array in arrays.values()} == {(401,)}


def test_measuring_fills_the_columns_of_the_kind():
    columns = measured(cells_of(TOY)[0]).columns
    assert set(columns) == {*KINDS["toy"].shown.fills, *TOLD}
    assert columns["train_s"] > 0
    assert columns["dim"] == 2 * 11  # ten bins have eleven functions of degree 1


def test_the_problem_is_part_of_the_key():
    keys = {
        cells_of(TOY.replace("side: 12", change))[0].key("")
        for change in ("side: 12", "side: 13", "side: 12\nradius: 0.7", "side: 12\nC: 2")
    }
    assert len(keys) == 4
