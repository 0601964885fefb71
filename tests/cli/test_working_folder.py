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
    run = ["run", "quickstart", "--only", "linear", "--set", "splits=1", "--quiet", *cluster]
    again = ["time", "runs/quickstart-splits-1", "--repeats", "1", "--even-if-busy", "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for command in (run, again)[: 1 if cluster else 2]:
        done = subprocess.run(
            [KMAPS, *command], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert not [name for name in NAMES if (tmp_path / name).exists()]
        assert done.returncode == 0, done.stderr
