"""The parameters of maps and features in an experiment file: expanded to rows, and checked.

What they mean is known to their classes alone, whose checks are asked.
"""

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import yaml

from kmaps.bench.spec.own_rows import Estimator, estimator_mistakes
from kmaps.bench.spec.positions import Mistake, Place, at, unknown_key
from kmaps.data import get_format, load_manifest, packaged
from kmaps.errors import ConfigError, suggest
from kmaps.features import FEATURES, MIN_MAX, make_feature
from kmaps.features import parameters_of as feature_parameters_of
from kmaps.kernels import GRAM_KERNELS
from kmaps.maps import MAPS, approximated, check_parameters, parameters_of, takes


def map_rows(
    entry: dict[str, Any], kernels: list[str], row_keys: Sequence[str] = ()
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Expand an entry of ``maps`` to its rows: pairs of a kernel and the other parameters.

    A parameter given as a list becomes one row for each value. A map that takes a kernel gets each
    of the experiment's, unless the entry names its own; one that takes none has the kernel that it
    ``approximates``, or ``""``. ``row_keys`` are not parameters of the map. An estimator of others
    is one row without a kernel, and its parameters are as they stand.

    Examples
    --------
    >>> list(map_rows({"map": "homogeneous", "order": [1, 2]}, ["js"]))
    [('js', {'order': 1}), ('js', {'order': 2})]
    """
    if "estimator" in entry:
        yield "", dict(entry.get("params", {}))
        return
    choices = {
        key: value if isinstance(value, list) else [value]
        for key, value in entry.items()
        if key not in row_keys
    }
    name = choices.pop("map")[0]
    own = kernels if takes(name, "kernel") else [approximated(name)]
    kernels = choices.pop("kernel", own)
    for values in itertools.product(*choices.values()):
        for kernel in kernels:
            yield kernel, dict(zip(choices, values, strict=True))


def map_mistakes(
    root: yaml.Node,
    content: dict[str, Any],
    row_keys: Sequence[str] = (),
    *,
    takes_estimators: bool = False,
) -> Iterator[Mistake]:
    """Yield the mistakes that pydantic does not find: in the maps' own parameters.

    ``row_keys`` are keys of an entry that say something else than a parameter of its map;
    ``takes_estimators`` is whether an entry may name an estimator of others instead.
    """
    kernels = _listed(content, "kernels")
    for i, entry in enumerate(_listed(content, "maps")):
        if not isinstance(entry, dict):
            continue
        if takes_estimators and "estimator" in entry:
            own = {key: value for key, value in entry.items() if key not in row_keys}
            for place, problem in estimator_mistakes(own):
                odd = place[0] not in Estimator.model_fields
                yield at(root, ("maps", i, *place), problem, key=odd)
            continue
        name = entry.get("map")
        if not isinstance(name, str) or name not in MAPS:
            if "estimator" in entry:
                problem = "this kind of experiment has no rows of others"
                yield at(root, ("maps", i, "estimator"), problem, key=True)
                continue
            what = (
                f"unknown map {name!r}{suggest(name, MAPS)}" if "map" in entry else "missing 'map'"
            )
            yield at(root, ("maps", i, "map"), f"{what} (known: {', '.join(MAPS)})")
            continue
        known = ["map", *row_keys, *parameters_of(name)]
        odd = [key for key in entry if key not in known]
        for key in odd:
            yield at(root, ("maps", i, key), unknown_key(key, known), key=True)
        if not odd:
            own = {key: value for key, value in entry.items() if key not in row_keys}
            for place, problem in _trials(own, kernels):
                yield at(root, ("maps", i, *place), problem)


def feature_mistakes(root: yaml.Node, content: dict[str, Any]) -> Iterator[Mistake]:
    """Yield the mistakes in the features' own parameters."""
    given, dataset = content.get("features"), content.get("dataset")
    if not isinstance(given, dict):
        return
    if isinstance(dataset, dict) and _is_table(dataset):
        for key in (key for key in given if key != "normalize"):
            problem = "these are no images, the columns are the features; leave it out"
            yield at(root, ("features", key), problem, key=True)
        return
    if given.get("normalize") == MIN_MAX:
        problem = f"{MIN_MAX} is for the columns of tables, not for features of images"
        yield at(root, ("features", "normalize"), problem)
    name = given.get("name", "intensity")
    if not isinstance(name, str) or name not in FEATURES:
        return
    known = ["name", "normalize", *feature_parameters_of(name)]
    odd = [key for key in given if key not in known]
    for key in odd:
        yield at(root, ("features", key), unknown_key(key, known), key=True)
    left = {key: value for key, value in given.items() if key in feature_parameters_of(name)}
    # One is refused at a time, by its name: without it the next one comes to light.
    while left and (problem := _refusal(name, left)):
        key = next((key for key in left if f" {key}=" in problem), None)
        yield at(root, ("features", *filter(None, [key])), problem)
        if key is None:
            break
        del left[key]


def _is_table(dataset: dict[str, Any]) -> bool:
    if isinstance(files := dataset.get("files"), dict):
        return not any("images" in str(key) for key in files)
    name = dataset.get("name")
    return name in packaged() and get_format(load_manifest(name)).tabular


def _refusal(features: str, parameters: dict[str, Any]) -> str:
    """Return what is wrong with some parameters of features, or ``""``."""
    try:
        make_feature(features, parameters)
    except ConfigError as error:
        return str(error)
    return ""


def _listed(content: dict[str, Any], key: str) -> list:
    value = content.get(key)
    return value if isinstance(value, list) else []


def _trials(entry: dict[str, Any], kernels: list) -> Iterator[tuple[Place, str]]:
    """Try every row of an entry; say what it objects to."""
    rows = list(map_rows(entry, kernels))
    empty = [key for key, value in entry.items() if value == []]
    if empty:
        yield (empty[0],), "expected at least one value, got an empty list"
    elif not rows:
        yield (), "needs kernels: name some here or for the whole experiment"
    for kernel, params in rows:
        if "kernel" not in entry and kernel and kernel not in GRAM_KERNELS:
            continue  # told already, where the kernels are listed
        arguments = {"kernel": kernel, **params}
        problem = _trial(entry["map"], kernel, json.dumps(params, default=str))
        if problem:
            named = [key for key in arguments if re.search(rf"\b{key}\b", problem)][:1]
            # Into a list of values, to the one at fault.
            index = [
                entry[key].index(arguments[key])
                for key in named
                if isinstance(entry.get(key), list)
            ]
            yield (*named, *index), problem


@cache  # the same rows stand in many experiments
def _trial(name: str, kernel: str, params: str) -> str:
    """Return what a row, its parameters as JSON, objects to."""
    try:
        check_parameters(name, kernel, json.loads(params))
    except (ValueError, TypeError) as error:
        return str(error)
    return ""
