"""Dense SIFT: descriptors of square patches at given places of an image.

It is Lowe's descriptor (2004) without the search for places, sizes and rotations: 4 × 4 cells of 8
orientations. Each is the sum of gradient energies under a triangular window as wide as two cells,
which shares every pixel linearly between its nearest cells. As in VLFeat, the Gaussian that gives
the patch's centre more weight has one value per cell, so that one pass over the image serves all
patches.
"""

import numpy as np
from numpy.typing import NDArray

from kmaps.features.gradients import gradients, oriented
from kmaps.features.images import GreyImage

ORIENTATIONS = 8
LENGTH = 16 * ORIENTATIONS
SCALE = 512  # a value v of a unit vector is stored as min(512 v, 255)

_CELL_CENTRES = np.array([-1.5, -0.5, 0.5, 1.5])
_GAUSSIAN = np.exp(-((_CELL_CENTRES / 2) ** 2) / 2)  # as wide as two cells
_ENVELOPE = np.outer(_GAUSSIAN, _GAUSSIAN).astype(np.float32)


def grid(
    shape: tuple[int, int], patch: int, step: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first rows and columns of the patches of a regular grid, centred in an image."""
    tops, lefts = (np.arange((side - patch) % step // 2, side - patch + 1, step) for side in shape)
    return np.repeat(tops, len(lefts)), np.tile(lefts, len(tops))


def describe_patches(
    image: GreyImage, patch: int, tops: NDArray, lefts: NDArray, contrast: float
) -> NDArray[np.uint8]:
    """Return the SIFT descriptors, uint8 (m, 128), of square patches of a grey image.

    The side of a patch is a multiple of 4; ``tops`` and ``lefts`` are its first row and column,
    and all of it lies inside the image. A descriptor is ordered by row of cells, cell and
    orientation; its values are cut at 0.2 of its length, and it is scaled to length :data:`SCALE`.
    It is zero if the mean gradient is at most ``contrast`` grey values per pixel.
    """
    from scipy import ndimage  # slow to import

    from kmaps._loops import orientation as loops

    side = patch // 4
    # The image counts as blurred by a Gaussian of 0.5; larger patches need a wider one.
    blur = np.sqrt(max(0.0, (side / 6) ** 2 - 0.25))
    if blur > 0:
        image = ndimage.gaussian_filter(image, blur, mode="nearest")
    # The windows of the outermost cells begin half a cell outside their patch.
    gx, gy = (np.pad(g, side // 2) for g in gradients(image, 0))
    energies = oriented(gx[None], gy[None], ORIENTATIONS, True).reshape(len(gx), -1)
    sums = np.empty_like(energies)
    loops.smooth(energies, ORIENTATIONS, _triangle(side), sums)
    descriptors = np.empty((len(tops), LENGTH), np.uint8)
    # With a constant gradient g, one orientation of each cell has g side² times its weight.
    norm = np.float32(contrast * side * side * np.linalg.norm(_ENVELOPE))
    loops.gather_sift(sums.reshape(*gx.shape, -1), tops, lefts, side, _ENVELOPE, norm, descriptors)
    return descriptors


def _triangle(side: int) -> NDArray[np.float32]:
    """Return the window of a cell: 1 at its centre, 0 at its neighbours' centres."""
    offsets = np.arange(1 - side, side) if side % 2 else np.arange(-side, side) + 0.5
    return (1 - np.abs(offsets) / side).astype(np.float32)
