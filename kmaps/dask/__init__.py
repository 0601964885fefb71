"""Machines on codes and maps for collections of Dask: see `CodedSVC` and `BlockwiseMap`.

Needs the extra ``cluster``: ``pip install 'kmaps[cluster]'``.
"""

from kmaps.dask.classifier import CodedSVC
from kmaps.dask.maps import BlockwiseMap

__all__ = ["BlockwiseMap", "CodedSVC"]
