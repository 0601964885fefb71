"""Gradients of images, their energies by orientation, and the cells over which they are summed.

The cells of a pyramid are rectangles of an image, from coarse to fine.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kmaps.features.base import GreyImages

Cells = NDArray[np.int64]  # (cells, 4): top, bottom, left, right in pixels, without the ends

_CENTRAL = np.array([-0.5, 0, 0.5], np.float32)
_FAINT = np.float32(0.01)  # grey values (0 to 1) per pixel: noise, which must not become an edge


def gradients(images: GreyImages, sigma: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the derivatives of images (..., height, width) along x and y.

    They are derivatives of a Gaussian of width ``sigma`` pixels, or central differences if it is 0.
    Beyond its border an image continues with its last values, so that the border is no edge.
    """
    from scipy import ndimage  # slow to import, and not needed to check parameters

    last = images.ndim - 1

    def derive(along: int, across: int) -> NDArray[np.float32]:
        if sigma == 0:
            return ndimage.correlate1d(images, _CENTRAL, along, mode="nearest")
        smooth = ndimage.gaussian_filter1d(images, sigma, across, mode="nearest")
        return ndimage.gaussian_filter1d(smooth, sigma, along, order=1, mode="nearest")

    return derive(last, last - 1), derive(last - 1, last)


def oriented(
    gx: NDArray[np.float32], gy: NDArray[np.float32], orientations: int, signed: bool
) -> NDArray[np.float32]:
    """Return the magnitude of each gradient, shared linearly by the two nearest orientations.

    Bin k is centred on k / orientations of the range, from the x axis towards y, downwards; the
    range is a whole turn if ``signed``, otherwise opposite gradients count as one. The result
    (n, height, width, orientations) sums to the magnitude over its last axis.
    """
    from kmaps._loops import orientation as loops

    energies = np.empty((*gx.shape, orientations), np.float32)
    loops.share_out(gx, gy, signed, energies)
    return energies


def level_out(energies: NDArray[np.float32], width: float) -> None:
    """Divide energies, in place, by their mean near each pixel, under a Gaussian of ``width``."""
    from scipy import ndimage

    magnitudes = energies.sum(axis=-1)
    around = ndimage.gaussian_filter(magnitudes, (0, width, width), mode="nearest")
    energies /= (around + _FAINT)[..., None]


def partition(shape: tuple[int, int], divisions: Sequence[int]) -> tuple[Cells, NDArray[np.int64]]:
    """Cut an image into g × g cells for each g, which cover it without a gap or an overlap.

    Height and width of the image are at least the largest g. The cells are ordered by level, then
    by row; the second array has their levels.
    """
    cells = []
    for g in divisions:
        (tops, bottoms), (lefts, rights) = (
            (np.arange(g) * side // g, np.arange(1, g + 1) * side // g) for side in shape
        )
        cells.append(_product(tops, bottoms, lefts, rights))
    return _joined(cells)


def half_overlapping(
    shape: tuple[int, int], sides: Sequence[int], overlap: bool
) -> tuple[Cells, NDArray[np.int64]]:
    """Tile an image with square cells of each side, also shifted by half a side if they overlap.

    The tiles are centred; the remaining borders are in no cell of that level. There are two shifted
    tilings, half a side to the right and half a side down (not both at once), as in the program
    that accompanies Maji and Malik, "Fast and accurate digit classification" (2009): sides 14, 7
    and 4 give 181 cells on 28 × 28 pixels.

    The cells are ordered by level, tiling and row; the second array has their levels.
    """
    height, width = shape
    cells = []
    for side in sides:
        half = (side + 1) // 2
        shifts = [(0, 0), (0, half), (half, 0)] if overlap and side > 1 else [(0, 0)]
        tilings = []
        for down, right in shifts:
            tops = np.arange(height % side // 2 + down, height - side + 1, side)
            lefts = np.arange(width % side // 2 + right, width - side + 1, side)
            tilings.append(_product(tops, tops + side, lefts, lefts + side))
        cells.append(np.concatenate(tilings))
    return _joined(cells)


def _product(tops: NDArray, bottoms: NDArray, lefts: NDArray, rights: NDArray) -> Cells:
    rows, columns = np.indices((len(tops), len(lefts))).reshape(2, -1)
    return np.column_stack([tops[rows], bottoms[rows], lefts[columns], rights[columns]])


def _joined(levels: list[Cells]) -> tuple[Cells, NDArray[np.int64]]:
    counts = [len(cells) for cells in levels]
    return np.concatenate(levels), np.repeat(np.arange(len(levels)), counts)
