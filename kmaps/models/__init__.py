"""Models: estimators that combine a map and a learner, model files, the choice of C, training."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
