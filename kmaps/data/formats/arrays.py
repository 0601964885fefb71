"""How images of one shape are kept: three arrays that load fast."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kmaps.data.formats.format import Samples
from kmaps.data.manifest import Manifest


def store_arrays(images: NDArray, labels: NDArray, groups: NDArray, folder: Path) -> None:
    """Write the images, their labels and their groups."""
    np.save(folder / "images.npy", images)
    np.save(folder / "labels.npy", labels.astype(np.int64))
    np.save(folder / "groups.npy", groups)


def load_arrays(manifest: Manifest, folder: Path, paths: list[str]) -> Samples:
    """Return what `store_arrays` wrote."""
    images, y, groups = (np.load(folder / f"{part}.npy") for part in ("images", "labels", "groups"))
    return images, y, groups
