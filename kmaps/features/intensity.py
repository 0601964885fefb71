"""Grey values as they are."""

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import NDArray

from kmaps.features.base import Arrays, Feature


@dataclass(frozen=True)
class Intensity(Feature):
    """The grey values, divided by the largest possible one, row by row of the picture."""

    name: ClassVar[str] = "intensity"
    uniform: ClassVar[bool] = True
    cached: ClassVar[bool] = False
    block_pictures: ClassVar[int] = 4096

    def describe(self, pictures: NDArray) -> Arrays:
        """Return the vectors, height × width values each."""
        return {"vectors": pictures.reshape(len(pictures), -1)}
