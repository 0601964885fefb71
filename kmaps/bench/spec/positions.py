"""YAML text with the place of everything in it: line and column of each value and key."""

from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from kmaps.data.yaml_text import read_yaml
from kmaps.errors import ConfigError, suggest

Node = yaml.Node
Place = tuple[str | int, ...]
Mistake = tuple[int, int, str]  # line, column, what is wrong


def read(text: str, source: str) -> tuple[yaml.Node, dict[str, Any]]:
    """Return the nodes and the content of a mapping.

    Raises
    ------
    ConfigError
        When the text is no YAML or no mapping, with the place.
    """
    root, content = read_yaml(text, source)
    if not isinstance(content, dict):
        raise ConfigError(f"{source}:1:1: expected a mapping (key: value), got {brief(content)}")
    return root, content


def at(root: yaml.Node, place: Place, message: str, *, key: bool = False) -> Mistake:
    """Put a mistake at the value of a place, or at its key; as near as there is a node."""
    node, where = root, ""
    for step in place:
        if isinstance(node, yaml.MappingNode):
            pairs = [pair for pair in node.value if pair[0].value == step]
            if not pairs:
                break
            node = pairs[-1][0 if key and step == place[-1] else 1]
            where += f".{step}" if where else str(step)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node, where = node.value[step], f"{where}[{step}]"
        else:
            break
    mark = node.start_mark
    return mark.line + 1, mark.column + 1, f"{where}: {message}" if where else message


def repeated_keys(node: yaml.Node) -> Iterator[Mistake]:
    """Yield the keys given twice in a mapping."""
    # The reader keeps the last of two equal keys without a word.
    children = node.value if isinstance(node, yaml.SequenceNode) else []
    if isinstance(node, yaml.MappingNode):
        children = [value for _, value in node.value]
        first: dict[Any, int] = {}
        for key, _ in node.value:
            mark = key.start_mark
            if key.value in first:
                message = f"{key.value}: given twice, first in line {first[key.value]}"
                yield mark.line + 1, mark.column + 1, message
            first.setdefault(key.value, mark.line + 1)
    for child in children:
        yield from repeated_keys(child)


def unknown_key(key: Any, known: Iterable[str]) -> str:
    """Say that a key is unknown, and which are not."""
    return "unknown key" + (suggest(key, known) or f" (known: {', '.join(known)})")


def brief(value: Any) -> str:
    """Name a value that stands where another kind is expected."""
    names = {dict: "a mapping", list: "a list", type(None): "nothing"}
    return names.get(type(value)) or repr(value)
