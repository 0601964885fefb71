"""Reading users' YAML with limits, so that no text takes endless memory or time."""

import re
from pathlib import Path
from typing import Any

import yaml

from kmaps.errors import ConfigError

Node = yaml.Node

MOST_CHARACTERS = 1_000_000
MOST_DEPTH = 30  # nested mappings and lists, with the content of aliases
MOST_NODES = 100_000  # values, with the content of aliases: a few lines can make any number


class Loader(yaml.CSafeLoader):
    """A safe loader that reads 1e-3 as a number, where PyYAML's loader reads text."""


Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)


def read_text(path: Path, most: int = MOST_CHARACTERS, encoding: str = "utf-8") -> str:
    """Return a regular file's text, but at most one character more than ``most``."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ConfigError(f"{path}: is a device or a pipe, expected a file; copy it")
    with open(path, encoding=encoding) as file:
        return file.read(most + 1)


def _check_limits(text: str) -> None:
    """Refuse a tree that is too deep, too large or contains itself, before it is made."""
    # The anchor, mark, number of values and depth of each mapping or list that is still open.
    under_way: list[list[Any]] = [["", None, 0, 0]]
    anchored: dict[str, tuple[int, int]] = {}  # number of values, depth
    for event in yaml.parse(text, Loader):
        size = 1, 0  # for a number or text
        mark = event.start_mark
        if isinstance(event, yaml.CollectionStartEvent):
            under_way.append([event.anchor, mark, 1, 1])
            _refuse(len(under_way) - 1 > MOST_DEPTH, _TOO_DEEP, mark)
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, mark, *counts = under_way.pop()
            size = anchored[anchor] = counts[0], counts[1]
        elif isinstance(event, yaml.AliasEvent):
            inside = any(event.anchor == anchor for anchor, *_ in under_way)
            _refuse(inside, "a value contains itself", mark)
            size = anchored.get(event.anchor, size)
        elif not isinstance(event, yaml.ScalarEvent):
            continue
        _refuse(len(under_way) - 1 + size[1] > MOST_DEPTH, _TOO_DEEP, mark)
        _refuse(size[0] > MOST_NODES, _TOO_MANY, mark)
        parent = under_way[-1]
        parent[2:] = parent[2] + size[0], max(parent[3], 1 + size[1])


def _refuse(refused: bool, problem: str, mark: Any) -> None:
    if refused:
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


_TOO_DEEP = f"more than {MOST_DEPTH} nested mappings and lists"
_TOO_MANY = f"more than {MOST_NODES:,} values, with the content of aliases"


def read_yaml(text: str, source: str) -> tuple[Node | None, Any]:
    """Return the nodes and the content of a YAML text; a ConfigError names the place in ``source``.

    Examples
    --------
    >>> read_yaml("a: &a [*a]", "x.yaml")
    Traceback (most recent call last):
    kmaps.errors.ConfigError: x.yaml:1:8: a value contains itself
    """
    if len(text) > MOST_CHARACTERS:
        raise ConfigError(f"{source}: has more than {MOST_CHARACTERS:,} characters; shorten it")
    try:
        _check_limits(text)
        loader = Loader(text)
        root = loader.get_single_node()
        return root, loader.construct_document(root) if root else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or ""
        if "nesting depth" in problem:  # libyaml's limit: it reads ahead of its events
            problem = _TOO_DEEP
        raise ConfigError(f"{source}:{mark.line + 1}:{mark.column + 1}: {problem}") from None
    except IndexError:  # PyYAML's constructors take the first character of the text
        raise ConfigError(f"{source}: not YAML: no number after !!int or !!float") from None
    except (yaml.YAMLError, ValueError, KeyError, AttributeError, OverflowError) as error:
        # PyYAML's constructors raise these for a date of month 13, !!bool maybe, !!int x.
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ConfigError(f"{source}: not YAML: {reason}") from None


def write_yaml(content: Any) -> str:
    """Return mappings, lists, texts and numbers as YAML that :func:`read_yaml` reads back."""
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None)
