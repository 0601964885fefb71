"""`kmaps` in another process: one for all commands, as importing takes longer than most of them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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
def kmaps_commands(
    folder: Path, environment: Mapping[str, str] = {}
) -> Iterator[Callable[..., Done]]:
    """Yield `kmaps`, run in a folder; a command must end with the exit code ``code``, 0 unasked."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**os.environ, **environment},
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
