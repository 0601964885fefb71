"""Changes of single keys of an experiment: ``splits=2``, ``dataset.train=100``."""

import copy
import re
from collections.abc import Sequence
from typing import Any

from kmaps.data.yaml_text import read_yaml
from kmaps.errors import ConfigError


def changed(content: dict[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """Return the content of an experiment with some values changed.

    Its name tells the changes, and the claims, which are about the experiment as it was, are left
    out.

    Parameters
    ----------
    content : dict
    changes : sequence of str
        Each ``KEY=VALUE``: keys of mappings, and places in lists from 0, joined by dots; the value
        as YAML.

    Raises
    ------
    ConfigError
        When one is no ``KEY=VALUE``, or goes through a value that holds no others.

    Examples
    --------
    >>> changed({"experiment": "one", "C": {"grid": "auto"}}, ["C.folds=5", "kernels=[chi2, js]"])
    {'experiment': 'one-C.folds-5-kernels-chi2-js', 'C': {'grid': 'auto', 'folds': 5}, \
'kernels': ['chi2', 'js'], 'claims': []}
    """
    new = copy.deepcopy(content)
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals or not key:
            raise ConfigError(f"changes={change!r}: expected KEY=VALUE, such as splits=2")
        _put(new, key.split("."), read_yaml(text, f"changes={change!r}")[1], change)
    title = "-".join([str(content.get("experiment")), *map(_slug, changes)])
    return {**new, "experiment": title, "claims": []}


def _slug(change: str) -> str:
    """Return a change as a part of a name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", change).strip("-")


def _put(content: Any, steps: Sequence[str], value: Any, change: str) -> None:
    """Put a value at its place, in mappings that are made where there are none.

    Unknown keys are left to the checks of the whole.
    """
    inside = content
    for i, step in enumerate(steps):
        place = _place(inside, step, ".".join(steps[:i]), change)
        if i + 1 == len(steps):
            inside[place] = value
        elif isinstance(inside, dict):
            inside = inside.setdefault(place, {})
        else:
            inside = inside[place]


def _place(inside: Any, step: str, before: str, change: str) -> str | int:
    """Return the key, or the place in a list, that a step goes to."""
    if isinstance(inside, dict):
        return step
    if not isinstance(inside, list):
        raise ConfigError(f"changes={change!r}: {before} is {inside!r}, which has no keys")
    if not step.isdecimal() or int(step) >= len(inside):
        raise ConfigError(
            f"changes={change!r}: {before} is a list of {len(inside)}: expected a number from 0 to "
            f"{len(inside) - 1}, got {step!r}"
        )
    return int(step)
