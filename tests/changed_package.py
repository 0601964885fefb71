"""A copy of the package with one more file and one more line, and `kmaps` of it."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from commands import Done, kmaps_commands

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def changed_package(
    folder: Path, file: str, text: str, registry: str, line: str
) -> Iterator[Callable[..., Done]]:
    """Copy the package into a folder, add a file and a line to another; yield `kmaps` of it.

    Files are named from the folder ``kmaps`` on.
    """
    source = folder / "source"
    for part in ("kmaps", "cli", "datasets", "experiments"):
        # Compiled loops stay valid in a copy; unfinished files have a name with .tmp.
        unneeded = shutil.ignore_patterns("*.pyc*", "*.tmp.*")
        shutil.copytree(ROOT / part, source / part, ignore=unneeded)
    (source / "kmaps" / file).write_text(text)
    with open(source / "kmaps" / registry, "a") as registered:
        registered.write(line)

    with kmaps_commands(folder, {"PYTHONPATH": str(source)}) as run:
        yield run
