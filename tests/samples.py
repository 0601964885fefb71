"""Samples that tests draw: histograms, and a small dataset."""

import gzip
import hashlib
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from kmaps.data import Manifest, SourceFile, tree_digest


def histograms(n, d, zeros=0.4, seed=0, dtype=np.float32):
    """Draw values over three decades, a part of them zero."""
    rng = np.random.default_rng(seed)
    values = 10 ** rng.uniform(-3, 0, (n, d)) * (rng.random((n, d)) >= zeros)
    return values.astype(dtype)


def in_blocks(samples, rows=50):
    """Samples as a reader gives them: in one buffer, which the next block overwrites."""

    def blocks():
        buffer = np.empty((rows, samples.shape[1]), samples.dtype)
        for start in range(0, samples.shape[0], rows):
            part = samples[start : start + rows]
            if isinstance(part, np.ndarray):
                buffer[: len(part)] = part
                part = buffer[: len(part)]
            yield part

    return SimpleNamespace(blocks=blocks, sample=lambda: samples)


@dataclass
class Tiny:
    """A dataset drawn by the tests: three training and two test images of 2 × 3 pixels."""

    manifest: Manifest
    folder: Path  # a mirror of it
    images: np.ndarray
    y: np.ndarray

    def at(self, *addresses: str) -> Manifest:
        """Return the manifest with publishers at these addresses, tried in this order."""
        files = tuple(
            replace(source, urls=tuple(f"{address}/{source.path}" for address in addresses))
            for source in self.manifest.files
        )
        return replace(self.manifest, files=files)


def to_idx(array: np.ndarray) -> bytes:
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.astype(np.uint8).tobytes()


def tiny_dataset(folder: Path) -> Tiny:
    """Return a dataset in MNIST's format, with its mirror in a folder."""
    images = np.arange(30, dtype=np.uint8).reshape(5, 2, 3)
    y = np.array([1, 0, 1, 1, 0])
    parts = {"train": slice(0, 3), "test": slice(3, 5)}
    contents = {f"{group}-images": to_idx(images[part]) for group, part in parts.items()}
    contents |= {f"{group}-labels": to_idx(y[part]) for group, part in parts.items()}
    (folder / "tiny").mkdir(parents=True)
    sources = []
    for role, content in contents.items():
        (folder / f"tiny/{role}.gz").write_bytes(gzip.compress(content, mtime=0))
        digest = hashlib.sha256(content).hexdigest()
        sources.append(SourceFile(f"tiny/{role}.gz", (), digest, len(content), role))
    manifest = Manifest(
        name="tiny",
        title="Five small images",
        licence="none",
        citation="none",
        homepage="https://example.org",
        format="idx",
        classes=("no", "yes"),
        groups=("train", "test"),
        shape=(2, 3),
        digest=tree_digest({source.role: source.sha256 for source in sources}),
        files=tuple(sources),
    )
    return Tiny(manifest, folder, images, y)
