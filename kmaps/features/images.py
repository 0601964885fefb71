"""Reading images: grey, black 0 and white 1, blocks of them; the unreadable ones by name."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from kmaps.errors import InputError
from kmaps.features.base import GreyImage


class Images(Protocol):
    """What :func:`kmaps.features.extract` needs of a dataset."""

    name: str
    images: NDArray[np.uint8] | Sequence[Path]
    max_level: int
    digest: str  # only for a cache


@runtime_checkable
class NamesDamaged(Protocol):
    """A dataset that names images which are not to be used, and says why."""

    damaged: Mapping[int, str]


def image_name(dataset: Images, row: int) -> str:
    """Return what to call an image in a message."""
    image = dataset.images[row]
    return f"image {row}" if isinstance(image, np.ndarray) else str(image)


def as_grey(levels: NDArray[np.uint8], max_level: int) -> NDArray[np.float32]:
    """Return levels from 0 to ``max_level`` as grey values from 0 to 1."""
    return np.divide(levels, np.float32(max_level), dtype=np.float32)


def load_image(image: NDArray[np.uint8] | Path, max_level: int, longest: int | None) -> GreyImage:
    """Return an array of levels, or an image file, as grey values from 0 to 1.

    White is ``max_level`` in arrays, always 255 in files. The longer side of larger images is
    shrunk to ``longest`` pixels, unless it is None.
    If a file cannot be read, it raises an InputError; the caller adds the name.
    """
    if isinstance(image, np.ndarray):
        if longest is None or max(image.shape) <= longest:
            return as_grey(image, max_level)
        return _shrunk(Image.fromarray(image), longest, max_level)
    try:
        with Image.open(image) as opened:
            if longest is not None:
                # A JPEG file is decoded at a half, a quarter … of its size where that is enough.
                opened.draft("L", (longest, longest))
            return _shrunk(opened.convert("L"), longest, 255)
    except UnidentifiedImageError:
        size = Path(image).stat().st_size
        raise InputError(f"not an image ({size:,} bytes)" if size else "an empty file") from None
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read: {reason}") from None


def _shrunk(image: Image.Image, longest: int | None, max_level: int) -> GreyImage:
    factor = 1 if longest is None else longest / max(image.size)
    if factor < 1:
        size = [max(1, round(side * factor)) for side in image.size]
        image = image.resize(size, Image.Resampling.BILINEAR)
    return as_grey(np.asarray(image), max_level)
