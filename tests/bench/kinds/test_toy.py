"""The toy problem: accuracies on record, functions of the first coordinate in the arrays."""

import numpy as np
import pytest
from measured import TOLD, cells_of, measured

from kmaps.bench.kinds import KINDS
from kmaps.bench.work.toy import fit_toy, toy_points
from kmaps.maps import SplineMap

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
    assert [cell.row.label for cell in cells] == ["spline degree=1", "spline degree=3", "fourier"]
    for cell in cells:
        found = measured(cell)
        assert set(found.columns) == {*KINDS["toy"].shown.fills, *TOLD}
        assert found.columns["accuracy"] > 0.95
        assert found.columns["train_s"] > 0
        assert found.arrays["x"].shape == found.arrays["function"].shape == (401,)
    assert measured(cells[0]).columns["dim"] == 2 * 11  # ten bins have eleven functions of degree 1


def test_learned_function_is_a_parabola():
    columns, arrays = fit_toy(SplineMap(n_bins=8, degree=3), side=30, radius=0.75, C=10.0)
    x, function = arrays["x"], arrays["function"]
    assert np.corrcoef(function, -(x**2) - np.mean(-(x**2)))[0, 1] > 0.97
    assert function.mean() == pytest.approx(0, abs=1e-9)
    # One column of 8 + 3 spline functions for each coordinate, and accuracy far above the majority.
    assert columns["dim"] == 22
    assert columns["accuracy"] > toy_points(30, 0.75)[1].mean() + 0.4
