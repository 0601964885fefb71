"""Machines on codes and maps for collections of Dask: see `CodedSVC` and `BlockwiseMap`.

Needs the extra ``cluster``: ``pip install 'PATH[cluster]'``, where PATH is a checkout or a wheel.
"""

from kmaps.dask.classifier import CodedSVC
from kmaps.dask.maps import BlockwiseMap

__all__ = ["BlockwiseMap", "CodedSVC"]
