"""Pyramids: the rectangles that an image is cut into, from coarse to fine."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.int64]  # (cells, 4): top, bottom, left, right in pixels, the ends excluded


def partition(shape: tuple[int, int], divisions: Sequence[int]) -> tuple[Cells, NDArray[np.int64]]:
    """Cut an image into g × g cells for each g, which cover it without a gap or an overlap.

    Parameters
    ----------
    shape : (int, int)
        Height and width, at least the largest g.
    divisions : sequence of int

    Returns
    -------
    cells : ndarray of int64, shape (sum of g², 4)
        Level by level, row by row.
    levels : ndarray of int64
        The level of each cell.

    Examples
    --------
    >>> partition((4, 6), (1, 2))[0].tolist()
    [[0, 4, 0, 6], [0, 2, 0, 3], [0, 2, 3, 6], [2, 4, 0, 3], [2, 4, 3, 6]]
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

    The tiles are centred; what is left at the borders is in no cell of that level. The shifted
    tilings are two: half a side to the right, and half a side down (not both at once), after the
    program that accompanies Maji and Malik, "Fast and accurate digit classification" (2009): sides
    14, 7 and 4 give 181 cells on 28 × 28 pixels.

    Parameters
    ----------
    shape : (int, int)
        Height and width, at least the largest side.
    sides : sequence of int
    overlap : bool

    Returns
    -------
    cells : ndarray of int64, shape (cells, 4)
        Level by level, tiling by tiling, row by row.
    levels : ndarray of int64
        The level of each cell.

    Examples
    --------
    >>> half_overlapping((28, 28), (14, 7, 4), True)[0].shape
    (181, 4)
    >>> half_overlapping((3, 2), (2,), False)[0].tolist()
    [[0, 2, 0, 2]]
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
