"""Samples as codes of one byte per value, and maps as tables of those codes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
