"""The feature maps, by name."""

from typing import Any

from kmaps.maps.anchor import AnchorMap
from kmaps.maps.base import AdditiveMap
from kmaps.maps.capabilities import FeatureMap
from kmaps.maps.exact import ExactMap
from kmaps.maps.generalized import GeneralizedRBFMap
from kmaps.maps.homogeneous import HomogeneousMap
from kmaps.maps.intersection import IntersectionMap
from kmaps.maps.lowdim import HarmonicMap, LowDimMap, MultiLowDimMap
from kmaps.maps.nystroem import NystroemMap
from kmaps.maps.orthogonal import FourierMap, HermiteMap
from kmaps.maps.random import SignCauchyMap
from kmaps.maps.random_fourier import RandomFourierMap
from kmaps.maps.spline import SplineMap
from kmaps.plugins import Extended

MAP_VERSION = 1
"""Changes whenever the numbers of a map do, so that old records are not mistaken for new ones."""


def _accepted(loaded: Any) -> type[FeatureMap]:
    """Return a map of another package."""
    if not (isinstance(loaded, type) and issubclass(loaded, FeatureMap)):
        raise ValueError(f"expected a class on kmaps.maps.FeatureMap, got {loaded!r}")
    return loaded


MAPS: Extended[type[FeatureMap]] = Extended(
    {
        "homogeneous": HomogeneousMap,
        "lowdim": LowDimMap,
        "lowdim-joint": MultiLowDimMap,
        "harmonic": HarmonicMap,
        "anchor": AnchorMap,
        "nystroem": NystroemMap,
        "intersection": IntersectionMap,
        "exact-table": ExactMap,
        "spline": SplineMap,
        "fourier": FourierMap,
        "hermite": HermiteMap,
        "sign-cauchy": SignCauchyMap,
        "random-fourier": RandomFourierMap,
        "generalized-rbf": GeneralizedRBFMap,
    },
    "kmaps.maps",
    _accepted,
)
"""The maps by the name that YAML files and the command line use; installed packages may add some by
entry points of the group ``kmaps.maps``."""


__all__ = [
    "MAPS",
    "MAP_VERSION",
    "AdditiveMap",
    "AnchorMap",
    "ExactMap",
    "FeatureMap",
    "FourierMap",
    "GeneralizedRBFMap",
    "HarmonicMap",
    "HermiteMap",
    "HomogeneousMap",
    "IntersectionMap",
    "LowDimMap",
    "MultiLowDimMap",
    "NystroemMap",
    "RandomFourierMap",
    "SignCauchyMap",
    "SplineMap",
]
