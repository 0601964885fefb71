"""The feature maps, by name."""

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

MAP_VERSION = 1
"""Changes whenever the numbers of a map do, so that old records are not mistaken for new ones."""

MAPS: dict[str, type[FeatureMap]] = {
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
}
"""The maps by the name that YAML files and the command line use."""

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
