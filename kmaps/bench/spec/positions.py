"""YAML text: the place of everything in it, line and column, and changes of single keys."""

import copy
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import yaml

from kmaps.data.yaml_text import read_yaml
from kmaps.errors import ConfigError, suggest

Node = yaml.Node
Place = tuple[str | int, ...]
Mistake = tuple[int, int, str]  # line, column, message


def read(text: str, source: str) -> tuple[yaml.Node, dict[str, Any]]:
    """Return the nodes and the content of a mapping; a ConfigError has the place of a mistake."""
    root, content = read_yaml(text, source)
    if not isinstance(content, dict):
        raise ConfigError(f"{source}:1:1: expected a mapping (key: value), got {brief(content)}")
    return root, content


def at(root: yaml.Node, place: Place, message: str, *, key: bool = False) -> Mistake:
    """Put a mistake at the value of a place, or at its key; as near as there is a node."""
    node = root
    where = ""
    for step in place:
        if isinstance(node, yaml.MappingNode):
            pairs = [pair for pair in node.value if pair[0].value == step]
            if not pairs:
                break
            key_node, value_node = pairs[-1]
            node = key_node if key and step == place[-1] else value_node
            where += f".{step}" if where else str(step)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
            where += f"[{step}]"
        else:
            break
    mark = node.start_mark
    return mark.line + 1, mark.column + 1, f"{where}: {message}" if where else message


def repeated_keys(node: yaml.Node) -> Iterator[Mistake]:
    """Yield the keys that stand twice in one mapping."""
    # The reader silently keeps the last of two equal keys.
    children = node.value if isinstance(node, yaml.SequenceNode) else []
    if isinstance(node, yaml.MappingNode):
        children = [value for _, value in node.value]
        first: dict[Any, int] = {}
        for key, _ in node.value:
            mark = key.start_mark
            if key.value in first:
                message = f"{key.value}: is given twice, first in line {first[key.value]}"
                yield mark.line + 1, mark.column + 1, message
            first.setdefault(key.value, mark.line + 1)
    for child in children:
        yield from repeated_keys(child)


def unknown_key(key: Any, keys: Iterable[str]) -> str:
    """Return the message about a key that there is not."""
    hint = suggest(key, keys) or f" (known: {', '.join(keys)})"
    return f"unknown key{hint}"


def brief(value: Any) -> str:
    """Return a value as messages name it."""
    names = {dict: "a mapping", list: "a list", type(None): "nothing"}
    return names.get(type(value)) or repr(value)


def problem_of(error: Any) -> str:
    """Return pydantic's message about a mistake, with the given value where it leaves it out."""
    message = error["msg"].removeprefix("Value error, ")
    if not message.startswith("Input "):
        return message
    if "C" in error["loc"] and isinstance(error["input"], list):
        return f"a list of values is written C: {{grid: {str(error['input'])[:60]}}}"
    return f"{message.removeprefix('Input ')}, got {brief(error['input'])}"


def changed(content: dict[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """Return the content of an experiment with some values changed.

    Each change is ``KEY=VALUE``: keys of mappings, and places in lists from 0, joined by dots; the
    value as YAML. The name gets the changes; the claims, which are about the experiment as it was,
    are left out. A ConfigError says which is no ``KEY=VALUE``, or goes through a single value.
    """
    new = copy.deepcopy(content)
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals or not key:
            raise ConfigError(f"changes={change!r}: expected KEY=VALUE, such as splits=2")
        _put(new, key.split("."), read_yaml(text, f"changes={change!r}")[1], change)
    slugs = [re.sub(r"[^A-Za-z0-9._-]+", "-", change).strip("-") for change in changes]
    title = "-".join([str(content.get("experiment")), *slugs])
    return {**new, "experiment": title, "claims": []}


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
