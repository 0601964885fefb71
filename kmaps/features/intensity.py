"""Grey values as they are."""

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import NDArray

from kmaps.features.base import Arrays, Feature


@dataclass(frozen=True)
class Intensity(Feature):
    """The grey values, divided by the largest possible one, row by row of the image."""

    name: ClassVar[str] = "intensity"
    uniform: ClassVar[bool] = True
    cached: ClassVar[bool] = False
    block_images: ClassVar[int] = 4096

    def describe(self, images: NDArray) -> Arrays:
        """Return the vectors, height × width values each."""
        return {"vectors": images.reshape(len(images), -1)}
