"""Python files of the folder that a command starts in, which must not be executed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

KMAPS = Path(sys.executable).parent / "kmaps"
ROOT = Path(__file__).resolve().parent.parent.parent
NAMES = ("random", "numba", "signal", "click")
RUN = "run quickstart --only linear --set splits=1"
TIME = "time runs/quickstart-splits-1 --repeats 1 --even-if-busy"
CLUSTER = f"{RUN} --cluster local:1"
RECOMMEND = "recommend rows.csv --label-column y --exact-only"
REPRODUCE = "reproduce lac-figure3-toy --preset small"


@pytest.mark.parametrize(
    "commands",
    [(RUN,), pytest.param((RUN, TIME, CLUSTER, RECOMMEND, REPRODUCE), marks=pytest.mark.slow)],
)
def test_no_command_executes_a_python_file_of_its_folder(tmp_path, commands):
    for name in NAMES:
        trap = f"open({str(tmp_path / name)!r}, 'w')\nraise SystemExit('mine')\n"
        (tmp_path / f"{name}.py").write_text(trap)
    (tmp_path / "rows.csv").write_text("x,y\n" + "0,0\n1,1\n" * 30)
    where = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    for command in commands:
        given = [KMAPS, *command.split(), "--quiet"]
        done = subprocess.run(given, **where, capture_output=True, text=True)
        assert not [name for name in NAMES if (tmp_path / name).exists()]
        assert done.returncode == 0, done.stderr
