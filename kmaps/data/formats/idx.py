"""MNIST: one idx file of images and one of labels for each group."""

import math
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kmaps.data.archives import Report, read_file
from kmaps.data.formats.arrays import load_arrays, store_arrays
from kmaps.data.formats.format import Content, Format
from kmaps.data.manifest import Manifest, SourceFile
from kmaps.errors import DataError


def read_idx(content: bytes, where: str, n_dims: int) -> NDArray[np.uint8]:
    """Return the array in an idx file: two zeros, type, number of axes, sizes, then the data.

    Parameters
    ----------
    content : bytes
    where : str
        The file's name, for messages.
    n_dims : int
        The number of axes expected.

    Raises
    ------
    DataError
        If it is not an idx file of unsigned bytes with that many axes, or has another length than
        its header says.

    Examples
    --------
    >>> read_idx(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9]), "two-labels", 1)
    array([7, 9], dtype=uint8)
    """
    header = bytes([0, 0, 8, n_dims])  # 8: unsigned bytes
    if content[:4] != header:
        raise DataError(f"{where}: not idx: expected {header!r} in front, got {content[:4]!r}")
    start = 4 + 4 * n_dims
    if len(content) < start:
        raise DataError(f"{where}: {len(content)} bytes, shorter than an idx header of {start}")
    shape = struct.unpack_from(f">{n_dims}I", content, 4)
    if len(content) != start + math.prod(shape):
        raise DataError(f"{where}: {len(content):,} bytes do not hold an array of shape {shape}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def _roles(manifest: Manifest) -> set[str]:
    return {f"{group}-{part}" for group in manifest.groups for part in ("images", "labels")}


def _decode(path: Path, source: SourceFile, manifest: Manifest, report: Report) -> Content:
    content, digest, size = read_file(path, source.size, report)
    return Content(digest, size, content)


def _store(payloads: Mapping[str, bytes], manifest: Manifest, folder: Path) -> None:
    images, labels, groups = [], [], []
    for group in manifest.groups:
        levels = read_idx(payloads[f"{group}-images"], f"{group}-images", 3)
        targets = read_idx(payloads[f"{group}-labels"], f"{group}-labels", 1)
        if levels.shape != (len(targets), *manifest.shape):
            raise DataError(
                f"{manifest.name}: {group}: images of shape {levels.shape} for {len(targets)} "
                f"labels, expected {(len(targets), *manifest.shape)}"
            )
        images.append(levels)
        labels.append(targets)
        groups += [group] * len(targets)
    store_arrays(np.concatenate(images), np.concatenate(labels), np.array(groups), folder)


IDX = Format(load_arrays, _roles, True, _decode, _store)
