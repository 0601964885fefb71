"""The feature maps, by name."""

from typing import TYPE_CHECKING, Any

from kmaps.lazy import Classes, importer
from kmaps.plugins import Extended

if TYPE_CHECKING:
    # For editors and type checkers, which do not see what __getattr__ loads.
    from kmaps.maps.anchor import AnchorMap as AnchorMap
    from kmaps.maps.base import AdditiveMap as AdditiveMap
    from kmaps.maps.capabilities import FeatureMap as FeatureMap
    from kmaps.maps.exact import ExactMap as ExactMap
    from kmaps.maps.generalized import GeneralizedRBFMap as GeneralizedRBFMap
    from kmaps.maps.homogeneous import HomogeneousMap as HomogeneousMap
    from kmaps.maps.intersection import IntersectionMap as IntersectionMap
    from kmaps.maps.lowdim import HarmonicMap as HarmonicMap
    from kmaps.maps.lowdim import LowDimMap as LowDimMap
    from kmaps.maps.lowdim import MultiLowDimMap as MultiLowDimMap
    from kmaps.maps.nystroem import NystroemMap as NystroemMap
    from kmaps.maps.orthogonal import FourierMap as FourierMap
    from kmaps.maps.orthogonal import HermiteMap as HermiteMap
    from kmaps.maps.product import ProductMap as ProductMap
    from kmaps.maps.radial import RadialMap as RadialMap
    from kmaps.maps.random import SignCauchyMap as SignCauchyMap
    from kmaps.maps.random_fourier import RandomFourierMap as RandomFourierMap
    from kmaps.maps.same_sign import SameSignMap as SameSignMap
    from kmaps.maps.spline import SplineMap as SplineMap

MAP_VERSION = 1
"""Changes whenever the numbers of a map do, so that old records are not mistaken for new ones."""

_OWN: Classes["FeatureMap"] = Classes(
    {
        "homogeneous": "kmaps.maps.homogeneous.HomogeneousMap",
        "same-sign": "kmaps.maps.same_sign.SameSignMap",
        "lowdim": "kmaps.maps.lowdim.transformer.LowDimMap",
        "lowdim-joint": "kmaps.maps.lowdim.multidim.MultiLowDimMap",
        "harmonic": "kmaps.maps.lowdim.harmonic.HarmonicMap",
        "anchor": "kmaps.maps.anchor.AnchorMap",
        "nystroem": "kmaps.maps.nystroem.NystroemMap",
        "intersection": "kmaps.maps.intersection.IntersectionMap",
        "exact-table": "kmaps.maps.exact.ExactMap",
        "spline": "kmaps.maps.spline.SplineMap",
        "fourier": "kmaps.maps.orthogonal.FourierMap",
        "hermite": "kmaps.maps.orthogonal.HermiteMap",
        "sign-cauchy": "kmaps.maps.random.SignCauchyMap",
        "random-fourier": "kmaps.maps.random_fourier.RandomFourierMap",
        "generalized-rbf": "kmaps.maps.generalized.GeneralizedRBFMap",
        "radial": "kmaps.maps.radial.RadialMap",
    }
)


def _accepted(loaded: Any) -> type["FeatureMap"]:
    """Return a map of another package."""
    from kmaps.maps.capabilities import FeatureMap

    if not (isinstance(loaded, type) and issubclass(loaded, FeatureMap)):
        raise ValueError(f"expected a class on kmaps.maps.FeatureMap, got {loaded!r}")
    return loaded


MAPS: Extended[type["FeatureMap"]] = Extended(_OWN, "kmaps.maps", _accepted)
"""The maps by the name that YAML files and the command line use, imported when they are used;
installed packages may add some by entry points of the group ``kmaps.maps``."""


def place_of(name: str) -> str | type["FeatureMap"]:
    """Return where the class of a map is, ``module.Class``; the class itself if it is not kmaps'.

    Examples
    --------
    >>> place_of("spline")
    'kmaps.maps.spline.SplineMap'
    """
    return _OWN.places[name] if name in _OWN else MAPS[name]


_PLACES = [str(place).rpartition(".") for place in _OWN.places.values()]
_HOMES = {name: module for module, _, name in _PLACES}
_HOMES |= {"ProductMap": "kmaps.maps.product"}
_HOMES |= {"AdditiveMap": "kmaps.maps.base", "FeatureMap": "kmaps.maps.capabilities"}

__all__ = ["MAPS", "MAP_VERSION", "place_of", *_HOMES]

__getattr__ = importer(__name__, _HOMES)
