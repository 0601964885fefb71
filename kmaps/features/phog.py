"""Pyramids of edge orientations."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmaps.checks import check_flag, check_number, check_positive, check_whole, check_whole_list
from kmaps.features.base import Arrays, Feature, GreyImages
from kmaps.features.gradients import gradients, oriented, partition
from kmaps.features.images import GreyImage

_EIGHT_NEIGHBOURS = np.ones((3, 3), int)


@dataclass(frozen=True)
class Phog(Feature):
    """Histograms of the orientations of Canny edges on a pyramid.

    They follow genrbf, Sect. 4. Each edge pixel counts by the magnitude of its gradient, shared
    linearly between the two nearest orientations. The defaults give 16 × (1 + 4 + 16) = 336 values.
    """

    orientations: int = 16
    signed: bool = False  # whether opposite gradients differ
    divisions: tuple[int, ...] = (1, 2, 4)  # g: g × g cells
    longest: int = 300  # the longer side in pixels; larger images are shrunk to it
    sigma: float = 1.4  # the width in pixels of the edge detector's Gaussian
    edges: float = 0.7  # the part of all pixels whose gradient is too weak to begin an edge

    name: ClassVar[str] = "phog"

    def __post_init__(self) -> None:
        self.check(check_whole, "orientations", low=2)
        self.check(check_flag, "signed")
        self.check(check_whole_list, "divisions", low=1)
        self.check(check_whole, "longest", low=1)
        self.check(check_positive, "sigma")
        self.check(check_number, "edges", at_least=0, below=1)

    @property
    def smallest(self) -> int:
        """The least side of an image that the finest division needs."""
        return max(self.divisions)

    def describe(self, images: GreyImages) -> Arrays:
        """Return the vectors, ordered by cell and then by orientation."""
        return {"vectors": np.stack([self._vector(image) for image in images])}

    def edge_map(self, image: GreyImage) -> NDArray[np.bool_]:
        """Return which pixels of an image Canny's detector takes for edges."""
        return canny(*gradients(image, self.sigma), self.edges)

    def edge_energies(self, image: GreyImage) -> NDArray[np.float32]:
        """Return the gradient energies of the edges by orientation."""
        gx, gy = gradients(image, self.sigma)
        edges = canny(gx, gy, self.edges)
        return oriented((gx * edges)[None], (gy * edges)[None], self.orientations, self.signed)[0]

    def _vector(self, image: GreyImage) -> NDArray[np.float32]:
        from kmaps._loops import orientation as loops  # slow to import

        cells, _ = partition(image.shape, self.divisions)
        sums = np.empty((1, len(cells), self.orientations), np.float32)
        loops.sum_cells(self.edge_energies(image)[None], cells, sums)
        return sums.reshape(-1)


def canny(gx: NDArray[np.float32], gy: NDArray[np.float32], weak_share: float) -> NDArray[np.bool_]:
    """Return Canny's edge pixels: ridges of the gradient that have a strong pixel.

    A pixel is strong if its magnitude exceeds the quantile ``weak_share``; a ridge is followed down
    to 0.4 times this quantile.
    """
    from scipy import ndimage

    from kmaps._loops import orientation as loops

    magnitude = np.hypot(gx, gy)
    high = np.quantile(magnitude, weak_share)
    ridge = np.zeros(magnitude.shape, bool)
    loops.thin(gx, gy, magnitude, ridge)
    # Without this least value, flat parts of an image with few edges would all be edges.
    weak = ridge & (magnitude > max(0.4 * high, 1e-6))
    labels, n_labels = ndimage.label(weak, _EIGHT_NEIGHBOURS)
    strong = np.zeros(n_labels + 1, bool)
    strong[labels[weak & (magnitude > high)]] = True
    strong[0] = False
    return strong[labels]
