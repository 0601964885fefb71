"""The names of `kmaps`, loaded when they are asked for, have types all the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kmaps

CALLER = """
from kmaps import {names}
from kmaps.maps import MAPS

reveal_type(HomogeneousMap)
reveal_type(HomogeneousMap(order=2).tabulate([0.5]))
reveal_type(RandomFourierMap().keep([0]))
reveal_type(load_model("model.npz"))
reveal_type(MAPS["spline"])
HomogeneousMap(ordre=2)
CodedSVC(los="hinge")
"""
NAMES = [name for name in kmaps.__all__ if name != "__version__"]
REVEALED = [
    "def (kernel: str | (def (*Any, **Any) -> Any) | kmaps.kernels.Kernel =, order: int =",
    '"numpy.ndarray[',
    '"kmaps.maps.random_fourier.RandomFourierMap"',
    '"kmaps.',
    '"type[kmaps.maps.capabilities.FeatureMap]"',
]


def test_every_name_that_type_checkers_see_is_there():
    assert len(NAMES) > 30
    assert all(hasattr(kmaps, name) for name in NAMES)


@pytest.mark.slow
def test_a_caller_is_checked(tmp_path):
    names = ", ".join(NAMES)
    (tmp_path / "caller.py").write_text(CALLER.format(names=names))
    package = Path(kmaps.__file__).parent
    assert (package / "py.typed").is_file()
    # An editable package is found by a hook of Python's, which mypy does not run.
    there = "" if "site-packages" in package.parts else str(package.parent)
    command = [sys.executable, "-m", "mypy", "--config-file=", "--cache-dir", tmp_path / "cache"]
    command += ["--follow-imports=silent", "--allow-redefinition", "caller.py"]
    environment = os.environ | {"MYPYPATH": there}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    told = [line for line in done.stdout.splitlines() if "Revealed type is" in line]
    assert len(told) == len(REVEALED), done.stdout + done.stderr
    for line, expected in zip(told, REVEALED, strict=True):
        assert expected in line
        assert 'Any"' not in line
    assert 'Unexpected keyword argument "ordre" for "HomogeneousMap"' in done.stdout
    assert 'Unexpected keyword argument "los" for "CodedSVC"' in done.stdout
