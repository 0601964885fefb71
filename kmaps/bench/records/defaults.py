"""Published defaults: the value that a row of a record has where it names no parameter.

A record names the parameters that its experiment named. Parameters came later, and defaults
change; what published records mean does not. So one table holds the published default of each
parameter that came after records were published or whose default is another today, and of no other
parameter. Where a row does not name such a parameter, it has the table's value: when it is made,
when its key is, and when it is compared. An experiment with the line ``defaults: 1`` is made so
too; in one without, today's default is named where it differs from the table
(:mod:`kmaps.bench.spec.defaults`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

EDITION = 1
"""The number of the table, in the line ``defaults: 1``: the defaults of kmaps 1.0.0rc1."""


@dataclass(frozen=True)
class Published:
    """The published default of a parameter.

    Parameters
    ----------
    value : object
        The value that rows have which do not name the parameter.
    came_later : bool
        Whether records were published before the parameter existed: at this value it is left out of
        keys. A parameter whose default changed was in keys from the beginning, and stays there.
    aliases : mapping
        Other spellings of values, with the values that stand for them in rows.
    """

    value: Any
    came_later: bool = False
    aliases: Mapping[Any, Any] = field(default_factory=dict)


Parameters = Mapping[str, Published]

_PERIOD = Published(None, aliases={"published": None})
_ENLARGE = Published(1, came_later=True)
_LEVEL_RANGES = Published("shared", came_later=True)

OF_MAPS: dict[str, Parameters] = {
    "anchor": {"weights": Published("equal", came_later=True)},
    "fourier": {"spread": Published(None, came_later=True)},
    "hermite": {"spread": Published(None, came_later=True)},
    "homogeneous": {"period": _PERIOD},
    "lowdim": {"values": Published(None, came_later=True)},
    "lowdim-joint": {
        "also_box": Published(False, came_later=True),
        "n_grids": Published(1, came_later=True),
    },
    "same-sign": {"period": _PERIOD},
}
"""By the name of a map."""

OF_ESTIMATORS: dict[str, Parameters] = {
    "CodedSVC": {"level_ranges": _LEVEL_RANGES},
    "CodedSVCCV": {"level_ranges": _LEVEL_RANGES},
    "RandomFeatureSVC": {"sigma": Published(None)},
}
"""By the name of a class of kmaps, in rows that name it by its place in Python."""

OF_FEATURES: dict[str, Parameters] = {
    "dense-sift-bow": {"enlarge": _ENLARGE},
    "hog-pyramid": {"cells": Published(None)},
    "phow": {"enlarge": _ENLARGE},
}
"""By the name of features."""

OF_LEARNER: Parameters = {
    "level_ranges": _LEVEL_RANGES,
    "max_iter": Published(None, came_later=True),
}
"""Of the key ``learner`` of a classification; levels are settings of it too."""

OF_C: Parameters = {"chosen_on": Published(None, came_later=True)}
"""Of the key ``C`` of a classification: the rule that chooses C."""


def of_method(method: str) -> Parameters:
    """Return the table's parameters of the method of a row: a map, or an estimator of kmaps."""
    package, _, rest = method.partition(".")
    if package == "kmaps" and rest:
        return OF_ESTIMATORS.get(rest.rpartition(".")[2], {})
    return OF_MAPS.get(method, {})


def without_aliases(table: Parameters, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with the values that aliases stand for."""
    plain = dict(params)
    for name, published in table.items():
        value = plain.get(name)
        if isinstance(value, str) and value in published.aliases:
            plain[name] = published.aliases[value]
    return plain


def filled(table: Parameters, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with the table's value of each that they do not name."""
    values = {name: published.value for name, published in table.items()}
    return {**values, **without_aliases(table, params)}


def in_keys(table: Parameters, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without those that came later and have the table's value."""
    later = {name: published.value for name, published in table.items() if published.came_later}
    return {
        name: value
        for name, value in params.items()
        if not (name in later and value == later[name])
    }


def named(table: Parameters, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without those that have the table's value, which need not be named."""
    return {
        name: value
        for name, value in without_aliases(table, params).items()
        if not (name in table and value == table[name].value)
    }
