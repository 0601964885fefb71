"""The coverage-guided fuzz targets, each for some seconds: `make soak` (``fuzz.py`` says more)."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.hostile.test_readers import NAMES

ROOT = Path(__file__).resolve().parents[2]
SECONDS = int(os.environ.get("KMAPS_SOAK_SECONDS", "5"))
TRIED = re.compile(r"stat::number_of_executed_units: (\d+)")


@pytest.mark.soak
@pytest.mark.skipif(find_spec("atheris") is None, reason="needs the extra fuzz: atheris")
@pytest.mark.parametrize("name", NAMES)
def test_inputs_that_reach_new_code_are_read_or_refused(record_property, name):
    command = [sys.executable, "-m", "tests.hostile.fuzz", name, str(SECONDS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stderr[-5000:] + done.stdout  # the input, and what it did
    record_property("soak", (f"hostile: fuzz target, {name}", int(TRIED.search(done.stderr)[1])))
