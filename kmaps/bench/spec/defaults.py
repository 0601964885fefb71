"""The line ``defaults`` of an experiment: which values parameters have that it does not name.

With ``defaults: 1`` they have the published defaults (:mod:`kmaps.bench.records.defaults`).
Without it they have today's, and where these differ from the published ones, the experiment is read
as if it named them: a row's label then says what the row used.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from typing import Any

from kmaps import maps
from kmaps.bench.records import defaults
from kmaps.bench.records.defaults import Parameters
from kmaps.bench.spec.fields import Model
from kmaps.bench.spec.rows import SOLVERS, has_coded_rows
from kmaps.features import make_feature

KEY = "defaults"

Today = Callable[[str], Any]  # from the name of a parameter, its default in this version of kmaps


def completed(content: Mapping[str, Any], model: type[Model]) -> dict[str, Any]:
    """Return the keys of an experiment with ``defaults: 1`` that plan the same cells.

    Parameters
    ----------
    content : mapping
        The keys of an experiment. What is no sound key is left as it is, for others to report.
    model : type
        The model of the experiment's kind.

    Returns
    -------
    dict
        The keys with today's defaults named where they differ from the published ones, and
        settings of the learner and of the choice of C named where the two differ: published ones
        if the experiment has ``defaults: 1``, else today's. Aliases are replaced by their values.
    """
    is_pinned = KEY in content
    complete = {**content, KEY: content.get(KEY, defaults.EDITION)}
    for key in ("maps", "classifiers"):
        if isinstance(content.get(key), list):
            complete[key] = [_entry(entry, is_pinned) for entry in content[key]]
    if isinstance(content.get("features"), dict):
        complete["features"] = _features(content["features"], is_pinned)
    if not is_pinned:
        complete |= _rule_for_c(content, model)
    return complete | _settings(complete, model, is_pinned)


def _entry(entry: Any, is_pinned: bool) -> Any:
    """Return an entry of ``maps`` or ``classifiers``, completed."""
    if not isinstance(entry, dict):
        return entry
    estimator = entry.get("estimator")
    if isinstance(estimator, str):
        params = entry.get("params", {})
        searched = entry.get("search", {})
        if not (isinstance(params, dict) and isinstance(searched, dict)):
            return entry
        table = defaults.of_method(estimator)
        today = None if is_pinned or not table else _of_estimator(estimator)
        params = _named(table, params, today, searched)
        return {**entry, "params": params} if params else entry
    name = entry.get("map")
    if not isinstance(name, str) or name not in maps.MAPS:
        return entry
    table = defaults.of_method(name)
    without_aliases = {
        key: _each_without_aliases(table, key, value) for key, value in entry.items()
    }
    complete = _named(table, without_aliases, None if is_pinned else _of_map(name))
    for key, value in complete.items():
        if key not in without_aliases and isinstance(value, list):
            complete[key] = [value]  # a list is one row per value, and this list is one value
    return complete


def _each_without_aliases(table: Parameters, name: str, value: Any) -> Any:
    """Return a value, or a list of values for as many rows, with the values of aliases."""
    if isinstance(value, list):
        return [defaults.without_aliases(table, {name: each})[name] for each in value]
    return defaults.without_aliases(table, {name: value})[name]


def _features(features: dict[str, Any], is_pinned: bool) -> dict[str, Any]:
    name = features.get("name")
    if not isinstance(name, str) or name not in defaults.OF_FEATURES:
        return features
    return _named(defaults.OF_FEATURES[name], features, None if is_pinned else _of_features(name))


def _named(
    table: Parameters,
    params: Mapping[str, Any],
    today: Today | None,
    searched: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return parameters, with today's default of each that differs from the published one."""
    named = defaults.without_aliases(table, params)
    for name, published in table.items():
        if today is None or name in named or name in (searched or {}):
            continue
        value = today(name)
        if value != published.value:
            named[name] = list(value) if isinstance(value, tuple) else value
    return named


def _of_map(name: str) -> Today:
    return lambda parameter: maps.parameters_of(name)[parameter]


def _of_estimator(place: str) -> Today | None:
    """Return the defaults of a class of kmaps; None where there is no such class."""
    module, _, name = place.rpartition(".")
    try:
        parameters = signature(getattr(import_module(module), name)).parameters
    except (ImportError, AttributeError):
        return None  # reported when the estimator is made
    return lambda parameter: parameters[parameter].default


def _of_features(name: str) -> Today:
    return lambda parameter: getattr(make_feature(name), parameter)


def _rule_for_c(content: Mapping[str, Any], model: type[Model]) -> dict[str, Any]:
    """Return today's choice of C for an experiment that names none, where its kind has one."""
    of_key = model.model_fields.get("C")
    if "C" in content or of_key is None or of_key.is_required():
        return {}
    choice: Any = of_key.get_default(call_default_factory=True)
    if not isinstance(choice, Model):
        return {}
    settings = dict(choice)  # no dump: pydantic would warn of a rule in the place of a list
    return {"C": {"grid": settings["grid"], "folds": settings["folds"]}}


def _settings(content: Mapping[str, Any], model: type[Model], is_pinned: bool) -> dict[str, Any]:
    """Return ``learner`` and ``C`` with the settings whose published and present values differ."""
    settings = {}
    for key, table in (("learner", defaults.OF_LEARNER), ("C", defaults.OF_C)):
        of_key = model.model_fields.get(key)
        if of_key is None or not isinstance(of_key.annotation, type):
            continue
        if not issubclass(of_key.annotation, Model):
            continue
        value = content.get(key, {} if key == "learner" else None)
        differing = {}
        for name, published in table.items():
            present = of_key.annotation.model_fields[name].default
            of_codes = key == "learner" and name not in SOLVERS["liblinear"]
            if published.value != present and (has_coded_rows(content) or not of_codes):
                differing[name] = published.value if is_pinned else present
        if differing and isinstance(value, str | float | int):  # C: auto, or a value
            value = {"grid": value if isinstance(value, str) else [value]}
        if differing and isinstance(value, dict):
            settings[key] = {**differing, **value}
    return settings
