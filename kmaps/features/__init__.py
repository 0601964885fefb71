"""From images to non-negative vectors: features, their normalisations, their cache."""

from kmaps.features.base import Feature, LearnedFeature
from kmaps.features.extraction import Extractor, extract
from kmaps.features.images import load_image
from kmaps.features.normalize import Matrix, get_normalization
from kmaps.features.phog import Phog
from kmaps.features.registry import FEATURES, make_feature, parameters_of
from kmaps.features.store import Report
from kmaps.features.windows import describe_windows

__all__ = [
    "FEATURES",
    "Extractor",
    "Feature",
    "LearnedFeature",
    "Matrix",
    "Phog",
    "Report",
    "describe_windows",
    "extract",
    "get_normalization",
    "load_image",
    "make_feature",
    "parameters_of",
]
