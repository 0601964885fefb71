"""What a feature is: parameters, and one stage or two from pictures to vectors.

The first stage, ``describe``, looks at one picture at a time and can be kept for a whole dataset.
A feature that learns has a second: ``fit`` learns from a ``sample`` of what the first left of the
training pictures, ``encode`` turns what it left of any picture into its vector.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import ConfigError

Picture = NDArray[np.float32]  # (height, width), grey, black 0, white 1
Pictures = NDArray[np.float32] | Sequence[Picture]  # (n, height, width), or of several sizes
Arrays = dict[str, NDArray]  # what a stage leaves of a block of pictures


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
        Whether all pictures must have one size.
    cached : bool
        Whether the vectors are worth keeping on disk.
    learns : bool
        Whether there is a second stage (:class:`LearnedFeature`).
    block_pictures : int
        Pictures described at a time; bounds the memory.

    Features that take pictures of any size have a parameter ``longest``: larger ones are shrunk
    until the longer side is that many pixels, or never if it is None.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    uniform: ClassVar[bool] = False
    cached: ClassVar[bool] = True
    learns: ClassVar[bool] = False
    block_pictures: ClassVar[int] = 64
    longest = None  # not annotated: a parameter only where a subclass makes it one

    @abstractmethod
    def describe(self, pictures: Pictures) -> Arrays:
        """Return what the first stage leaves of some pictures.

        Without a second stage that is ``{"vectors": float32 (n, d)}``.

        Parameters
        ----------
        pictures : ndarray of float32, shape (n, height, width), or sequence of (height, width)
            The former if the feature is ``uniform``; none smaller than ``smallest``.

        Raises
        ------
        InputError
            If a ``uniform`` feature does not fit the pictures.
        """

    @property
    def smallest(self) -> int:
        """The least height and width of a picture."""
        return 1

    def description(self) -> dict[str, Any]:
        """Return the parameters that the first stage depends on."""
        return asdict(self)

    def refuse(self, parameter: str, expected: str) -> ConfigError:
        """Return the error for a parameter that is not what is expected."""
        value = getattr(self, parameter)
        given = list(value) if isinstance(value, tuple) else value
        return ConfigError(f"{self.name}: {parameter} must be {expected}, got {given!r}")

    def check_count(self, parameter: str, lowest: int = 1) -> None:
        """Raise ConfigError unless a parameter is a whole number, not below the lowest."""
        value = getattr(self, parameter)
        if not is_count(value) or value < lowest:
            raise self.refuse(parameter, f"a whole number at least {lowest}")

    def check_counts(self, parameter: str, lowest: int = 1) -> None:
        """Raise ConfigError unless a parameter lists different whole numbers."""
        value = getattr(self, parameter)
        sound = isinstance(value, tuple) and len(value) == len(set(value)) > 0
        if not sound or not all(is_count(v) and v >= lowest for v in value):
            raise self.refuse(parameter, f"a list of different whole numbers, at least {lowest}")

    def check_number(self, parameter: str, *, positive: bool = False) -> None:
        """Raise ConfigError unless a parameter is a finite number, at least or above zero."""
        value = getattr(self, parameter)
        sound = isinstance(value, int | float) and not isinstance(value, bool)
        if not sound or not np.isfinite(value) or value < 0 or (positive and value == 0):
            raise self.refuse(parameter, "a positive number" if positive else "a number, 0 or more")

    def check_flags(self, *parameters: str) -> None:
        """Raise ConfigError unless each of some parameters is true or false."""
        for parameter in parameters:
            if not isinstance(getattr(self, parameter), bool):
                raise self.refuse(parameter, "true or false")


class LearnedFeature(Feature):
    """A feature whose second stage learns from the training pictures."""

    learns: ClassVar[bool] = True

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """Length of the vectors."""

    @abstractmethod
    def sample(
        self, described: Arrays, rows: NDArray[np.intp], n_training: int, seed: int
    ) -> NDArray:
        """Return what to learn from, out of some training pictures of a block.

        Parameters
        ----------
        described : Arrays
            What the first stage left of the block.
        rows : ndarray of int
            Which of its pictures are for training.
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
        """Return ``data``, ``indices`` and ``indptr`` of the CSR rows of a block of pictures."""


def is_count(value: object) -> bool:
    """Return whether a value is a whole number, and not a truth value."""
    return isinstance(value, int) and not isinstance(value, bool)
