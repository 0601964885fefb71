"""Edge orientations, or visual words, in many windows of one image."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError
from kmaps.features.bow import DenseSiftBow, columns_of
from kmaps.features.images import GreyImage
from kmaps.features.phog import Phog


@dataclass(frozen=True, eq=False)
class WindowWords:
    """Learned visual words, float32 (k, 128), as a feature of windows."""

    feature: DenseSiftBow
    words: NDArray[np.float32]

    @classmethod
    def learn(cls, feature: DenseSiftBow, images: Iterable[GreyImage], n_images: int) -> Self:
        """Return the words that are learned from patches of some images."""
        samples = [
            feature.sample(feature.describe([image]), np.array([0]), n_images, seed)
            for seed, image in enumerate(images)
        ]
        return cls(feature, feature.fit(np.concatenate(samples)))

    @property
    def smallest(self) -> int:
        """The least side of a window: one pixel per cell of the finest level."""
        return max(self.feature.divisions)


def describe_windows(
    feature: Phog | WindowWords, image: GreyImage, boxes: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return the vectors, float32 (m, d), of the windows ``boxes`` (m, 4) of an image.

    A box is left, top, right, bottom, without the ends. Edges and patches are computed once for the
    whole image, whose size does not change (``longest`` is ignored); a patch counts for the windows
    and the cells that contain its centre.
    A window that leaves the image or is too small for the pyramid raises an InputError.
    """
    height, width = image.shape
    boxes = np.asarray(boxes, np.int64).reshape(-1, 4)
    left, top, right, bottom = boxes.T
    low = feature.smallest
    if ((left < 0) | (top < 0) | (right > width) | (bottom > height)).any():
        raise InputError(f"a window lies partly outside the image of {width} × {height} pixels")
    if ((right - left < low) | (bottom - top < low)).any():
        raise InputError(f"a window is smaller than {low} × {low} pixels")
    if isinstance(feature, WindowWords):
        return _count_words(feature, image, boxes)
    return _sum_energies(feature, image, boxes)


def _count_words(
    feature: WindowWords, image: GreyImage, boxes: NDArray[np.int64]
) -> NDArray[np.float32]:
    described = feature.feature.describe([image])
    words = feature.feature.words_of(described["descriptors"], feature.words)
    # Rounding removes the error of the fractions: centres lie on pixels or between two.
    parts = 2.0 * feature.feature.enlarge
    places = np.round(parts * described["places"] * image.shape) / parts
    k = len(feature.words)
    divisions = feature.feature.divisions
    vectors = np.empty((len(boxes), k * sum(g * g for g in divisions)), np.float32)
    for vector, (left, top, right, bottom) in zip(vectors, boxes, strict=True):
        parts = (places - (top, left)) / (bottom - top, right - left)
        inside = ((parts >= 0) & (parts < 1)).all(axis=1)
        columns = columns_of(parts[inside], words[inside], k, divisions)
        vector[:] = np.bincount(columns.ravel(), minlength=len(vector))
    return vectors


def _sum_energies(feature: Phog, image: GreyImage, boxes: NDArray[np.int64]) -> NDArray[np.float32]:
    # Four look-ups in the sums over rectangles from the image's corner give any rectangle's sum.
    height, width = image.shape
    left, top, right, bottom = boxes.T
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
    # Rounding can make differences of large sums negative.
    return np.maximum(np.concatenate(levels, axis=1), 0).astype(np.float32)
