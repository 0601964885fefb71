"""Models on codes and maps for collections of Dask: see `BlockwiseSVC`,
`BlockwiseMappedSVC` and `BlockwiseMap`.

It needs the extra ``cluster``: ``pip install 'PATH[cluster]'`` with a checkout or a wheel as PATH.
Commands use the other names, for files and folders that all workers see: `connected` gives a
client, `rows_of`, `labels_of` and `column_names` read, `write` writes.
"""

import warnings

from kmaps.dask.chunks import joined, kept, mapped
from kmaps.dask.classifier import BlockwiseSVC
from kmaps.dask.cluster import called, connected
from kmaps.dask.folders import SharedRows, check_output, column_names, labels_of, rows_of, write
from kmaps.dask.mapped_svc import BlockwiseMappedSVC
from kmaps.dask.maps import BlockwiseMap

__all__ = [
    "BlockwiseMap",
    "BlockwiseMappedSVC",
    "BlockwiseSVC",
    "SharedRows",
    "called",
    "check_output",
    "column_names",
    "connected",
    "joined",
    "kept",
    "labels_of",
    "mapped",
    "rows_of",
    "write",
]


def __getattr__(name: str) -> type[BlockwiseSVC]:
    if name != "CodedSVC":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn("kmaps.dask.CodedSVC is now BlockwiseSVC", DeprecationWarning, stacklevel=2)
    return BlockwiseSVC
