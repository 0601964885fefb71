"""`kmaps` run by tests: in this process, or in another one for all commands."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from kmaps.cli.main import cli

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
