"""From images to non-negative vectors: features, their normalisations, their cache."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
