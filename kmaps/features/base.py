"""What a feature is: parameters, and one stage or two from images to vectors.

The first stage, ``describe``, looks at one image at a time and can be kept for a whole dataset.
A feature that learns has a second: ``fit`` learns from a ``sample`` of what the first left of the
training images, ``encode`` turns what it left of any image into its vector.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

GreyImage = NDArray[np.float32]  # (height, width), grey, black 0, white 1
GreyImages = NDArray[np.float32] | Sequence[GreyImage]  # (n, height, width), or of several sizes
Arrays = dict[str, NDArray]  # what a stage leaves of a block of images


@dataclass(frozen=True)
class Feature(ABC):
    """Base of the features; a subclass's fields are its parameters.

    Attributes
    ----------
    name : str
        What experiments call it.
    version : int
        Raised when the same parameters give other values: older caches are then left alone.
    uniform : bool
        Whether all images must have one size.
    cached : bool
        Whether the vectors are worth keeping on disk.
    learns : bool
        Whether there is a second stage (:class:`LearnedFeature`).
    block_images : int
        Images described at a time; bounds the memory.

    Features that take images of any size have a parameter ``longest``: larger ones are shrunk
    until the longer side is that many pixels, or never if it is None.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    uniform: ClassVar[bool] = False
    cached: ClassVar[bool] = True
    learns: ClassVar[bool] = False
    block_images: ClassVar[int] = 64
    longest = None  # not annotated: a parameter only where a subclass makes it one

    @abstractmethod
    def describe(self, images: GreyImages) -> Arrays:
        """Return what the first stage leaves of some images.

        Without a second stage that is ``{"vectors": float32 (n, d)}``.

        Parameters
        ----------
        images : ndarray of float32, shape (n, height, width), or sequence of (height, width)
            The former if the feature is ``uniform``; none smaller than ``smallest``.

        Raises
        ------
        InputError
            If a ``uniform`` feature does not fit the images.
        """

    @property
    def smallest(self) -> int:
        """The least height and width of an image."""
        return 1

    def description(self) -> dict[str, Any]:
        """Return the parameters that the first stage depends on."""
        return asdict(self)

    def check(self, check: Callable[..., None], *parameters: str, **limits: Any) -> None:
        """Apply one of `kmaps.checks` to some parameters; a message names the feature as well."""
        for parameter in parameters:
            check(f"{self.name}: {parameter}", getattr(self, parameter), **limits)


class LearnedFeature(Feature):
    """A feature whose second stage learns from the training images."""

    learns: ClassVar[bool] = True

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """Length of the vectors."""

    @abstractmethod
    def sample(
        self, described: Arrays, rows: NDArray[np.intp], n_training: int, seed: int
    ) -> NDArray:
        """Return what to learn from, out of some training images of a block.

        Parameters
        ----------
        described : Arrays
            What the first stage left of the block.
        rows : ndarray of int
            Which of its images are for training.
        n_training : int
            How many there are in all blocks.
        seed : int
            The block's own.
        """

    @abstractmethod
    def fit(self, samples: NDArray) -> NDArray:
        """Return what :meth:`encode` needs, from the samples of all blocks, one after another."""

    @abstractmethod
    def encode(self, described: Arrays, learned: NDArray) -> Arrays:
        """Return ``data``, ``indices`` and ``indptr`` of the CSR rows of a block of images."""
