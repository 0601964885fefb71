"""Samples as codes of one byte a value, and maps as tables of those codes."""

from typing import TYPE_CHECKING

from kmaps.lazy import importer

if TYPE_CHECKING:
    # For editors and type checkers, which do not see what __getattr__ loads.
    from kmaps.codes.quantizer import Quantizer as Quantizer
    from kmaps.codes.table import LookupTable as LookupTable

_HOMES = {"LookupTable": "kmaps.codes.table", "Quantizer": "kmaps.codes.quantizer"}

__all__ = list(_HOMES)

__getattr__ = importer(__name__, _HOMES)
