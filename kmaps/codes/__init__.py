"""Samples as codes of one byte a value, and maps as tables of those codes."""

from kmaps.codes.quantizer import Quantizer
from kmaps.codes.table import LookupTable

__all__ = ["LookupTable", "Quantizer"]
