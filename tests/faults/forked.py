"""`kmaps` in processes that are forked from one that has imported it, each with a fault of its own.

Run as a program, it takes a line of JSON a request on standard input and answers with one.
"""

import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from signal import default_int_handler
from typing import Any

# What commands import when they need it: once instead of in every process.
PRELOADED = (
    *("kmaps.cli.main", "kmaps.cli.train", "kmaps.bench.kinds.load", "kmaps.bench.figures.costs"),
    *("kmaps.features", "kmaps.models.evaluation", "kmaps.svm", "sklearn.datasets"),
)

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, or minus its signal, and what it printed."""

    code: int
    stdout: str
    stderr: str
    calls: dict[str, int]
    peak_kb: int


class Forked:
    """The process that commands are forked from (context manager)."""

    def __enter__(self) -> "Forked":
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.forked"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait(60)

    def _ask(self, **request: Any) -> dict[str, Any]:
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def start(
        self,
        folder: Path,
        arguments: list[str],
        *,
        name: str = "command",
        fault: Mapping[str, Any] = {},
    ) -> int:
        """Start a command in a folder; return its process, which leads a session of its own.

        Its streams go to files beside the folder, by the name; the fault is one of ``call`` and
        ``at``, ``pass`` and ``signal``, ``size`` and ``clock``.
        """
        said = str(folder.parent / f"{folder.name}.{name}")
        request = {"folder": str(folder), "arguments": arguments, "said": said, "fault": fault}
        return self._ask(**request)["pid"]

    def end(self, pid: int, folder: Path, *, name: str = "command") -> Ended:
        found = self._ask(wait=pid)
        said = folder.parent / f"{folder.name}.{name}"
        calls = Path(f"{said}.calls")
        return Ended(
            found["code"],
            Path(f"{said}.out").read_text(),
            Path(f"{said}.err").read_text(),
            json.loads(calls.read_text()) if calls.exists() else {},
            found["peak_kb"],
        )

    def run(self, folder: Path, arguments: list[str], fault: Mapping[str, Any] = {}) -> Ended:
        return self.end(self.start(folder, arguments, fault=fault), folder)


def _serve() -> None:
    # Started by nohup, or in the background of a shell, processes are told to ignore these.
    for number, handler in ((signal.SIGHUP, signal.SIG_DFL), (signal.SIGINT, default_int_handler)):
        signal.signal(number, handler)
    for module in PRELOADED:
        import_module(module)
    for line in sys.stdin:
        request = json.loads(line)
        if "wait" in request:
            _, status, used = os.wait4(request["wait"], 0)
            answer = {"code": os.waitstatus_to_exitcode(status), "peak_kb": used.ru_maxrss}
        else:
            answer = {"pid": os.fork()}
            if not answer["pid"]:
                _command(**request)
        print(json.dumps(answer), flush=True)


def _command(folder: str, arguments: list[str], said: str, fault: dict[str, Any]) -> None:
    """Be the command, in a forked process."""
    code = 1
    try:
        os.setsid()
        os.chdir(folder)
        environment = {"KMAPS_DATA_DIR": "cache", "KMAPS_DATA_PATH": folder, "KMAPS_MIRROR": ""}
        # Files of models say when they were written: at one time here, so that bytes compare.
        os.environ.update(environment, KMAPS_OFFLINE="1", SOURCE_DATE_EPOCH="0")
        for number, path in {0: os.devnull, 1: f"{said}.out", 2: f"{said}.err"}.items():
            flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(path, flags), number)
        code = _with_fault(arguments, f"{said}.calls", fault)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        # Ctrl-C a second time must not bring the child back into the loop of its parent.
        while True:
            try:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
            except BaseException:
                continue


def _with_fault(arguments: list[str], log: str, fault: dict[str, Any]) -> int:
    from kmaps.cli.main import main
    from tests.faults import injected

    sys.argv = ["kmaps", *arguments]
    if "size" in fault:
        injected.limit_size(fault["size"])
    if "clock" in fault:
        injected.let_the_clock_jump()
    if "pass" in fault:
        injected.at_a_pass(fault["pass"], fault["signal"])
    calls = injected.Calls()
    if "call" in fault:
        calls.at(fault["at"], fault["call"])
    try:
        main()
    finally:
        if not fault:
            Path(log).write_text(json.dumps(calls.counted))
    return 0


if __name__ == "__main__":
    _serve()
