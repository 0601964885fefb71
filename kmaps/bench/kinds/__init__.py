"""The kinds of experiments, by the value of the key ``kind`` of their files."""

from typing import Any

from kmaps.bench.kinds.approximation import ApproximationKind
from kmaps.bench.kinds.classification import ClassificationKind
from kmaps.bench.kinds.detection import DetectionKind
from kmaps.bench.kinds.kind import Kind
from kmaps.bench.kinds.pairs import PairsKind
from kmaps.bench.kinds.places import PlacesKind
from kmaps.bench.kinds.random_features import RandomFeaturesKind
from kmaps.bench.kinds.scaling import ScalingKind
from kmaps.bench.kinds.toy import ToyKind
from kmaps.bench.kinds.trade_off import TradeOffKind
from kmaps.errors import ConfigError
from kmaps.plugins import Extended


def _accepted(loaded: Any) -> Kind:
    """Return a kind of another package."""
    if not (isinstance(loaded, type) and issubclass(loaded, Kind)):
        raise ValueError(f"expected a class on kmaps.bench.kinds.Kind, got {loaded!r}")
    return loaded()


KINDS: Extended[Kind] = Extended(
    {
        "classification": ClassificationKind(),
        "scaling": ScalingKind(),
        "approximation": ApproximationKind(),
        "toy": ToyKind(),
        "random-features": RandomFeaturesKind(),
        "pairs": PairsKind(),
        "places": PlacesKind(),
        "trade-off": TradeOffKind(),
        "detection": DetectionKind(),
    },
    "kmaps.kinds",
    _accepted,
)
"""The kinds by name; installed packages may add some by entry points of the group
``kmaps.kinds``."""


def kind_of(records: list[dict]) -> Kind:
    """Return the kind of some records.

    Raises
    ------
    ConfigError
        When it is not known here.
    """
    name = records[0]["kind"]
    if name not in KINDS:
        raise ConfigError(
            f"records of the kind {name!r}, which this version of kmaps does not know "
            f"(known: {', '.join(KINDS)})"
        )
    return KINDS[name]


__all__ = ["KINDS", "Kind", "kind_of"]
