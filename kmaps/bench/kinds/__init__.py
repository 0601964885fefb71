"""The kinds of experiments, by the value of the key ``kind`` of their files."""

from typing import Any

from kmaps import Registry
from kmaps.bench.kinds.kind import Kind
from kmaps.errors import ConfigError


def _accepted(loaded: Any) -> Kind:
    """Return the kind of a class."""
    if not (isinstance(loaded, type) and issubclass(loaded, Kind)):
        raise ValueError(f"expected a class on kmaps.bench.kinds.Kind, got {loaded!r}")
    return loaded()


KINDS: Registry[Kind] = Registry(
    {
        "classification": "kmaps.bench.kinds.classification.ClassificationKind",
        "scaling": "kmaps.bench.kinds.scaling.ScalingKind",
        "approximation": "kmaps.bench.kinds.approximation.ApproximationKind",
        "toy": "kmaps.bench.kinds.toy.ToyKind",
        "random-features": "kmaps.bench.kinds.random_features.RandomFeaturesKind",
        "pairs": "kmaps.bench.kinds.pairs.PairsKind",
        "places": "kmaps.bench.kinds.places.PlacesKind",
        "trade-off": "kmaps.bench.kinds.trade_off.TradeOffKind",
        "detection": "kmaps.bench.kinds.detection.DetectionKind",
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
