"""Images and datasets that the tests of features share."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
from PIL import Image


def dataset(images, name="drawn", max_level=255, digest="d1") -> SimpleNamespace:
    """Return what extract() needs of a dataset."""
    return SimpleNamespace(name=name, images=images, max_level=max_level, digest=digest)


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    """Return images of random levels."""
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def photograph(h: int, w: int, seed: int) -> np.ndarray:
    """Return shapes of several greys on a slope with some noise: edges, flat parts, texture."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:h, :w]
    image = 60 + 40 * x / w + rng.normal(0, 2, (h, w))
    for _ in range(4):
        cy, cx, r = rng.uniform(0, h), rng.uniform(0, w), rng.uniform(0.1, 0.3) * min(h, w)
        inside = (
            np.hypot(y - cy, x - cx) < r if rng.random() < 0.5 else abs(y - cy) + abs(x - cx) < r
        )
        image[inside] = rng.uniform(0, 255)
    return np.clip(image, 0, 255).astype(np.uint8)


def save(folder: Path, images: list[np.ndarray], suffix: str = ".png") -> list[Path]:
    """Write images to files and return their paths."""
    paths = [folder / f"{i:03}{suffix}" for i in range(len(images))]
    for path, image in zip(paths, images, strict=True):
        Image.fromarray(image).save(path)
    return paths
