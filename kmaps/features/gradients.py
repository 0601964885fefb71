"""Gradients of images, and their energies by orientation."""

import numpy as np
from numpy.typing import NDArray

from kmaps.features.base import GreyImages

_CENTRAL = np.array([-0.5, 0, 0.5], np.float32)
_FAINT = np.float32(0.01)  # grey values (0 to 1) a pixel: noise, not to be raised to an edge


def gradients(images: GreyImages, sigma: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the derivatives along x and y, after smoothing with a Gaussian.

    Parameters
    ----------
    images : ndarray of float32, shape (..., height, width)
    sigma : float
        Of the Gaussian, in pixels; 0 for none. With it the derivatives are the Gaussian's own,
        without it central differences. Beyond its border an image goes on as it ends, so that
        the border is no edge.

    Returns
    -------
    gx, gy : ndarray of float32, shaped as the images
    """
    from scipy import ndimage  # as numba slow to import, and parameters are checked without both

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

    Parameters
    ----------
    gx, gy : ndarray of float32, shape (n, height, width)
    orientations : int
        Bin k is centred on k / orientations of the range, from the x axis towards y, downwards.
    signed : bool
        Whether the range is a whole turn; otherwise opposite gradients count as one.

    Returns
    -------
    ndarray of float32, shape (n, height, width, orientations)
        The last axis sums to the magnitude.
    """
    from kmaps._loops import orientation as loops

    energies = np.empty((*gx.shape, orientations), np.float32)
    loops.share_out(gx, gy, signed, energies)
    return energies


def level_out(energies: NDArray[np.float32], width: float) -> None:
    """Divide energies, in place, by the mean magnitude around each pixel.

    Edges of low and of high contrast then count alike.

    Parameters
    ----------
    energies : ndarray of float32, shape (n, height, width, orientations)
    width : float
        Of the Gaussian that weights the mean, in pixels.
    """
    from scipy import ndimage

    magnitudes = energies.sum(axis=-1)
    around = ndimage.gaussian_filter(magnitudes, (0, width, width), mode="nearest")
    energies /= (around + _FAINT)[..., None]
