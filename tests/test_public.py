"""The public names: docstrings that say when to use which, types, and no masked arrays."""

import inspect
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import kmaps
from kmaps.codes import LookupTable
from kmaps.errors import InputError
from kmaps.gram_matrix import mean_squared_distance
from kmaps.models import choose_width
from kmaps.svm import code_rows, code_samples

CALLER = """
from kmaps import {names}
from kmaps.maps import MAPS

reveal_type(HomogeneousMap)
reveal_type(HomogeneousMap(order=3).tabulate([0.5]))
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


@pytest.mark.parametrize("name", [name for name in NAMES if isinstance(getattr(kmaps, name), type)])
def test_help_begins_with_no_private_types(name):
    signature = str(inspect.signature(getattr(kmaps, name)))
    assert "numpy._typing" not in signature
    assert "_ScalarT" not in signature.partition(",")[0]


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


X = np.random.default_rng(0).random((12, 4))
HIDDEN = np.ma.masked_array(X, mask=X < 0.2)
ESTIMATORS = [getattr(kmaps, key) for key in kmaps.__all__ if hasattr(getattr(kmaps, key), "fit")]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_masks_are_refused(estimator):
    given = [kmaps.HomogeneousMap()] if estimator is kmaps.ProductMap else []
    with pytest.raises(InputError, match="masked array"):
        estimator(*given).fit(HIDDEN, np.arange(12) % 2)


def source(samples, drawn=X):
    return SimpleNamespace(blocks=lambda: [X, samples], sample=lambda: drawn)


FUNCTIONS = {
    "gram": lambda: kmaps.gram(HIDDEN),
    "gram with others": lambda: kmaps.gram(X, HIDDEN, kernel="linear"),
    "distances": lambda: kmaps.squared_distance(X, HIDDEN, kernel="js"),
    "mean distance": lambda: mean_squared_distance(HIDDEN, kernel="rbf"),
    "codes": lambda: code_samples("chi2", HIDDEN),
    "codes of blocks": lambda: code_rows("chi2", lambda: [X, HIDDEN]),
    "codes of others": lambda: code_samples("chi2", X).encode(HIDDEN),
    "prepared codes": lambda: kmaps.CodedSVC().prepare_rows(source(HIDDEN)),
    "prepared frequencies": lambda: kmaps.RandomFeatureSVC(sigma=None).prepare_rows(source(HIDDEN)),
    "prepared sample": lambda: kmaps.RandomFeatureSVC(sigma=None).prepare_rows(source(X, HIDDEN)),
    "prepared landmarks": lambda: kmaps.LandmarkSVC(sigma=1.0).prepare_rows(source(HIDDEN)),
    "width": lambda: choose_width(kmaps.LandmarkSVC(), HIDDEN, np.arange(12) % 2),
    "table": lambda: LookupTable(np.eye(3)).take(np.ma.masked_equal(np.eye(3, dtype="u1"), 1)),
}


@pytest.mark.parametrize("call", FUNCTIONS)
def test_functions_refuse_masks(call):
    with pytest.raises(InputError, match="masked array"):
        FUNCTIONS[call]()
