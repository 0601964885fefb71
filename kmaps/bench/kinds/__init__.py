"""The kinds of experiments, by the value of the key ``kind`` of their files.

A kind is a package in two halves: `measure.py` has the model of its YAML and measures its cells,
`show.py` says how their records are judged and shown. Either is imported when it is asked for, so
that what reads records imports nothing that measures.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kmaps import Registry
from kmaps.errors import ConfigError

if TYPE_CHECKING:
    from kmaps.bench.kinds.kind import Kind
    from kmaps.bench.kinds.shown import Shown

PACKAGES = {
    "classification": "kmaps.bench.kinds.classification",
    "scaling": "kmaps.bench.kinds.scaling",
    "approximation": "kmaps.bench.kinds.approximation",
    "toy": "kmaps.bench.kinds.toy",
    "random-features": "kmaps.bench.kinds.random_features",
    "pairs": "kmaps.bench.kinds.pairs",
    "places": "kmaps.bench.kinds.places",
    "trade-off": "kmaps.bench.kinds.trade_off",
    "detection": "kmaps.bench.kinds.detection",
}
"""The package of each kind; installed packages may add some by entry points of ``kmaps.kinds``,
which name a package with the same two modules."""


def _half(module: str, name: str) -> Callable[[Any], Any]:
    """Return a loader of one half of the package that an entry point names."""

    def accept(loaded: Any) -> Any:
        if not isinstance(loaded, ModuleType):
            return loaded
        return getattr(import_module(f"{loaded.__name__}.{module}"), name)

    return accept


KINDS: "Registry[Kind]" = Registry(  # measures each kind
    {name: f"{package}.measure.KIND" for name, package in PACKAGES.items()},
    "kmaps.kinds",
    _half("measure", "KIND"),
)

SHOWN: "Registry[Shown]" = Registry(  # shows the records of each kind
    {name: f"{package}.show.SHOWN" for name, package in PACKAGES.items()},
    "kmaps.kinds",
    _half("show", "SHOWN"),
)


def shown_of(records: list[dict]) -> "Shown":
    """Return the ``Shown`` of some records; a ConfigError says that their kind is unknown here."""
    name = records[0]["kind"]
    if name not in SHOWN:
        raise ConfigError(
            f"the records have the kind {name!r}, which this version of kmaps does not know "
            f"(known: {', '.join(SHOWN)}); update kmaps"
        )
    return SHOWN[name]


__all__ = ["KINDS", "SHOWN", "shown_of"]
