"""YAML that people write: read with limits, so that no text takes memory or time without end."""

import itertools
import re
from typing import Any

import yaml
from yaml.composer import Composer

from kmaps.errors import ConfigError

Node = yaml.Node

MOST_CHARACTERS = 1_000_000
MOST_DEPTH = 30
"""Mappings and lists inside each other, with what aliases stand for."""
MOST_NODES = 100_000
"""Values, with what aliases stand for: a few lines of them can make a tree of any size."""


class Loader(Composer, yaml.CSafeLoader):
    """A safe loader with limits that reads 1e-3 as a number, where PyYAML's reads text.

    The events are those of libyaml, several times as fast as the parser in Python; the nodes are
    composed in Python, so that their number and depth are seen while they grow.
    """

    def __init__(self, text: str) -> None:
        yaml.CSafeLoader.__init__(self, text)
        Composer.__init__(self)
        self._open = 0  # nodes under way, each inside the one before
        self._sizes: dict[int, tuple[int, int]] = {}  # nodes and depth of whole mappings and lists

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        """Compose a node; refuse one that is too deep, too large, or inside itself."""
        event = self.peek_event()
        if isinstance(event, yaml.ScalarEvent):
            return super().compose_node(parent, index)
        mark = event.start_mark
        alias = isinstance(event, yaml.AliasEvent)
        self._open += 1
        if self._open > MOST_DEPTH:
            raise yaml.MarkedYAMLError(problem=_TOO_DEEP, problem_mark=mark)
        node = super().compose_node(parent, index)
        self._open -= 1
        if isinstance(node, yaml.ScalarNode):
            return node  # an alias of it
        if alias and id(node) not in self._sizes:
            raise yaml.MarkedYAMLError(problem="a value inside itself", problem_mark=mark)
        size, depth = self._sizes[id(node)] = self._measured(node)
        if self._open + depth > MOST_DEPTH:
            raise yaml.MarkedYAMLError(problem=_TOO_DEEP, problem_mark=mark)
        if size > MOST_NODES:
            problem = f"more than {MOST_NODES:,} values, with what aliases stand for"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
        return node

    def _measured(self, node: yaml.CollectionNode) -> tuple[int, int]:
        """Return the nodes of a node, and how many mappings and lists are inside each other."""
        mapping = isinstance(node, yaml.MappingNode)
        children = itertools.chain.from_iterable(node.value) if mapping else node.value
        below = [self._sizes.get(id(child), _SCALAR) for child in children]
        return 1 + sum(size for size, _ in below), 1 + max((depth for _, depth in below), default=0)


_SCALAR = 1, 0  # the size and depth of a number or text
_TOO_DEEP = f"more than {MOST_DEPTH} mappings and lists inside each other"

Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)


def read_yaml(text: str, source: str) -> tuple[Node | None, Any]:
    """Return the nodes and the content of a YAML text.

    Raises
    ------
    ConfigError
        When the text is not YAML, or is too long, too deep or, by its aliases, too large; with the
        place in ``source``.

    Examples
    --------
    >>> read_yaml("a: [1, 1e-2]", "x.yaml")[1]
    {'a': [1, 0.01]}
    >>> read_yaml("a: &a [*a]", "x.yaml")
    Traceback (most recent call last):
    kmaps.errors.ConfigError: x.yaml:1:8: a value inside itself
    """
    if len(text) > MOST_CHARACTERS:
        raise ConfigError(
            f"{source}: {len(text):,} characters, expected at most {MOST_CHARACTERS:,}"
        )
    try:
        loader = Loader(text)
        root = loader.get_single_node()
        return root, loader.construct_document(root) if root else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context
        raise ConfigError(f"{source}:{mark.line + 1}:{mark.column + 1}: {what}") from None
    except (yaml.YAMLError, ValueError, KeyError, AttributeError, OverflowError) as error:
        # What PyYAML's constructors raise for a date of month 13, !!bool maybe, !!int x.
        told = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ConfigError(f"{source}: not YAML: {told}") from None


def write_yaml(content: Any) -> str:
    """Return mappings, lists, texts and numbers as YAML, which :func:`read_yaml` reads back.

    Examples
    --------
    >>> print(write_yaml({"about": "µ", "C": {"grid": [0.1, 1]}}), end="")
    about: µ
    C:
      grid: [0.1, 1]
    """
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None)
