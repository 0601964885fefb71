"""What a format of a dataset's files is: how it is decoded, stored and loaded."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.data.archives import Report
from kmaps.data.dataset import Images
from kmaps.data.manifest import Manifest, SourceFile

Samples = tuple[Images | NDArray[np.float32], NDArray[np.int64], NDArray[np.str_]]


@dataclass(frozen=True)
class Content:
    """What a source file holds once decompressed: its digest, its bytes in all, the content."""

    digest: str
    size: int
    payload: Any


@dataclass(frozen=True)
class Format:
    """How the files of a dataset are read.

    Parameters
    ----------
    load : callable
        ``load(manifest, folder, paths)`` returns the samples from the stored files.
    roles : callable
        ``roles(manifest)`` returns the roles that the manifest's files must have.
    shaped : bool
        Whether all images have one shape, which the manifest must give.
    decode : callable or None
        ``decode(path, source, manifest, report)`` returns a source file's :class:`Content`; None
        for an embedded dataset.
    store : callable or None
        ``store(payloads, manifest, folder)`` writes the verified payloads, by role.
    tabular : bool
        Whether the samples are rows of a matrix, no images.
    """

    load: Callable[[Manifest, Path, list[str]], Samples]
    roles: Callable[[Manifest], set[str]]
    shaped: bool
    decode: Callable[[Path, SourceFile, Manifest, Report], Content] | None = None
    store: Callable[[Mapping[str, Any], Manifest, Path], object] | None = None
    tabular: bool = False


def sha256(content: bytes) -> str:
    """Return the digest of some bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()
