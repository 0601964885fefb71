"""Python files of the folder that a command starts in, which must not be executed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

KMAPS = Path(sys.executable).parent / "kmaps"
ROOT = Path(__file__).resolve().parent.parent.parent
NAMES = ("random", "numba", "signal", "click")


@pytest.mark.parametrize("cluster", [[], ["--cluster", "local:1"]])
def test_run_executes_no_python_file_of_its_folder(tmp_path, cluster):
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(
            f"open({str(tmp_path / name)!r}, 'w').close()\nraise SystemExit('mine')\n"
        )
    done = subprocess.run(
        [KMAPS, "run", "quickstart", "--only", "linear", "--set", "splits=1", "--quiet", *cluster],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert not [name for name in NAMES if (tmp_path / name).exists()]
    assert done.returncode == 0, done.stderr
