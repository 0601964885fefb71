"""From images to non-negative vectors: features, their normalisations, their cache."""

from typing import TYPE_CHECKING

from kmaps.features.registry import FEATURES, make_feature, parameters_of
from kmaps.lazy import importer

if TYPE_CHECKING:
    # For editors and type checkers, which do not see what __getattr__ loads.
    from kmaps.features.base import Feature as Feature
    from kmaps.features.base import LearnedFeature as LearnedFeature
    from kmaps.features.extraction import Extractor as Extractor
    from kmaps.features.extraction import extract as extract
    from kmaps.features.images import load_image as load_image
    from kmaps.features.normalize import MIN_MAX as MIN_MAX
    from kmaps.features.normalize import Matrix as Matrix
    from kmaps.features.normalize import get_normalization as get_normalization
    from kmaps.features.phog import Phog as Phog
    from kmaps.features.store import Report as Report
    from kmaps.features.windows import WindowWords as WindowWords
    from kmaps.features.windows import describe_windows as describe_windows

_HOMES = {
    "Extractor": "kmaps.features.extraction",
    "Feature": "kmaps.features.base",
    "LearnedFeature": "kmaps.features.base",
    "MIN_MAX": "kmaps.features.normalize",
    "Matrix": "kmaps.features.normalize",
    "Phog": "kmaps.features.phog",
    "Report": "kmaps.features.store",
    "WindowWords": "kmaps.features.windows",
    "describe_windows": "kmaps.features.windows",
    "extract": "kmaps.features.extraction",
    "get_normalization": "kmaps.features.normalize",
    "load_image": "kmaps.features.images",
}

__all__ = ["FEATURES", "make_feature", "parameters_of", *_HOMES]

__getattr__ = importer(__name__, _HOMES)
