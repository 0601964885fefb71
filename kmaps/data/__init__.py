"""Datasets: manifests, verified downloads, a cache, splits, the user's files."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
