"""The base of features, the features by name, grey images, and normalisations of vectors.

A feature has parameters, and one or two stages from images to vectors. The first stage,
``describe``, looks at one image at a time, and its results can be kept for a whole dataset. A
feature that learns has a second stage: ``fit`` learns from a ``sample`` of the first stage's
results on training images, and ``encode`` turns its result on any image into a vector.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kmaps import Registry
from kmaps.errors import ConfigError, InputError, suggest
from kmaps.features.images import GreyImage, ImageFacts, as_grey, read_image
from kmaps.matrices import row_norms

if TYPE_CHECKING:
    from kmaps.matrices import AnyMatrix

GreyImages = NDArray[np.float32] | Sequence[GreyImage]  # (n, height, width), or of several sizes
Arrays = dict[str, NDArray]  # the result of a stage on a block of images
Matrix: TypeAlias = "AnyMatrix"
Report = Callable[[str, int, int], object]  # report(label, images done, images in all)

MIN_MAX = "min-max"  # scales each column of a table to 0 … 1 by its range in the training rows
_NAMED = {"none": None, "l1": 1.0, "l2": 2.0}
_GAMMA = re.compile(r"gamma=(\d+\.?\d*|\.\d+)")


@dataclass(frozen=True)
class Feature(ABC):
    """Base of the features; a subclass's fields are its parameters.

    ``version`` rises when the same parameters give other values: older caches are not used then.
    All images of a ``uniform`` feature must have one size; for other features images shrink until
    the longer side has ``longest`` pixels, if this parameter exists and is not None. ``cached``
    says whether the vectors are worth keeping on disk, ``learns`` whether there is a second stage;
    ``block_images`` are described at a time, which limits the memory.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    uniform: ClassVar[bool] = False
    cached: ClassVar[bool] = True
    learns: ClassVar[bool] = False
    block_images: ClassVar[int] = 64
    longest = None  # without annotation, so that it is no parameter unless a subclass makes it one
    later: ClassVar[dict[str, Any]] = {}  # newer parameters, with their values in older records

    @abstractmethod
    def describe(self, images: GreyImages) -> Arrays:
        """Return the first stage's result for some images, none smaller than ``smallest``.

        Without a second stage the result is ``{"vectors": float32 (n, d)}``. The images are one
        array if the feature is ``uniform``.
        """

    @property
    def smallest(self) -> int:
        """The least height and width of an image."""
        return 1

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that keys depend on."""
        return {k: v for k, v in asdict(self).items() if (k, v) not in self.later.items()}

    def description(self) -> dict[str, Any]:
        """Return the parameters that the first stage depends on."""
        return self.parameters()

    def check(self, check: Callable[..., None], *parameters: str, **limits: Any) -> None:
        """Apply one of `kmaps.checks` to some parameters; messages name the feature too."""
        for parameter in parameters:
            check(f"{self.name}: {parameter}", getattr(self, parameter), **limits)


class LearnedFeature(Feature):
    """A feature whose second stage learns from the training images."""

    learns: ClassVar[bool] = True

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """The number of values of a vector."""

    @abstractmethod
    def sample(
        self, described: Arrays, rows: NDArray[np.intp], n_training: int, seed: int
    ) -> NDArray:
        """Return a sample to learn from, of the training images ``rows`` of a described block.

        ``n_training`` counts the training images of all blocks; each block has its ``seed``.
        """

    @abstractmethod
    def fit(self, samples: NDArray) -> NDArray:
        """Return the array that :meth:`encode` needs, learned from the samples of all blocks."""

    @abstractmethod
    def encode(self, described: Arrays, learned: NDArray) -> Arrays:
        """Return ``data``, ``indices`` and ``indptr`` of the CSR rows of a block of images."""


@dataclass(frozen=True)
class Intensity(Feature):
    """The grey values of an image, row by row, divided by the largest possible value."""

    name: ClassVar[str] = "intensity"
    uniform: ClassVar[bool] = True
    cached: ClassVar[bool] = False
    block_images: ClassVar[int] = 4096

    def describe(self, images: NDArray) -> Arrays:
        """Return the grey values of each image in one row."""
        return {"vectors": images.reshape(len(images), -1)}


FEATURES: Registry[type[Feature]] = Registry(
    {
        "intensity": "kmaps.features.base.Intensity",
        "hog-pyramid": "kmaps.features.hog.HogPyramid",
        "phog": "kmaps.features.phog.Phog",
        "dense-sift-bow": "kmaps.features.bow.DenseSiftBow",
        "phow": "kmaps.features.bow.Phow",
    }
)
"""The features by the names that YAML files and the command line use; imported when used."""


def make_feature(name: str, parameters: Mapping[str, Any] | None = None) -> Feature:
    """Return a feature by its name; lists in the parameters become tuples."""
    if name not in FEATURES:
        raise ConfigError(
            f"unknown features {name!r}{suggest(name, FEATURES)} (known: {', '.join(FEATURES)})"
        )
    names = parameters_of(name)
    values = {}
    for key, value in (parameters or {}).items():
        if key not in names:
            hint = suggest(key, names) or f" (known: {', '.join(names) or 'none'})"
            raise ConfigError(f"{name}: unknown parameter {key!r}{hint}")
        values[key] = tuple(value) if isinstance(value, list) else value
    return FEATURES[name](**values)


def parameters_of(name: str) -> list[str]:
    """Return the names of the parameters of features."""
    return [field.name for field in fields(FEATURES[name])]


def get_normalization(name: str) -> Callable[[Matrix], Matrix]:
    """Return the function that normalises the rows of a matrix in place.

    The name is ``none`` or the norm that becomes one: ``l1``, ``l2``, or ``gamma=G`` for a number
    G > 0, the norm (Σ|x|^G)^(1/G), under which a G-homogeneous additive kernel has K(x, x) = 1
    (hkm, Sect. 2.2). Rows of zeros stay zero.
    """
    named = name in _NAMED
    gamma = _GAMMA.fullmatch(name)
    if not named and (gamma is None or float(gamma[1]) == 0):
        raise ConfigError(
            f"unknown normalisation {name!r}{suggest(name, _NAMED)} "
            f"(known: {', '.join(_NAMED)}, gamma=NUMBER)"
        )
    power = _NAMED[name] if named else float(gamma[1])
    return (lambda X: X) if power is None else (lambda X: _divide(X, power))


def _divide(X: Matrix, power: float) -> Matrix:
    from scipy import sparse  # slow to import, and most callers only check a name

    values = X.data if sparse.issparse(X) else X
    norms = row_norms(X, power)
    per_value = np.repeat(norms, np.diff(X.indptr)) if sparse.issparse(X) else norms[:, None]
    values /= per_value.astype(np.float32)
    return X


class Images(Protocol):
    """The interface to a dataset that :func:`kmaps.features.extract` needs."""

    name: str
    images: NDArray[np.uint8] | Sequence[Path]
    max_level: int
    digest: str  # needed for a cache alone


@runtime_checkable
class NamesDamaged(Protocol):
    """A dataset that says which of its images must not be used, and why."""

    damaged: Mapping[int, str]  # the images that must not be used, and why


def image_name(dataset: Images, row: int) -> str:
    """Return what messages call an image: its file, or its number."""
    image = dataset.images[row]
    return f"image {row}" if isinstance(image, np.ndarray) else str(image)


@runtime_checkable
class StatesReading(Protocol):
    """A dataset that says how its image files are read (:func:`kmaps.features.load_image`)."""

    white: float | None
    background: str


def image_of(dataset: Images, row: int, longest: int | None) -> tuple[GreyImage, ImageFacts]:
    """Return an image of a dataset in grey, and what a user should know about its file."""
    white = None
    background = "white"
    if isinstance(dataset, StatesReading):
        white = dataset.white
        background = dataset.background
    image = dataset.images[row]
    return read_image(image, dataset.max_level, longest, white=white, background=background)


def describe_images(
    feature: Feature, dataset: Images, start: int, stop: int, damaged: Mapping[int, str]
) -> Arrays:
    """Return the first stage's result; images that are ``bad``, for ``reasons``, count as blank.

    ``largest`` is the largest level of files of 16 bits that do not state their white, and
    ``several`` counts files of several images, where there are any.
    """
    if feature.uniform and isinstance(dataset.images, np.ndarray):
        return feature.describe(as_grey(dataset.images[start:stop], dataset.max_level))
    blank = np.zeros((feature.smallest, feature.smallest), np.float32)
    if feature.uniform:
        blank = np.zeros(_first_shape(dataset, damaged), np.float32)
    images: list[GreyImage] = []
    bad: dict[int, str] = {}
    facts: list[ImageFacts] = []
    for row in range(start, stop):
        try:
            if row in damaged:
                raise InputError(damaged[row])
            image, of_file = _fit_image(feature, dataset, row)
            facts.append(of_file)
        except InputError as error:
            image = blank
            bad[row - start] = str(error)
        if feature.uniform and image.shape != blank.shape:
            raise InputError(
                f"{dataset.name}: the images differ in size, and {feature.name} needs one size: "
                f"{image_name(dataset, row)} has {image.shape[1]} × {image.shape[0]} pixels "
                f"(width × height), others have {blank.shape[1]} × {blank.shape[0]}; use other "
                "features"
            )
        images.append(image)
    described = feature.describe(np.stack(images) if feature.uniform else images)
    if bad:
        described |= {"bad": np.array(list(bad)), "reasons": np.array(list(bad.values()))}
    largest = max((of_file.largest for of_file in facts), default=0)
    several = sum(of_file.n_frames > 1 for of_file in facts)
    if largest:
        described["largest"] = np.array(largest)
    if several:
        described["several"] = np.array(several)
    return described


def _first_shape(dataset: Images, damaged: Mapping[int, str]) -> tuple[int, ...]:
    first_reason = ""
    for row in range(len(dataset.images)):
        if row in damaged:
            reason = damaged[row]
        else:
            try:
                return image_of(dataset, row, None)[0].shape
            except InputError as error:
                reason = str(error)
        first_reason = first_reason or f"{image_name(dataset, row)}: {reason}"
    raise InputError(f"{dataset.name}: no image can be used ({first_reason})")


def _fit_image(feature: Feature, dataset: Images, row: int) -> tuple[GreyImage, ImageFacts]:
    image, facts = image_of(dataset, row, feature.longest)
    height, width = image.shape
    if min(height, width) < feature.smallest:
        raise InputError(
            f"{width} × {height} pixels (width × height) are too few, {feature.name} needs "
            f"at least {feature.smallest} × {feature.smallest}"
        )
    return image, facts
