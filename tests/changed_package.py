"""A copy of the package in which the recipes of CONTRIBUTING were followed; `kmaps` of it."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from commands import Done, kmaps_with

ROOT = Path(__file__).resolve().parent.parent
RECIPES = re.findall(
    r"^```python\n# (\S+?)(?:, (after|before|instead of): ([^\n]+))?\n(.*?)^```$",
    (ROOT / "CONTRIBUTING.md").read_text(),
    re.DOTALL | re.MULTILINE,
)
"""The files that the recipes of CONTRIBUTING add, and the lines: where, next to what, the text."""
MAP_CLASS, KIND_MEASURE, KIND_SHOW = (
    next(text for path, *_, text in RECIPES if path == f"kmaps/{name}.py")
    for name in ("maps/power", "bench/kinds/lengths/measure", "bench/kinds/lengths/show")
)


def follow(recipe: tuple[str, str, str, str], source: Path) -> None:
    """Add the file, or the line, of a recipe to a copy of the package."""
    name, how, anchor, text = recipe
    path = source / name
    if not how:
        path.parent.mkdir(exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(text)
        return
    before = path.read_text()
    assert before.count(anchor) == 1, f"{name}: where is {anchor!r}, of CONTRIBUTING?"
    anchor += "\n" if how == "after" else ""
    there = {"after": anchor + text, "before": text + anchor, "instead of": text.rstrip()}[how]
    path.write_text(before.replace(anchor, there))


@contextmanager
def changed_package(folder: Path) -> Iterator[Callable[..., Done]]:
    """Copy the package into a folder, follow the recipes there; yield `kmaps` of it."""
    source = folder / "source"
    for part in ("kmaps", "cli", "datasets", "experiments"):
        # What is compiled stays valid in a copy; unfinished files are named x.pyc.1, x.tmp.1.
        unneeded = shutil.ignore_patterns("*.pyc.*", "*.tmp.*")
        shutil.copytree(ROOT / part, source / part, ignore=unneeded)
    for recipe in RECIPES:
        follow(recipe, source)
    with kmaps_with(folder, {"PYTHONPATH": str(source)}) as run:
        yield run
