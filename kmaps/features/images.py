"""Image files and arrays as grey images: what each mode of Pillow means, decided in one place.

A grey value is between black, 0, and white, 1. Whatever has no stated white is refused, as is
whatever becomes one grey value because of transparency.
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image

GreyImage = NDArray[np.float32]  # (height, width), from black, 0, to white, 1

BACKGROUNDS = {"white": 255, "black": 0}
"""Backgrounds of transparent images, with their grey levels."""

EIGHT_BITS = ("1", "L", "P", "RGB", "RGBX", "CMYK", "YCbCr")
"""Modes that Pillow turns into 256 grey levels."""

TRANSPARENT = ("LA", "La", "PA", "RGBA", "RGBa")
DEEP = ("I", "I;16", "I;16B", "I;16L", "I;16N", "F")
"""Modes of more than 8 bits, whose white :func:`largest_level` finds."""

LARGEST_16 = 65535
_BILINEAR = 2  # PIL.Image.Resampling.BILINEAR
_ORIENTATION = 0x0112  # the tag of EXIF
# tags of TIFF
_BITS = 258
_PHOTOMETRIC = 262
_LARGEST = 281
_LARGEST_REAL = 341
_SIGNED = 339
_WHITE_IS_ZERO = 0
_IS_SIGNED = 2


@dataclass(frozen=True)
class ImageFacts:
    """What reading an image file showed that a user should know.

    Attributes
    ----------
    largest : int
        The largest level of a file of 16 bits that does not state its white; 0 for other files.
    n_frames : int
        Images in the file, of which the first is read.
    """

    largest: int = 0
    n_frames: int = 1


def as_grey(levels: NDArray[np.uint8], max_level: int) -> NDArray[np.float32]:
    """Return levels from 0 to ``max_level`` as grey values from 0 to 1."""
    return np.divide(levels, np.float32(max_level), dtype=np.float32)


def load_image(
    image: NDArray[np.uint8] | Path,
    max_level: int,
    longest: int | None,
    *,
    white: float | None = None,
    background: str = "white",
) -> GreyImage:
    """Return an array of levels, or an image file, as grey values from 0 to 1.

    Parameters
    ----------
    image : ndarray of uint8, shape (height, width), or Path
        Levels from 0 to ``max_level``, or the file of an image.
    max_level : int
        White in arrays.
    longest : int or None
        Larger images shrink until the longer side has so many pixels.
    white : float, optional
        White in files of more than 8 bits; by default what the file states, or its type's largest
        value.
    background : {"white", "black"}
        What transparent images are composed on.

    Returns
    -------
    ndarray of float32, shape (height, width)
        As viewers show the image: turned by its EXIF orientation.

    Raises
    ------
    InputError
        For a file that is no image, has no stated white, or becomes one grey value on the
        background. The caller adds the name of the file.
    """
    return read_image(image, max_level, longest, white=white, background=background)[0]


def read_image(
    image: NDArray[np.uint8] | Path,
    max_level: int,
    longest: int | None,
    *,
    white: float | None = None,
    background: str = "white",
) -> tuple[GreyImage, ImageFacts]:
    """Return what :func:`load_image` does, and what a user should know about the file."""
    from PIL import Image, UnidentifiedImageError  # slow to import

    if isinstance(image, np.ndarray):
        if longest is None or max(image.shape) <= longest:
            return as_grey(image, max_level), ImageFacts()
        return as_grey(
            np.asarray(_shrunk(Image.fromarray(image), longest)), max_level
        ), ImageFacts()
    try:
        with Image.open(image) as opened:
            if longest is not None:
                # A JPEG file is decoded at a half, a quarter … of its size if this is enough.
                opened.draft("L", (longest, longest))
            return _grey(opened, longest, white, background)
    except UnidentifiedImageError:
        raise InputError(_not_read(Path(image))) from None
    except InputError:
        raise
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read: {reason}") from None


def _not_read(path: Path) -> str:
    """Return why Pillow cannot open a file: it is no image, or a TIFF of a kind that it lacks."""
    with open(path, "rb") as file:
        beginning = file.read(4)
    size = path.stat().st_size
    if beginning in (b"II*\0", b"MM\0*"):
        return (
            "is a TIFF whose samples Pillow does not read (of 10, 14 or 24 bits, say, or "
            "floating-point numbers of 16 or 64 bits); save it with 8 or 16 bits"
        )
    return f"is no image ({size:,} bytes)" if size else "is an empty file"


def _grey(
    opened: "Image", longest: int | None, white: float | None, background: str
) -> tuple[GreyImage, ImageFacts]:
    """Decide by the mode what the pixels mean."""
    _check_stored(opened)
    n_frames = int(getattr(opened, "n_frames", 1))
    mode = opened.mode
    if mode in DEEP:
        levels, largest, is_stated = _deep_levels(opened, white, background)
        turned = _upright(opened, levels)
        shown = 0 if is_stated or mode == "F" else int(np.asarray(turned).max())
        grey = np.asarray(_shrunk(turned, longest), np.float32) / np.float32(largest)
        return grey, ImageFacts(shown, n_frames)
    if mode in TRANSPARENT or (mode in EIGHT_BITS and "transparency" in opened.info):
        levels = _composed(opened, background)
    elif mode in EIGHT_BITS:
        levels = opened.convert("L")
    else:
        raise InputError(f"has the mode {mode}, which has no grey values; save it as RGB or grey")
    turned = _upright(opened, levels)
    return as_grey(np.asarray(_shrunk(turned, longest)), 255), ImageFacts(0, n_frames)


def _composed(opened: "Image", background: str) -> "Image":
    """Return a transparent image on a background, as grey levels; refuse one that vanishes."""
    from PIL import Image

    straight = {"La": "LA", "RGBa": "RGBA"}  # levels that are multiplied by their opacity
    image = opened.convert(straight[opened.mode]) if opened.mode in straight else opened
    coloured = image.convert("RGBA")
    opacity = coloured.getchannel("A").getextrema()
    if opacity == (255, 255):
        return image.convert("L")
    ground = Image.new("RGBA", coloured.size, (BACKGROUNDS[background],) * 3 + (255,))
    ground.alpha_composite(coloured)
    levels = ground.convert("L")
    darkest, lightest = levels.getextrema()
    if darkest == lightest:
        other = "black" if background == "white" else "white"
        raise InputError(
            f"is transparent and becomes one grey value on background={background}; pass "
            f"background={other}"
        )
    return levels


def _deep_levels(
    opened: "Image", white: float | None, background: str
) -> tuple["Image", float, bool]:
    """Return the levels of an image of more than 8 bits, their white, and whether it is stated."""
    from PIL import Image

    levels = np.asarray(opened).astype(np.float32)
    largest, is_stated = largest_level(opened)
    if white is not None:
        largest = white
        is_stated = True
    if largest is None:
        kind = "floating-point numbers" if opened.mode == "F" else "whole numbers of 32 bits"
        raise InputError(f"holds {kind} and does not state its white; pass white=LEVEL")
    if not np.isfinite(levels).all():
        raise InputError("holds values that are not finite")
    lowest = float(levels.min())
    highest = float(levels.max())
    if lowest < 0 or highest > largest:
        value = lowest if lowest < 0 else highest
        raise InputError(f"holds the level {value:g}, expected 0 to {largest:g}; pass white=LEVEL")
    if _tag(opened, _PHOTOMETRIC) == _WHITE_IS_ZERO and opened.mode != "F":
        # Pillow inverts such images of 8 bits only.
        levels = np.float32(largest) - levels
    transparent = opened.info.get("transparency")
    if isinstance(transparent, int):
        levels[levels == transparent] = largest * BACKGROUNDS[background] / 255
    return Image.fromarray(levels), largest, is_stated


def largest_level(opened: "Image") -> tuple[float | None, bool]:
    """Decide which level of an image of more than 8 bits is white.

    Parameters
    ----------
    opened : Image
        An image whose mode is one of `DEEP`.

    Returns
    -------
    largest : float or None
        The level that the file states, or the largest of its type; None for numbers of 32 bits
        and floating-point numbers whose white the file does not state.
    is_stated : bool
        Whether the file states it.
    """
    for tag in (_LARGEST, _LARGEST_REAL):
        stated = _tag(opened, tag)
        if stated:
            return float(stated), True
    if opened.mode == "F":
        return None, False
    if opened.mode == "I" and opened.format == "TIFF":
        bits = _tag(opened, _BITS)
        is_16 = bits == 16 and _tag(opened, _SIGNED) == _IS_SIGNED
        return (32767.0, False) if is_16 else (None, False)
    bits = _tag(opened, _BITS)
    if bits and bits < 16:
        return float(2**bits - 1), True
    return float(LARGEST_16), opened.format == "PPM"  # Pillow scales these by their largest level


def _tag(opened: "Image", tag: int) -> float | None:
    """Return the first value of a tag of a TIFF file; None where there is none."""
    tags = getattr(opened, "tag_v2", None)
    value = None if tags is None else tags.get(tag)
    if isinstance(value, tuple):
        value = value[0] if value else None
    return value


def _is_stored_plainly(opened: Any) -> bool:  # Pillow's types lack the tiles
    return any(tile[0] == "raw" for tile in opened.tile)


def _check_stored(opened: "Image") -> None:
    """Refuse TIFF files that Pillow reads wrongly.

    Pillow 13 takes negative samples of 8 bits for bright ones, and cuts the lines of files that are
    stored plainly, and whose sides change places, at the length that the turned image has.
    """
    if opened.format != "TIFF":
        return
    if _tag(opened, _SIGNED) == _IS_SIGNED and _tag(opened, _BITS) == 8:
        raise InputError(
            "is a TIFF of signed samples of 8 bits, which Pillow does not read right; save it with "
            "samples from 0 to 255"
        )
    if not _is_stored_plainly(opened):
        return
    width, height = opened.size
    orientation = _tag(opened, _ORIENTATION)
    if orientation in (5, 6, 7, 8) and width != height:
        raise InputError(
            f"is an uncompressed TIFF of orientation {orientation}, which Pillow does not read "
            "right; turn it, or save it compressed"
        )


def _upright(opened: "Image", image: "Image") -> "Image":
    """Turn the levels of an image as the orientation in its EXIF says, as viewers do."""
    from PIL import Image

    turns = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }
    try:
        orientation = opened.getexif().get(_ORIENTATION)
    except (SyntaxError, ValueError, KeyError, TypeError, OSError, struct.error):
        orientation = None  # damaged EXIF turns nothing, in viewers too
    turn = turns.get(orientation)
    return image if turn is None else image.transpose(turn)


def _shrunk(image: "Image", longest: int | None) -> "Image":
    factor = 1 if longest is None else longest / max(image.size)
    if factor < 1:
        size = [max(1, round(side * factor)) for side in image.size]
        return image.resize(size, _BILINEAR)
    return image
