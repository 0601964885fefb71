"""The kinds of experiments, by the value of the key ``kind`` of their files."""

from kmaps.bench.kinds.approximation import ApproximationKind
from kmaps.bench.kinds.classification import ClassificationKind
from kmaps.bench.kinds.detection import DetectionKind
from kmaps.bench.kinds.kind import Kind
from kmaps.bench.kinds.random_features import RandomFeaturesKind
from kmaps.bench.kinds.scaling import ScalingKind
from kmaps.bench.kinds.toy import ToyKind
from kmaps.bench.kinds.trade_off import TradeOffKind
from kmaps.errors import ConfigError

KINDS: dict[str, Kind] = {
    "classification": ClassificationKind(),
    "scaling": ScalingKind(),
    "approximation": ApproximationKind(),
    "toy": ToyKind(),
    "random-features": RandomFeaturesKind(),
    "trade-off": TradeOffKind(),
    "detection": DetectionKind(),
}


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
