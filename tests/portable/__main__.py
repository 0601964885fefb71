"""Runs tests as if on a system that is not Linux: ``python -m tests.portable``.

`sitecustomize.py` next to this file hides what other systems lack. The tests are those of ``make
test``, and the slow one of a run that is killed and resumes. What is left out looks at kinds of
experiments, figures, pages or documents, or injects faults by means of Linux.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = (
    *("faults", "hostile", "load", "mutants", "site"),
    *(f"bench/{name}" for name in ("figures", "kinds", "paper", "report", "spec", "work")),
    *("benchmarks", "canary", "layers", "missing", "packaging", "published", "readme"),
    *("recipes", "schema"),
)
_MEMORY = "only Linux can reset the peak of a process's memory"
_SERVER = "only Linux has the server that processes are forked from"
_RUN = "bench/run/test_"
SKIPPED = {
    f"{_RUN}clock.py::test_peak_memory_is_what_the_block_needs": _MEMORY,
    f"{_RUN}processes.py::test_a_server_that_was_killed_is_asked_again": _SERVER,
    "cli/test_pages.py::test_a_pdf_is_printed_by_a_browser": "Linux's browser asks who is root",
}


def main() -> int:
    """Run pytest; return its exit code."""
    for test, reason in SKIPPED.items():
        print(f"skipped: {test}: {reason}")
    python_path = os.pathsep.join([str(ROOT / "tests" / "portable"), str(ROOT)])
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal", "-q"]
    command += ["tests", "tests/portable/test_hidden.py"]
    command += ["-m", "not (soak or network or site)", "-k", "not slow or killed_run"]
    command += [f"--ignore-glob=tests/{name}" for name in LEFT_OUT]
    command += [f"--ignore-glob=tests/test_{name}.py" for name in LEFT_OUT]
    command += [f"--deselect=tests/{test}" for test in SKIPPED] + sys.argv[1:]
    environment = {**os.environ, "PYTHONPATH": python_path}
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
