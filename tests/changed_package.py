"""A copy of the project in which the recipes of CONTRIBUTING were followed; `kmaps` of it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from pathlib import Path

from commands import Done, kmaps_with

ROOT = Path(__file__).resolve().parent.parent
RECIPES = re.findall(
    r"^```\w+\n# (\S+?)(?:, (after|before|instead of): ([^\n]+))?\n(.*?)^```$",
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
        if name.startswith("kmaps/"):
            (path.parent / "__init__.py").touch()
        path.write_text(text)
        return
    before = path.read_text()
    assert before.count(anchor) == 1, f"{name}: where is {anchor!r}, of CONTRIBUTING?"
    anchor += "\n" if how == "after" else ""
    if how == "before" and text.startswith(("class ", "def ")):
        text += "\n\n"
    there = {"after": anchor + text, "before": text + anchor, "instead of": text.rstrip()}[how]
    path.write_text(before.replace(anchor, there))


def copy_project(target: Path, runs: Container[str] | None = None) -> None:
    """Copy the project, without what git ignores; what is compiled stays valid in a copy.

    Of the published runs only those in ``runs`` are copied, if it is given.
    """
    unneeded = shutil.ignore_patterns(
        *(".git", ".venv*", "build", "dist", "runs", "*.egg-info", ".*_cache"),
        *("node_modules", "_build", "*.pyc.*", "*.tmp.*"),  # unfinished files: x.pyc.1, x.tmp.1
    )

    def ignored(folder: str, names: list[str]) -> set[str]:
        left_out = set(unneeded(folder, names))
        if runs is not None and Path(folder) == ROOT / "results":
            left_out |= {name for name in names if name not in runs and "." not in name}
        return left_out

    shutil.copytree(ROOT, target, ignore=ignored)


@contextmanager
def changed_package(
    folder: Path, runs: Container[str] | None = None
) -> Iterator[Callable[..., Done]]:
    """Copy the project into a folder, follow the recipes there; yield `kmaps` of it."""
    source = folder / "source"
    copy_project(source, runs)
    for recipe in RECIPES:
        follow(recipe, source)
    with kmaps_with(folder, {"PYTHONPATH": str(source)}) as run:
        yield run


def run_in(source: Path, *arguments: str) -> None:
    """Run Python in a copy of the project, on that copy; fail with what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    for name in [name for name in environment if name.startswith("PYTEST_")]:
        del environment[name]
    done = subprocess.run(
        [sys.executable, *arguments], cwd=source, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
