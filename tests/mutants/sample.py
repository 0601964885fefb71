"""A seeded sample of mutants: what cosmic-ray would change in some modules, one change a place.

Places and changes are drawn by hashes of their lines: an edit leaves most of a sample as it was.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

SEED = 1
Parts = Mapping[str, Collection[str | None]]  # the functions of some modules, which others lack


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    module: str  # its path in the tree
    lines: tuple[int, int]  # the first and the last one of the statement that is changed
    line: str  # what is changed, without indentation
    becomes: str
    source: str


def sample(root: Path, modules: Iterable[str], n: int, only: Parts) -> list[Mutant]:
    """Return the mutants of ``n`` places in some modules, or parts of them, in their order."""
    from cosmic_ray.commands import init
    from cosmic_ray.work_db import WorkDB, use_db

    places = defaultdict(list)
    with use_db(":memory:", WorkDB.Mode.create) as found:
        init([root / module for module in modules], found, {})
        for change in (item.mutations[0] for item in found.work_items):
            module, name = str(change.module_path.relative_to(root)), change.definition_name
            if name in only.get(module, [name]):
                places[module, change.start_pos].append(change)
    ranked, seen = [], Counter()
    for (module, (line, column)), changes in sorted(places.items()):
        source = (root / module).read_text()
        text = source.splitlines()[line - 1]
        name = f"{module} {column - len(text)} {text.strip()}"
        seen[name] += 1
        changes.sort(key=lambda change, name=name: _hash(name, change.operator_name))
        ranked.append((_hash(name, seen[name]), module, source, line, changes))
    drawn = (_first(*place) for _, *place in sorted(ranked))
    return sorted(islice(filter(None, drawn), n), key=lambda mutant: (mutant.module, mutant.lines))


def _hash(*words: object) -> str:
    return sha256(repr((SEED, *words)).encode()).hexdigest()


def _first(module: str, source: str, line: int, changes: list[Any]) -> Mutant | None:
    """Return the mutant of the first change that is Python and means something else, or None."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    for change in changes:
        mutated = mutate_code(source, get_operator(change.operator_name)(), change.occurrence)
        if _meaning(mutated) not in ("", _meaning(source)):
            return Mutant(module, _statement(source, line), *_difference(source, mutated), mutated)
    return None


def _meaning(source: str) -> str:
    """Return what a source says without its types; nothing where it is no Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ""
    for node in ast.walk(tree):
        for name in {"annotation", "returns"}.intersection(node._fields):
            setattr(node, name, None)
    return ast.dump(tree)


def _difference(*sources: str) -> Iterator[str]:
    """Yield the lines in which two sources differ, those of each as one."""
    sides = (source.splitlines() for source in sources)
    changed = list(unified_diff(*sides, n=0, lineterm=""))[2:]
    for sign in "-+":
        yield " ".join(line[1:].strip() for line in changed if line.startswith(sign)).strip()


def _statement(source: str, line: int) -> tuple[int, int]:
    """Return the first and the last line of the statement at a line, or of its head."""
    found = line, line
    for node in ast.walk(ast.parse(source)):  # the outer ones first
        if isinstance(node, ast.stmt):
            last = node.body[0].lineno - 1 if getattr(node, "body", None) else node.end_lineno
            if node.lineno <= line <= last:
                found = node.lineno, last
    return found
