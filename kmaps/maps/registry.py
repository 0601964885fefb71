"""Maps made by their names, as YAML files and records have them."""

import inspect
from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from kmaps.declared import declared
from kmaps.maps import MAPS, place_of
from kmaps.maps.parameters import CHECKS

if TYPE_CHECKING:
    from kmaps.maps.capabilities import FeatureMap


_EMPTY = inspect.Parameter.empty

WITHOUT_TABLES = (
    *("lowdim-joint", "harmonic", "sign-cauchy"),
    *("random-fourier", "generalized-rbf", "radial"),
)
"""The maps that are none of single features; the others are `Tabulated`."""
LOCAL = ("spline",)
"""The maps that are `LocallyTabulated`."""


def parameters_of(name: str) -> Mapping[str, Any]:
    """Return the parameters of the map of a name with their defaults, without importing it.

    Examples
    --------
    >>> parameters_of("spline")
    {'n_bins': 10, 'degree': 1, 'penalty': 1}
    """
    return declared(place_of(name)).parameters


def takes(name: str, parameter: str) -> bool:
    """Return whether the map of a name has a parameter of a name.

    Examples
    --------
    >>> takes("homogeneous", "kernel"), takes("spline", "kernel")
    (True, False)
    """
    return parameter in parameters_of(name)


def approximated(name: str) -> str:
    """Return the kernel that a map without a parameter ``kernel`` approximates; "": none.

    Examples
    --------
    >>> approximated("intersection"), approximated("spline")
    ('intersection', '')
    """
    return declared(place_of(name)).attributes.get("approximates", "")


def has_tables(name: str) -> bool:
    """Return whether the map of a name is `Tabulated`, without importing one of kmaps' own."""
    if name in CHECKS:
        return name not in WITHOUT_TABLES
    from kmaps.maps.capabilities import Tabulated

    return issubclass(MAPS[name], Tabulated)


def has_local_tables(name: str) -> bool:
    """Return whether the map of a name is `LocallyTabulated`, as `has_tables` does."""
    if name in CHECKS:
        return name in LOCAL
    from kmaps.maps.capabilities import LocallyTabulated

    return issubclass(MAPS[name], LocallyTabulated)


def resolved(name: str, kernel: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments of a map: the kernel where it takes one, those given, the defaults.

    Parameters
    ----------
    name : str
        A key of :data:`kmaps.maps.MAPS`.
    kernel : str
    params : mapping
        Parameters without the kernel; one of that name stands before the argument.

    Raises
    ------
    TypeError
        If the map has no parameter of a given name.

    Examples
    --------
    >>> resolved("fourier", "intersection", {"degree": 2})
    {'degree': 2, 'penalty': 1}
    """
    own = {"kernel": kernel, **params} if takes(name, "kernel") else dict(params)
    known = parameters_of(name)
    if odd := own.keys() - known:
        raise TypeError(f"the {name} map has no parameter {min(odd)!r}")
    if missing := [key for key, value in known.items() if value is _EMPTY and key not in own]:
        raise TypeError(f"the {name} map needs its parameter {missing[0]!r}")
    return {**known, **own}


def check_parameters(name: str, kernel: str, params: Mapping[str, Any]) -> None:
    """Refuse parameters that a map cannot have, whatever the data.

    Maps of other packages are tried, on one feature in [0, 1]; kmaps' own are not even imported.

    Parameters
    ----------
    name, kernel, params
        As of `resolved`.

    Raises
    ------
    ValueError or TypeError
        For a parameter that is out of range, missing or unknown.

    Examples
    --------
    >>> check_parameters("spline", "", {"degree": 4})
    Traceback (most recent call last):
    kmaps.errors.ConfigError: degree=4: expected a whole number from 0 to 3
    """
    given = resolved(name, kernel, params)
    if name in CHECKS:
        CHECKS[name](SimpleNamespace(**given))
    else:
        sample = np.linspace(0, 1, 256, dtype=np.float32)[:, None]
        MAPS[name](**given).check_parameters(sample)


def make_map(name: str, kernel: str, params: Mapping[str, Any], **shared: Any) -> "FeatureMap":
    """Return a map, unfitted.

    Parameters
    ----------
    name : str
        A key of :data:`kmaps.maps.MAPS`.
    kernel : str
        For maps that take one.
    params : mapping
        Parameters of the map.
    **shared
        What is given to maps that have such a parameter and are not told it by ``params``.

    Examples
    --------
    >>> make_map("nystroem", "js", {"dim": 2}, random_state=3)
    NystroemMap(dim=2, kernel='js', random_state=3)
    """
    fitting = {key: value for key, value in shared.items() if takes(name, key)}
    return MAPS[name](**resolved(name, kernel, fitting | dict(params)))
