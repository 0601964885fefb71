"""Datasets: manifests, verified downloads, a cache, splits."""

from kmaps.data.cache import cache_root
from kmaps.data.fetch import Download, download
from kmaps.data.manifest import (
    Manifest,
    SourceFile,
    available,
    load_manifest,
    read_manifest,
    tree_digest,
)
from kmaps.data.readers import FORMATS, Dataset, load_dataset
from kmaps.data.splits import draw_split

__all__ = [
    "FORMATS",
    "Dataset",
    "Download",
    "Manifest",
    "SourceFile",
    "available",
    "cache_root",
    "download",
    "draw_split",
    "load_dataset",
    "load_manifest",
    "read_manifest",
    "tree_digest",
]
