"""Places for patches where an image is salient, instead of on a grid (annfm, Sect. 5.2).

The image is over-segmented. The saliency of a pixel is its difference from the image's mean grey
(Achanta et al., "Frequency-tuned salient region detection", CVPR 2009), and the importance of a
region is its mean saliency. Half of the patches lie densely along the boundary of the important
regions, the others at random in all regions, in proportion to area and importance.
"""

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import ConfigError
from kmaps.features.images import GreyImage

_BLUR = np.array([1, 4, 6, 4, 1], np.float32) / 16
_IMPORTANT = 2.0  # the least importance over the image's mean saliency (Achanta et al.)
# Felzenszwalb and Huttenlocher's parameters: a larger scale gives larger regions.
_SCALE = 100
_SIGMA = 0.8
_SMALLEST = 50


def salient_places(
    image: GreyImage, patches: Sequence[int], counts: Sequence[int]
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the first rows and columns of ``counts`` patches of each size.

    Equal images have equal places. Patches at the image's border are moved inside.
    """
    places = []
    for patch, both in zip(patches, salient_centres(image, counts), strict=True):
        centres = np.divmod(np.concatenate(both), image.shape[1])
        tops, lefts = (
            np.clip(of_axis - patch // 2, 0, side - patch)
            for of_axis, side in zip(centres, image.shape, strict=True)
        )
        places.append((tops, lefts))
    return places


def salient_centres(
    image: GreyImage, counts: Sequence[int]
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the central pixels, as numbers in the flat image, of ``counts`` patches.

    Each count has two arrays: the pixels along the boundary of the important regions, and the
    others.
    """
    from scipy import ndimage  # slow to import

    regions, importance, saliency = segmented(image)
    inside = important_regions(importance, saliency)[regions]
    # An erosion removes the boundary; with border_value=1 the image's border is none.
    edge = np.flatnonzero(inside & ~ndimage.binary_erosion(inside, border_value=1))
    weights = importance[regions].ravel().astype(np.float64)
    total = weights.sum()
    # An image of one grey has no saliency: all pixels are equally probable.
    chances = weights / total if total > 0 else None
    rng = np.random.default_rng(zlib.crc32(np.ascontiguousarray(image)))
    centres = []
    for count in counts:
        along = rng.choice(edge, min(count // 2, len(edge)), replace=False)
        centres.append((along, rng.choice(image.size, count - len(along), p=chances)))
    return centres


def important_regions(
    importance: NDArray[np.float32], saliency: NDArray[np.float32]
) -> NDArray[np.bool_]:
    """Return which regions are important: twice as salient as the image, or else the top one."""
    important = importance >= _IMPORTANT * saliency.mean()
    if not important.any():
        important[importance.argmax()] = True
    return important


def segmented(
    image: GreyImage,
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
    """Return each pixel's region, each region's importance, each pixel's saliency."""
    try:
        from skimage.segmentation import felzenszwalb
    except ImportError:
        raise ConfigError(
            "sampling='salient' needs scikit-image: choose 'grid', or install it with "
            "`pip install scikit-image`"
        ) from None
    from scipy import ndimage

    regions = felzenszwalb(image, scale=_SCALE, sigma=_SIGMA, min_size=_SMALLEST, channel_axis=None)
    blurred = image
    for axis in (0, 1):
        blurred = ndimage.correlate1d(blurred, _BLUR, axis, mode="nearest")
    saliency = np.abs(blurred - image.mean())
    importance = ndimage.mean(saliency, regions, np.arange(regions.max() + 1))
    return regions, np.asarray(importance, np.float32), saliency
