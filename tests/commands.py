"""`kmaps` run by tests: in this process, or in another one for all commands."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kmaps.cli.main import cli

TERMINAL = SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True))
"""In the place of ``sys`` where bytes must not go to a terminal."""

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """
import json, sys
from click.testing import CliRunner
from kmaps.cli.main import cli

for line in sys.stdin:
    done = CliRunner().invoke(cli, json.loads(line))
    told = {"code": done.exit_code, "stdout": done.stdout, "stderr": done.stderr}
    print(json.dumps(told), flush=True)
"""


def kmaps(*args: object, code: int = 0, **options: Any) -> Result:
    """Return how a command ended, which must be with the exit code ``code``, in this folder."""
    result = CliRunner().invoke(cli, [*map(str, args)], **options)
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


def refused(*args: object, code: int = 2, **options: Any) -> str:
    """Return the one line of a command that refuses; it prints nothing else and leaves no file."""
    before = sorted(os.listdir())
    result = kmaps(*args, code=code, **options)
    assert sorted(os.listdir()) == before
    assert result.stdout == ""
    # Loops may be compiled before what is wrong is known, on the first run of a new tree.
    said = [line for line in result.stderr.splitlines() if not line.startswith("compiling ")]
    assert len(said) == 1, said
    assert said[0].startswith("error: ")
    return said[0].removeprefix("error: ")


def python(*args: object, folder: Path | None = None, **names: str) -> str:
    """Return what Python, with this kmaps, prints in a folder, with names in its environment."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **names}
    how = {"cwd": folder, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, *map(str, args)], **how)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write_records(cells: Iterable[Mapping[str, Any]], path: str = "records.jsonl") -> None:
    """Write records as a run does, but in any folder, and any."""
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text("".join(json.dumps(cell) + "\n" for cell in cells))


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    stdout: str
    stderr: str


def _checked(done: Done, code: int) -> Done:
    assert done.code == code, done.stderr
    return done


def kmaps_in(folder: Path) -> Callable[..., Done]:
    """Return `kmaps`, run in a folder; a command must end with the exit code ``code``."""

    def run(*args: object, code: int = 0) -> Done:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            done = CliRunner().invoke(cli, list(map(str, args)))
        return _checked(Done(done.exit_code, done.stdout, done.stderr), code)

    return run


@contextmanager
def kmaps_with(folder: Path, environment: Mapping[str, str]) -> Iterator[Callable[..., Done]]:
    """Yield `kmaps` as of `kmaps_in`, in a process with other variables of the environment.

    It is one for all commands: importing takes longer than most of them.
    """
    path = os.pathsep.join([environment.get("PYTHONPATH", ""), str(ROOT)]).lstrip(os.pathsep)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**os.environ, **environment, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def run(*args: object, code: int = 0) -> Done:
        process.stdin.write(json.dumps([str(arg) for arg in args]) + "\n")
        process.stdin.flush()
        return _checked(Done(**json.loads(process.stdout.readline())), code)

    try:
        yield run
    finally:
        process.stdin.close()
        process.wait(60)
