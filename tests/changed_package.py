"""A copy of the package with one more file and one more line, and `kmaps` of it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# One process for all commands: importing takes longer than most of them.
PROGRAM = """
import json, sys
from click.testing import CliRunner
from kmaps.cli.main import cli

for line in sys.stdin:
    done = CliRunner().invoke(cli, json.loads(line))
    told = {"code": done.exit_code, "stdout": done.stdout, "stderr": done.stderr}
    print(json.dumps(told), flush=True)
"""


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    stdout: str
    stderr: str


@contextmanager
def changed_package(
    folder: Path, file: str, text: str, registry: str, line: str
) -> Iterator[Callable[..., Done]]:
    """Copy the package into a folder, add a file and a line to another; yield `kmaps` of it.

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

    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(source)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def run(*args: object, code: int = 0) -> Done:
        process.stdin.write(json.dumps([str(arg) for arg in args]) + "\n")
        process.stdin.flush()
        done = Done(**json.loads(process.stdout.readline()))
        assert done.code == code, done.stderr
        return done

    try:
        yield run
    finally:
        process.stdin.close()
        process.wait(60)
