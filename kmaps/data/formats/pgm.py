"""Daimler: PGM files in folders, the digest is of the pixels."""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kmaps.data.archives import Report, read_members
from kmaps.data.formats.arrays import load_arrays, store_arrays
from kmaps.data.formats.folders import (
    archive_role,
    first_of_each,
    labels_and_groups,
    member_name,
    tree_content,
)
from kmaps.data.formats.format import Content, Format
from kmaps.data.manifest import Manifest, SourceFile
from kmaps.errors import DataError

_GAP = rb"\s(?:\s|#[^\n]*\n)*"
_HEADER = re.compile(rb"P5" + _GAP + rb"(\d{1,9})" + _GAP + rb"(\d{1,9})" + _GAP + rb"(\d{1,9})\s")


def read_pgm(content: bytes, where: str, shape: tuple[int, int]) -> bytes:
    """Return the pixels, row by row, of a binary PGM image with one byte a pixel.

    Parameters
    ----------
    content : bytes
    where : str
        The file's name, for messages.
    shape : (int, int)
        The height and width expected.

    Raises
    ------
    DataError
        If it is not a binary PGM of that shape with levels 0 … 255.

    Examples
    --------
    >>> read_pgm(b"P5 3 2 255 abcdef", "six-pixels", (2, 3))
    b'abcdef'
    """
    header = _HEADER.match(content)
    if header is None:
        raise DataError(f"{where}: not a binary PGM: it begins {content[:16]!r}")
    width, height, max_level = map(int, header.groups())
    pixels = content[header.end() :]
    if (height, width) != shape or max_level != 255 or len(pixels) != height * width:
        raise DataError(
            f"{where}: {width} × {height} pixels (width × height) of {max_level + 1} levels in "
            f"{len(pixels):,} bytes, expected {shape[1]} × {shape[0]} of 256 levels"
        )
    return pixels


def _decode(path: Path, source: SourceFile, manifest: Manifest, report: Report) -> Content:
    files = read_members(path, member_name(manifest, ".pgm"), source.size, report)
    pixels = {
        name: read_pgm(content, name, manifest.shape)
        for name, content in first_of_each(files, manifest).items()
    }
    return tree_content(pixels)


def _store(payloads: Mapping[str, dict], manifest: Manifest, folder: Path) -> None:
    (pixels,) = payloads.values()
    names = sorted(pixels)
    images = np.frombuffer(b"".join(pixels[name] for name in names), np.uint8)
    labels, groups = labels_and_groups(names, manifest)
    store_arrays(images.reshape(len(names), *manifest.shape), labels, groups, folder)


PGM_FOLDERS = Format(load_arrays, archive_role, True, _decode, _store)
