"""The features by name."""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from kmaps import Registry
from kmaps.errors import ConfigError, suggest

if TYPE_CHECKING:
    from kmaps.features.base import Feature

FEATURES: Registry[type["Feature"]] = Registry(
    {
        "intensity": "kmaps.features.intensity.Intensity",
        "hog-pyramid": "kmaps.features.hog.HogPyramid",
        "phog": "kmaps.features.phog.Phog",
        "dense-sift-bow": "kmaps.features.bow.DenseSiftBow",
        "phow": "kmaps.features.bow.Phow",
    }
)
"""The features by the name that YAML files and the command line use; imported when used."""


def make_feature(name: str, parameters: Mapping[str, Any] | None = None) -> "Feature":
    """Return a feature by its name, with its parameters checked.

    Parameters
    ----------
    name : str
        A key of :data:`FEATURES`.
    parameters : mapping, optional
        Some of the fields of its class; lists stand for tuples.

    Raises
    ------
    ConfigError
        If a name is unknown or a value unfit.

    Examples
    --------
    >>> make_feature("phog", {"orientations": 8}).orientations
    8
    """
    if name not in FEATURES:
        raise ConfigError(
            f"unknown features {name!r}{suggest(name, FEATURES)} (known: {', '.join(FEATURES)})"
        )
    known, given = parameters_of(name), parameters or {}
    for key in given:
        if key not in known:
            hint = suggest(key, known) or f" (known: {', '.join(known) or 'none'})"
            raise ConfigError(f"{name}: unknown parameter {key!r}{hint}")
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    return FEATURES[name](**values)


def parameters_of(name: str) -> list[str]:
    """Return the names of a feature's parameters."""
    return [field.name for field in fields(FEATURES[name])]
