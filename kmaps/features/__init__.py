"""From pictures to non-negative vectors: features, their normalisations, their cache."""

from kmaps.features.base import Feature, LearnedFeature
from kmaps.features.extraction import FEATURES, extract, make_feature, parameters_of, prepare
from kmaps.features.normalize import get_normalization

__all__ = [
    "FEATURES",
    "Feature",
    "LearnedFeature",
    "extract",
    "get_normalization",
    "make_feature",
    "parameters_of",
    "prepare",
]
