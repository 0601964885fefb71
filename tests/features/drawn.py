"""Pictures and datasets that the tests of features share."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
from PIL import Image


def dataset(images, name="drawn", max_level=255, digest="d1") -> SimpleNamespace:
    """Return what extract() needs of a dataset."""
    return SimpleNamespace(name=name, images=images, max_level=max_level, digest=digest)


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    """Return pictures of random levels."""
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def step_edge(h: int, w: int, at: int, *, dark: int = 0, bright: int = 255) -> np.ndarray:
    """Return a picture that is dark left of column ``at`` and bright from there."""
    picture = np.full((h, w), dark, np.uint8)
    picture[:, at:] = bright
    return picture


def photograph(h: int, w: int, seed: int) -> np.ndarray:
    """Return shapes of several greys on a slope with some noise: edges, flat parts, texture."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:h, :w]
    picture = 60 + 40 * x / w + rng.normal(0, 2, (h, w))
    for _ in range(4):
        cy, cx, r = rng.uniform(0, h), rng.uniform(0, w), rng.uniform(0.1, 0.3) * min(h, w)
        inside = (
            np.hypot(y - cy, x - cx) < r if rng.random() < 0.5 else abs(y - cy) + abs(x - cx) < r
        )
        picture[inside] = rng.uniform(0, 255)
    return np.clip(picture, 0, 255).astype(np.uint8)


def save(folder: Path, pictures: list[np.ndarray], suffix: str = ".png") -> list[Path]:
    """Write pictures to files and return their paths."""
    paths = [folder / f"{i:03}{suffix}" for i in range(len(pictures))]
    for path, picture in zip(paths, pictures, strict=True):
        Image.fromarray(picture).save(path)
    return paths
