"""Where patches lie in images: on a grid, or where the image is salient (annfm Sect. 5.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import ConfigError
from kmaps.features import sift
from kmaps.features.base import GreyImage
from kmaps.features.saliency import important_regions, salient_centres, segmented


@dataclass(frozen=True)
class Placed:
    """The centres of the patches of an image.

    Attributes
    ----------
    along, within : ndarray (m, 2)
        Rows and columns: along the boundary of the important regions, and elsewhere.
    important : float
        The share of all of them that lies in the important regions.
    """

    along: NDArray[np.int64]
    within: NDArray[np.int64]
    important: float


def placed(image: GreyImage, sampling: str, patch: int, step: int) -> Placed:
    """Return the centres of patches, as many by either sampling.

    Parameters
    ----------
    image : ndarray of float32, shape (height, width)
    sampling : {"grid", "salient"}
    patch, step : int
        The side of a patch, and the distance to the next on the grid.

    Raises
    ------
    ConfigError
        If the image is smaller than a patch, or scikit-image is not installed.
    """
    if min(image.shape) < patch:
        height, width = image.shape
        raise ConfigError(
            f"patch: an image of {width} × {height} pixels has none of {patch} × {patch}"
        )
    tops, lefts = sift.grid(image.shape, patch, step)
    on_grid = (tops + patch // 2) * image.shape[1] + lefts + patch // 2
    both = np.empty(0, np.int64), on_grid
    if sampling == "salient":
        [both] = salient_centres(image, [len(on_grid)])
    regions, importance, saliency = segmented(image)
    inside = important_regions(importance, saliency)[regions].ravel()
    along, within = (np.column_stack(np.divmod(part, image.shape[1])) for part in both)
    return Placed(along, within, float(inside[np.concatenate(both)].mean()))
