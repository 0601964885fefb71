"""A copy of the package with one more file and one more line, and `kmaps` of it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "from kmaps.cli.main import main; main()"


def changed_package(folder: Path, file: str, text: str, registry: str, line: str) -> Callable:
    """Copy the package into a folder, add a file and a line to another; return `kmaps` of it.

    Files are named from the folder ``kmaps`` on. The command runs in ``folder`` and must end with
    the exit code ``code``.
    """
    source = folder / "source"
    for part in ("kmaps", "cli", "datasets", "experiments"):
        # Compiled loops stay valid in a copy; unfinished files have a name with .tmp.
        unneeded = shutil.ignore_patterns("*.pyc*", "*.tmp.*")
        shutil.copytree(ROOT / part, source / part, ignore=unneeded)
    (source / "kmaps" / file).write_text(text)
    with open(source / "kmaps" / registry, "a") as registered:
        registered.write(line)

    def run(*args: object, code: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *map(str, args)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(source)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stderr
        return done

    return run
