"""Maps made by their names, as YAML files and records have them."""

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kmaps.maps import MAPS

if TYPE_CHECKING:
    from kmaps.maps.capabilities import FeatureMap


def takes(name: str, parameter: str) -> bool:
    """Return whether the map of a name has a parameter of a name.

    Examples
    --------
    >>> takes("homogeneous", "kernel"), takes("spline", "kernel")
    (True, False)
    """
    return parameter in inspect.signature(MAPS[name]).parameters


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
    bound = inspect.signature(MAPS[name]).bind(**own)
    bound.apply_defaults()
    return dict(bound.arguments)


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
