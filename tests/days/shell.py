"""A shell in a folder of its own, in which lines are typed; it prints what was typed and seen."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path

from commands import ROOT

SHOWN_LINES = 8  # of what a command prints
COMPILING = "compiling the loops"


@dataclass(frozen=True)
class Ended:
    """What a line printed, and how it ended."""

    code: int
    stdout: str
    stderr: str


@dataclass
class Shell:
    """Types lines as a user does, each in a shell, with `kmaps` among its programs.

    Facts are checked one by one, and printed: a test fails after its last line when one is false.

    Parameters
    ----------
    folder : Path
        The folder of the user, which is made.
    environment : dict
        The variables of the shell.
    compiles : bool
        Whether commands may compile loops, which they need not after `kmaps warmup`.
    """

    folder: Path
    environment: dict[str, str]
    compiles: bool = False
    false: list[str] = field(default_factory=list)

    def __call__(self, line: str, code: int = 0) -> Ended:
        """Type a line and wait for its end, which must be with this exit code."""
        print(f"$ {line}")
        done = subprocess.run(
            line,
            shell=True,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
        show(done.stderr)
        show(done.stdout)
        print(f"  [exit code {done.returncode}]")
        if done.returncode != code:
            self.check(f"the exit code of this line is {code}", False)
        if COMPILING in done.stderr and not self.compiles:
            self.check("nothing is compiled after `kmaps warmup`", False)
        return Ended(done.returncode, done.stdout, done.stderr)

    def python(self, program: str, code: int = 0) -> Ended:
        """Type a program into Python."""
        (self.folder / "program.py").write_text(textwrap.dedent(program))
        print(textwrap.indent(textwrap.dedent(program).strip(), ">>> "))
        return self("python program.py", code)

    def interrupted(self, line: str, after_s: float, begun: str = "") -> tuple[Ended, float]:
        """Type a line and, some time later, Ctrl-C; return how it ended and the seconds it took.

        The time counts from when it has printed ``begun``.
        """
        print(f"$ {line}   # Ctrl-C after {after_s:g} s")
        log = self.folder / "interrupted.log"
        with (
            open(log, "w") as output,
            subprocess.Popen(
                ["sh", "-c", f"exec {line}"],
                cwd=self.folder,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            ) as process,
        ):
            while process.poll() is None and begun not in log.read_text():
                time.sleep(0.01)
            time.sleep(after_s)
            pressed = time.monotonic()
            process.send_signal(signal.SIGINT)
            process.wait()
        seconds = time.monotonic() - pressed
        text = log.read_text()
        show(text)
        print(f"  [exit code {process.returncode}, {seconds:.1f} s after Ctrl-C]")
        return Ended(process.returncode, text, text), seconds

    def check(self, fact: str, holds: object) -> None:
        """Note and print whether a fact holds."""
        print(f"{'PASS' if holds else 'FAIL'}  {fact}")
        if not holds:
            self.false.append(fact)


def show(text: str) -> None:
    """Print the first lines of what a command printed."""
    lines = text.splitlines()
    for line in lines[:SHOWN_LINES]:
        print(f"  {line[:200]}")
    if len(lines) > SHOWN_LINES:
        print(f"  … ({len(lines) - SHOWN_LINES} lines more)")


def environment(home: Path, compiled: Path) -> dict[str, str]:
    """Return the variables of a user's shell, with a home and a folder for compiled loops."""
    programs = home / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    for name, arguments in {"kmaps": "-m kmaps ", "python": ""}.items():
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {arguments}"$@"\n')
        program.chmod(0o755)
    inherited = ("KMAPS_OFFLINE", "KMAPS_DATA_DIR", "TMPDIR", "OMP_NUM_THREADS")
    variables = {name: os.environ[name] for name in inherited if name in os.environ}
    return variables | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "NUMBA_CACHE_DIR": str(compiled),
        "MPLCONFIGDIR": str(home),
    }
