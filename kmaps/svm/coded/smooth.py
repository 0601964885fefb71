r"""Smoothness by choice: functions on levels whose second derivative has a price.

With :math:`u` a feature's values taken to 0 … 1, lowest to highest level, the penalty on its
function f gets :math:`\frac s2 \int_0^1 f''(u)^2 du` more, as of a smoothing spline (lac Sect. 3
penalises the differences of spline weights alike). On the levels :math:`f = B w` for the columns B
of a table, the integral is a sum of squares :math:`|D B w|^2` of divided differences, and

.. math:: |w|^2 + s |D B w|^2 = |v|^2, \qquad f = B (I + s (DB)^\top DB)^{-1/2} v:

the same problem with other columns.
"""

import numpy as np
from numpy.typing import NDArray

from kmaps.svm.coded.tables import Tables, narrowed, shared

_NEAREST = 1e-4  # part of a range that neighbouring levels count as apart, at least


def smoothed(tables: Tables, levels: NDArray[np.float64], smooth: float) -> Tables:
    """Return tables of which the squared norm of weights has the price of curvature in it.

    Parameters
    ----------
    tables : Tables
    levels : ndarray, shape (1 or d, L)
        Ascending; a feature with fewer repeats its last.
    smooth : float
        The s of the penalty, ≥ 0; 0 leaves the tables as they are.
    """
    if smooth == 0:
        return tables
    values, cells, scale = tables.values, tables.cells, tables.scale
    n = max(len(values), len(levels), 1 if scale is None else len(scale))
    positions = [_positions(row) for row in levels]
    made: dict[tuple[int, int, float, bytes], NDArray] = {}
    found = []
    for j in range(n):
        table, row = j % len(values), 0 if cells is None else j % len(cells)
        factor = 1.0 if scale is None else float(scale[j])
        first, places = positions[j % len(levels)]
        key = table, row, factor, places.round(12).tobytes()
        if key not in made:
            own = np.sqrt(factor) * values[table]
            of_levels = first if cells is None else cells[row][first]
            made[key] = own @ _shrinking(own[of_levels], places, smooth)
        found.append(made[key])
    if len(made) == 1:
        found = found[:1]
    return narrowed(shared(Tables(np.stack(found), cells=cells)))


def _positions(levels: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the first place of each different level, and where these lie between 0 and 1."""
    different, first = np.unique(levels, return_index=True)
    steps = np.diff(different) / max(different[-1] - different[0], np.finfo(float).tiny)
    return first, np.concatenate([[0.0], np.cumsum(np.maximum(steps, _NEAREST))])


def _shrinking(columns: NDArray, places: NDArray, smooth: float) -> NDArray:
    """Return (I + s S'S)^(-1/2) for the curvature S of the columns at some places."""
    if len(places) < 3:
        return np.eye(columns.shape[1])
    steps = np.diff(places)[:, None]
    slopes = np.diff(columns, axis=0) / steps
    # Second derivatives at the inner places, each for the half of either step beside it.
    curvature = np.diff(slopes, axis=0) / np.sqrt((steps[1:] + steps[:-1]) / 2)
    _, singular, axes = np.linalg.svd(curvature, full_matrices=False)
    lost = 1 - 1 / np.sqrt(1 + smooth * singular**2)
    return np.eye(columns.shape[1]) - (axes.T * lost) @ axes
