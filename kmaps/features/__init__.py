"""From pictures to non-negative vectors: features, their normalisations, their cache."""

from kmaps.features.base import Feature, LearnedFeature
from kmaps.features.extraction import Extractor, extract
from kmaps.features.normalize import Matrix, get_normalization
from kmaps.features.registry import FEATURES, make_feature, parameters_of
from kmaps.features.store import Report

__all__ = [
    "FEATURES",
    "Extractor",
    "Feature",
    "LearnedFeature",
    "Matrix",
    "Report",
    "extract",
    "get_normalization",
    "make_feature",
    "parameters_of",
]
