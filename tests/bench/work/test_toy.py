"""The toy problem: the function that a map learns of the first coordinate."""

import numpy as np
import pytest

from kmaps.bench.work.toy import fit_toy, toy_points
from kmaps.maps import SplineMap


def test_learned_function_is_a_parabola():
    fit = fit_toy(SplineMap(n_bins=8, degree=3), side=30, radius=0.75, C=10.0)
    centred = -(fit.x**2) - np.mean(-(fit.x**2))
    assert np.corrcoef(fit.function, centred)[0, 1] > 0.97
    assert fit.function.mean() == pytest.approx(0, abs=1e-9)
    # One column of 8 + 3 spline functions for each coordinate, and accuracy far above the majority.
    assert fit.dim == 22
    assert fit.accuracy > toy_points(30, 0.75)[1].mean() + 0.4
