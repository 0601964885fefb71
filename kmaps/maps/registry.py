"""The feature maps by the names that YAML files, records and the command line use."""

import ast
import inspect
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from kmaps.plugins import Registry

if TYPE_CHECKING:
    from kmaps.maps.capabilities import FeatureMap

_ADDITIVE = {
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
}
_OTHERS = {
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


MAPS: Registry[type["FeatureMap"]] = Registry(_ADDITIVE | _OTHERS, "kmaps.maps", _accepted)
"""The maps by name, imported when they are used: those with a table per feature (`Tabulated`), the
others, and those that installed packages add by entry points of the group ``kmaps.maps``."""

_EMPTY = inspect.Parameter.empty


@dataclass(frozen=True)
class MapDescription:
    """The statements of a map's class about itself.

    ``parameters`` has the defaults, ``inspect.Parameter.empty`` where there is none.
    """

    name: str
    doc: str
    source: str
    approximates: str
    parameters: Mapping[str, Any]


@cache
def described(name: str) -> MapDescription:
    """Return the description of the map of a name.

    A map that comes with kmaps is not imported, because scikit-learn takes seconds: its file is
    read, in which ``source``, ``approximates`` and the defaults of the parameters are literals.
    """
    if name not in MAPS.places:
        cls = MAPS[name]
        defaults = {key: one.default for key, one in inspect.signature(cls).parameters.items()}
        doc = inspect.cleandoc(cls.__doc__ or "")
        return MapDescription(cls.__name__, doc, cls.source, cls.approximates, defaults)
    *parents, module, class_name = MAPS.places[name].split(".")
    path = Path(__file__).parents[1].joinpath(*parents[1:], f"{module}.py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    node = classes[class_name]
    base = classes.get(ast.unparse(node.bases[0]))  # None if in another file
    literals, defaults = {"source": "", "approximates": ""}, {}
    for owner, part in [(one, part) for one in (base, node) if one for part in one.body]:
        if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) in literals:
            literals[ast.unparse(part.targets[0])] = ast.literal_eval(part.value)
        if isinstance(part, ast.AnnAssign) and owner.decorator_list:  # a field of a dataclass
            field = ast.unparse(part.target)
            if not field.endswith("_"):
                defaults[field] = ast.literal_eval(part.value) if part.value else _EMPTY
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            names = [argument.arg for argument in part.args.args[1:]]
            given = [ast.literal_eval(default) for default in part.args.defaults]
            defaults = dict(zip(names, [_EMPTY] * (len(names) - len(given)) + given, strict=True))
    doc = inspect.cleandoc(ast.get_docstring(node) or "")
    return MapDescription(class_name, doc, parameters=defaults, **literals)


def place_of(name: str) -> str | type["FeatureMap"]:
    """Return ``MAPS.places[name]``, by which this name is to be replaced."""
    warnings.warn("place_of is deprecated: use MAPS.places[name]", DeprecationWarning, stacklevel=2)
    return MAPS.places.get(name) or MAPS[name]


def parameters_of(name: str) -> Mapping[str, Any]:
    """Return the parameters of the map of a name with their defaults, without importing it."""
    return described(name).parameters


def takes(name: str, parameter: str) -> bool:
    """Return whether the map of a name has a parameter of a name."""
    return parameter in parameters_of(name)


def approximated(name: str) -> str:
    """Return the kernel that a map without a parameter ``kernel`` approximates; "": none."""
    return described(name).approximates


def has_tables(name: str) -> bool:
    """Return whether the map of a name is `Tabulated`, without importing one of kmaps."""
    if name in MAPS.places:
        return name in _ADDITIVE
    from kmaps.maps.capabilities import Tabulated

    return issubclass(MAPS[name], Tabulated)


def has_local_tables(name: str) -> bool:
    """Return whether the map of a name is `LocallyTabulated`."""
    from kmaps.maps.capabilities import LocallyTabulated

    return issubclass(MAPS[name], LocallyTabulated)


def resolved(name: str, kernel: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments of a map: the kernel where it takes one, those given, the defaults."""
    given = {"kernel": kernel, **params} if takes(name, "kernel") else dict(params)
    known = parameters_of(name)
    if odd := given.keys() - known:
        raise TypeError(f"the {name} map has no parameter {min(odd)!r}")
    if missing := [key for key, value in known.items() if value is _EMPTY and key not in given]:
        raise TypeError(f"the {name} map needs its parameter {missing[0]!r}")
    return {**known, **given}


def refuse_parameters(name: str, params: Mapping[str, Any]) -> None:
    """Refuse parameters out of range, where that is known without importing the map."""
    from kmaps.maps.parameters import CHECKS  # needs NumPy, which listing the maps does not

    if name in CHECKS:
        CHECKS[name](SimpleNamespace(**{**parameters_of(name), **params}))


def check_parameters(name: str, kernel: str, params: Mapping[str, Any]) -> None:
    """Refuse parameters that a map cannot have, whatever the data.

    A map without a check in `kmaps.maps.parameters` is fitted on one feature in [0, 1].
    """
    import numpy as np

    from kmaps.maps.parameters import CHECKS

    given = resolved(name, kernel, params)
    refuse_parameters(name, given)
    if name not in CHECKS:
        sample = np.linspace(0, 1, 256, dtype=np.float32)[:, None]
        MAPS[name](**given).check_parameters(sample)


def make_map(name: str, kernel: str, params: Mapping[str, Any], **shared: Any) -> "FeatureMap":
    """Return an unfitted map; from ``shared`` it gets the entries that are its parameters."""
    fitting = {key: value for key, value in shared.items() if takes(name, key)}
    return MAPS[name](**resolved(name, kernel, fitting | dict(params)))
