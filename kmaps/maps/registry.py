"""The feature maps by the names that YAML files, records and the command line use."""

import inspect
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from kmaps.plugins import Registry

if TYPE_CHECKING:
    from kmaps.maps.capabilities import FeatureMap

_PLACES = {
    "homogeneous": "kmaps.maps.homogeneous.HomogeneousMap",
    "same-sign": "kmaps.maps.homogeneous.SameSignMap",
    "lowdim": "kmaps.maps.lowdim.transformer.LowDimMap",
    "anchor": "kmaps.maps.anchor.AnchorMap",
    "nystroem": "kmaps.maps.nystroem.NystroemMap",
    "intersection": "kmaps.maps.intersection.IntersectionMap",
    "exact-table": "kmaps.maps.exact.ExactMap",
    "spline": "kmaps.maps.spline.SplineMap",
    "fourier": "kmaps.maps.orthogonal.FourierMap",
    "hermite": "kmaps.maps.orthogonal.HermiteMap",
    "lowdim-joint": "kmaps.maps.lowdim.joint.MultiLowDimMap",
    "harmonic": "kmaps.maps.lowdim.joint.HarmonicMap",
    "sign-cauchy": "kmaps.maps.random.SignCauchyMap",
    "random-fourier": "kmaps.maps.random_fourier.RandomFourierMap",
    "generalized-rbf": "kmaps.maps.generalized.GeneralizedRBFMap",
    "radial": "kmaps.maps.generalized.RadialMap",
}


def _accepted(loaded: Any) -> type["FeatureMap"]:
    from kmaps.maps.capabilities import FeatureMap

    if not (isinstance(loaded, type) and issubclass(loaded, FeatureMap)):
        raise ValueError(f"expected a class on kmaps.maps.FeatureMap, got {loaded!r}")
    return loaded


MAPS: Registry[type["FeatureMap"]] = Registry(_PLACES, "kmaps.maps", _accepted)
"""The maps by name, imported when they are used, and those that installed packages add by entry
points of the group ``kmaps.maps``."""


@dataclass(frozen=True)
class MapDescription:
    """The statements of a map's class about itself, as `described` returns them.

    ``parameters`` has the defaults, ``inspect.Parameter.empty`` where there is none.
    """

    name: str
    doc: str
    source: str
    approximates: str
    parameters: Mapping[str, Any]


def described(name: str) -> MapDescription:
    """Return the description of a map; deprecated: ask its class, ``MAPS[name]``.

    Parameters
    ----------
    name : str
        The map's name in `MAPS`.

    Returns
    -------
    MapDescription
        The class's name, docstring, ``source``, ``approximates`` and `parameters_of`.
    """
    warnings.warn(
        "described is deprecated: use MAPS[name], the class, and signature_of(name)",
        DeprecationWarning,
        stacklevel=2,
    )
    cls = MAPS[name]
    doc = inspect.cleandoc(cls.__doc__ or "")
    return MapDescription(cls.__name__, doc, cls.source, cls.approximates, parameters_of(name))


def place_of(name: str) -> str | type["FeatureMap"]:
    """Return where a map is; deprecated: use ``MAPS.places[name]``.

    Parameters
    ----------
    name : str
        The map's name in `MAPS`.

    Returns
    -------
    str or type
        ``module.Class`` of a map of kmaps, the class of any other.
    """
    warnings.warn("place_of is deprecated: use MAPS.places[name]", DeprecationWarning, stacklevel=2)
    return MAPS.places.get(name) or MAPS[name]


def signature_of(name: str) -> inspect.Signature:
    """Return the signature of a map's class: each parameter with its default and annotation.

    Parameters
    ----------
    name : str
        The map's name in `MAPS`.

    Returns
    -------
    inspect.Signature
        Its ``parameters`` have the ``name``, the ``default`` and the ``annotation``, a type or a
        union of types, ``inspect.Parameter.empty`` where the class states none.

    Examples
    --------
    >>> signature_of("sign-cauchy").parameters["n_projections"].annotation
    <class 'int'>
    """
    return _signature(MAPS[name])


@cache
def _signature(cls: type["FeatureMap"]) -> inspect.Signature:
    try:
        return inspect.signature(cls, eval_str=True)
    except NameError:  # annotations of a third-party map that only type checkers can resolve
        return inspect.signature(cls)


def parameters_of(name: str) -> Mapping[str, Any]:
    """Return the parameters of a map with their defaults.

    Parameters
    ----------
    name : str
        The map's name in `MAPS`.

    Returns
    -------
    Mapping
        The default of each parameter by its name, ``inspect.Parameter.empty`` where it has none.
    """
    return {key: parameter.default for key, parameter in signature_of(name).parameters.items()}


def takes(name: str, parameter: str) -> bool:
    """Return whether a map has a parameter.

    Parameters
    ----------
    name : str
        The map's name in `MAPS`.
    parameter : str
        The parameter's name.

    Returns
    -------
    bool
        Whether the class of the map takes it.
    """
    return parameter in signature_of(name).parameters


def approximated(name: str) -> str:
    """Return the kernel that a map without a parameter ``kernel`` approximates.

    Parameters
    ----------
    name : str
        The map's name in `MAPS`.

    Returns
    -------
    str
        The kernel's name; "" where there is none.
    """
    return MAPS[name].approximates


def has_tables(name: str) -> bool:
    """Return whether a map has tables.

    Parameters
    ----------
    name : str
        The map's name in `MAPS`.

    Returns
    -------
    bool
        Whether the map is `Tabulated`.
    """
    from kmaps.maps.capabilities import Tabulated

    return issubclass(MAPS[name], Tabulated)


def has_local_tables(name: str) -> bool:
    """Return whether a map has local tables, of few splines per level.

    Parameters
    ----------
    name : str
        The map's name in `MAPS`.

    Returns
    -------
    bool
        Whether the map is `LocallyTabulated`.
    """
    from kmaps.maps.capabilities import LocallyTabulated

    return issubclass(MAPS[name], LocallyTabulated)


def resolved(name: str, kernel: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments of a map.

    Parameters
    ----------
    name : str
        The map's name in `MAPS`.
    kernel : str
        The kernel, for a map that takes one and for which ``params`` name none.
    params : Mapping
        Other arguments by name.

    Returns
    -------
    dict
        Every argument of the map by name: of ``params``, the kernel, or the default. A TypeError
        names a parameter that the map does not have, or one that it needs.
    """
    arguments = dict(params)
    if takes(name, "kernel"):
        arguments = {"kernel": kernel, **params}
    defaults = parameters_of(name)
    unknown = arguments.keys() - defaults
    if unknown:
        raise TypeError(f"the {name} map has no parameter {min(unknown)!r}")
    for key, default in defaults.items():
        if default is inspect.Parameter.empty and key not in arguments:
            raise TypeError(f"the {name} map needs its parameter {key!r}")
    return {**defaults, **arguments}


def refuse_parameters(name: str, params: Mapping[str, Any]) -> None:
    """Refuse parameters out of range, for the maps that have a check of their parameters alone.

    Parameters
    ----------
    name : str
        The map's name in `MAPS`.
    params : Mapping
        Arguments by name; those left out have their defaults.
    """
    from kmaps.maps.parameters import CHECKS

    if name in CHECKS:
        CHECKS[name](SimpleNamespace(**{**parameters_of(name), **params}))


def check_parameters(name: str, kernel: str, params: Mapping[str, Any]) -> None:
    """Refuse parameters that a map cannot have, whatever the data.

    A map without a check in `kmaps.maps.parameters` is fitted on one feature in [0, 1].

    Parameters
    ----------
    name : str
        The map's name in `MAPS`.
    kernel : str
        The kernel, for a map that takes one and for which ``params`` name none.
    params : Mapping
        Other arguments by name.
    """
    import numpy as np

    from kmaps.maps.parameters import CHECKS

    arguments = resolved(name, kernel, params)
    refuse_parameters(name, arguments)
    if name not in CHECKS:
        sample = np.linspace(0, 1, 256, dtype=np.float32)[:, None]
        MAPS[name](**arguments).check_parameters(sample)


def make_map(name: str, kernel: str, params: Mapping[str, Any], **shared: Any) -> "FeatureMap":
    """Return an unfitted map.

    Parameters
    ----------
    name : str
        The map's name in `MAPS`.
    kernel : str
        The kernel, for a map that takes one and for which ``params`` name none.
    params : Mapping
        Other arguments by name.
    **shared : dict
        Arguments that the map gets where it has such parameters, such as ``random_state``.

    Returns
    -------
    FeatureMap
        The map, not yet fitted.
    """
    fitting = {key: value for key, value in shared.items() if takes(name, key)}
    return MAPS[name](**resolved(name, kernel, {**fitting, **params}))
