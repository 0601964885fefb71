"""Edge orientations in many windows of one image."""

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError
from kmaps.features.base import GreyImage
from kmaps.features.phog import Phog


def describe_windows(
    feature: Phog, image: GreyImage, boxes: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return the vectors of windows, each as if it were cut out after the edges were found.

    Parameters
    ----------
    feature : Phog
        Its ``longest`` has no part in it: the boxes are of this image.
    image : ndarray of float32, shape (height, width)
    boxes : ndarray of int64, shape (m, 4)
        Left, top, right, bottom, the ends excluded.

    Returns
    -------
    ndarray of float32, shape (m, d)

    Raises
    ------
    InputError
        If a window leaves the image, or is too small for the pyramid.

    Notes
    -----
    The sum over any rectangle is four look-ups in the sums over all rectangles from the image's
    corner.
    """
    height, width = image.shape
    left, top, right, bottom = np.asarray(boxes, np.int64).reshape(-1, 4).T
    low = feature.smallest
    if ((left < 0) | (top < 0) | (right > width) | (bottom > height)).any():
        raise InputError(f"a window leaves the image of {width} × {height} pixels")
    if ((right - left < low) | (bottom - top < low)).any():
        raise InputError(f"a window is smaller than {low} × {low} pixels")
    energies = feature.edge_energies(image)
    corner_sums = np.zeros((height + 1, width + 1, feature.orientations))
    np.cumsum(np.cumsum(energies, axis=0, dtype=np.float64), axis=1, out=corner_sums[1:, 1:])
    levels = []
    for g in feature.divisions:
        parts = np.arange(g + 1)
        rows = top[:, None] + parts * (bottom - top)[:, None] // g
        columns = left[:, None] + parts * (right - left)[:, None] // g
        corners = corner_sums[rows[:, :, None], columns[:, None, :]]
        sums = np.diff(np.diff(corners, axis=1), axis=2)
        levels.append(sums.reshape(len(sums), g * g * feature.orientations))
    # Differences of large sums may be a little below zero.
    return np.maximum(np.concatenate(levels, axis=1), 0).astype(np.float32)
