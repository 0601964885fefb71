"""The two-dimensional toy problem of the spline and Fourier embeddings (lac Fig. 3).

The points of a square grid are positive inside a disc. Its boundary, x² + y² = r², is additive, so
a linear classifier on an additive map learns a function of x and one of y, at best two parabolas.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kmaps.svm import LiblinearSVC


def toy_points(side: int, radius: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the points of the grid, (side², 2), and whether each lies in the disc."""
    ticks = np.linspace(-1, 1, side)
    points = np.stack(np.meshgrid(ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 2)
    return points, (np.hypot(*points.T) <= radius).astype(np.int64)


def fit_toy(
    feature_map: Any, side: int, radius: float, C: float
) -> tuple[dict[str, Any], dict[str, NDArray[np.float64]]]:
    """Train LIBLINEAR (squared hinge) on the encoded points.

    Returned are the accuracy on the training points and the outputs of both coordinates, and the
    learned function of the first coordinate at some values x, less its mean.
    """
    points, inside = toy_points(side, radius)
    encoded = feature_map.fit(points).transform(points)
    model = LiblinearSVC(C=C).fit(encoded, inside)
    x = np.linspace(-1, 1, 401)
    line = feature_map.transform(np.stack([x, np.zeros_like(x)], axis=1))
    line = line.toarray() if issparse(line) else line
    own = line.shape[1] // 2  # the columns of the first coordinate
    function = line[:, :own] @ model.coef_[0, :own]
    columns = {"accuracy": model.score(encoded, inside), "dim": encoded.shape[1]}
    return columns, {"x": x, "function": function - function.mean()}
