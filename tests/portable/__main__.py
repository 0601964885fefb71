"""Runs tests as if on a system that is not Linux: ``python -m tests.portable``.

`sitecustomize.py` next to this file hides what other systems lack. The tests are those of the
library, of running, resuming and comparing, and of the commands that encode, train and predict.
What is skipped is named here with its reason.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = (
    *(f"tests/{name}" for name in ("codes", "io", "maps", "models", "svm")),
    *(f"tests/bench/run/test_{name}.py" for name in ("clock", "load", "processes", "progress")),
    *(f"tests/cli/test_{name}.py" for name in ("check", "encode", "predict", "run", "train")),
    "tests/cli/test_windows.py",
    "tests/test_parallel.py",
)
_MEMORY = "only Linux can reset the peak of a process's memory"
_SERVER = "only Linux has the server that processes are forked from"
SKIPPED = {
    "test_clock.py::test_peak_memory_is_what_the_block_needs": _MEMORY,
    "test_clock.py::test_what_came_before_begin_does_not_count": _MEMORY,
    "test_processes.py::test_a_server_that_was_killed_is_asked_again": _SERVER,
    "test_processes.py::test_processes_start_with_what_the_first_compiled_loop_needs": _SERVER,
}
MOST_SKIPPED = 10


def main() -> int:
    """Run pytest; return its exit code."""
    if len(SKIPPED) > MOST_SKIPPED:
        print(f"tests.portable: {len(SKIPPED)} tests are skipped, more than {MOST_SKIPPED}")
        return 2
    for test, reason in SKIPPED.items():
        print(f"skipped: {test}: {reason}")
    python_path = os.pathsep.join([str(ROOT / "tests" / "portable"), str(ROOT)])
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal", "-q", *TESTS]
    command += [f"--deselect=tests/bench/run/{test}" for test in SKIPPED] + sys.argv[1:]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": python_path}
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
