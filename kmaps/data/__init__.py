"""Datasets: manifests, verified downloads, a cache, splits."""

from kmaps.data.cache import cache_root
from kmaps.data.dataset import Dataset, Table
from kmaps.data.fetch import Download, download
from kmaps.data.formats import FORMATS, get_format
from kmaps.data.load import load_dataset
from kmaps.data.manifest import (
    Manifest,
    SourceFile,
    available,
    load_manifest,
    packaged,
    read_manifest,
    tree_digest,
)
from kmaps.data.own_files import OwnFiles
from kmaps.data.splits import draw_split

__all__ = [
    "FORMATS",
    "Dataset",
    "Download",
    "Manifest",
    "OwnFiles",
    "SourceFile",
    "Table",
    "available",
    "cache_root",
    "download",
    "draw_split",
    "get_format",
    "load_dataset",
    "load_manifest",
    "packaged",
    "read_manifest",
    "tree_digest",
]
