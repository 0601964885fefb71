"""The toy problem: accuracies on record, functions in the arrays."""

from measured import TOLD, cells_of, measured

from kmaps.bench.kinds import KINDS

TOY = """\
experiment: disc
kind: toy
side: 12
maps:
  - {map: spline, degree: [1, 3]}
  - {map: fourier}
"""


def test_measuring_fills_the_columns_and_keeps_the_function():
    cells = cells_of(TOY)
    changes = ("side: 12", "side: 13", "side: 12\nradius: 0.7", "side: 12\nC: 2")
    keys = {cells_of(TOY.replace("side: 12", change))[0].key("") for change in changes}
    assert len(keys) == 4
    assert [cell.row.label for cell in cells] == ["spline degree=1", "spline degree=3", "fourier"]
    for cell in cells:
        found = measured(cell)
        assert set(found.columns) == {*KINDS["toy"].shown.fills, *TOLD}
        assert found.columns["accuracy"] > 0.95
        assert found.columns["train_s"] > 0
        assert found.arrays["x"].shape == found.arrays["function"].shape == (401,)
    assert measured(cells[0]).columns["dim"] == 2 * 11  # ten bins have eleven functions of degree 1
