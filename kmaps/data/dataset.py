"""What is loaded of a dataset: images, or vectors, with their labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kmaps.samples import AnyMatrix

Images = NDArray[np.uint8] | list[Path]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Images with their labels.

    Parameters
    ----------
    name : str
    images : ndarray of uint8, shape (n, height, width), or list of Path
        Grey levels 0 … ``max_level``; files when the images differ in size.
    y : ndarray of int64, shape (n,)
        Label ``i`` means ``class_names[i]``.
    groups : ndarray of str, shape (n,)
        The official subset of each sample; ``""`` where there is none.
    digest : str
        SHA-256 of the content, as in the manifest.
    class_names : tuple of str
    max_level : int
        The largest grey value.
    damaged : dict of int to str
        Samples whose files are not those that were verified, and what is wrong with them.
    clusters : ndarray of str, shape (n,), or None
        The group of each sample that no split divides, where there are such.
    """

    name: str
    images: Images
    y: NDArray[np.int64]
    groups: NDArray[np.str_]
    digest: str
    class_names: tuple[str, ...]
    max_level: int = 255
    damaged: Mapping[int, str] = field(default_factory=dict)
    clusters: NDArray[np.str_] | None = None


@dataclass(frozen=True, eq=False)
class Table:
    """Vectors X, float32 (n, d), dense or CSR, with their labels, as in :class:`Dataset`."""

    name: str
    X: "AnyMatrix"
    y: NDArray[np.int64]
    groups: NDArray[np.str_]
    digest: str
    class_names: tuple[str, ...]
    clusters: NDArray[np.str_] | None = None
