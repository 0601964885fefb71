"""Where patches lie in images: on a grid, or where the image is salient (annfm Sect. 5.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import ConfigError
from kmaps.features import sift
from kmaps.features.images import GreyImage
from kmaps.features.saliency import important_regions, salient_centres, segmented


@dataclass(frozen=True)
class Placed:
    """The centres, rows and columns, of the patches of an image.

    ``along`` lie on the boundary of the important regions, ``within`` elsewhere; ``important`` is
    the fraction of all that lies in those regions.
    """

    along: NDArray[np.int64]
    within: NDArray[np.int64]
    important: float


def placed(image: GreyImage, sampling: str, patch: int, step: int) -> Placed:
    """Return the centres of patches, as many by either sampling."""
    if min(image.shape) < patch:
        height, width = image.shape
        raise ConfigError(f"patch: {patch} × {patch} pixels do not fit into {width} × {height}")
    tops, lefts = sift.grid(image.shape, patch, step)
    on_grid = (tops + patch // 2) * image.shape[1] + lefts + patch // 2
    both = np.empty(0, np.int64), on_grid
    if sampling == "salient":
        [both] = salient_centres(image, [len(on_grid)])
    regions, importance, saliency = segmented(image)
    inside = important_regions(importance, saliency)[regions].ravel()
    along, within = both
    width = image.shape[1]
    return Placed(
        np.column_stack(np.divmod(along, width)),
        np.column_stack(np.divmod(within, width)),
        float(inside[np.concatenate(both)].mean()),
    )
