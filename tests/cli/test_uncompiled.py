"""NUMBA_DISABLE_JIT: one line that names the variable, in place of a failure in a loop."""

import numpy as np
import pytest
from commands import kmaps_with


@pytest.fixture(scope="module")
def kmaps(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uncompiled")
    np.save(folder / "X.npy", np.eye(20)[:, :3])
    np.save(folder / "y.npy", np.arange(20) % 2)
    with kmaps_with(folder, {"NUMBA_DISABLE_JIT": "1"}) as run:
        yield run


@pytest.mark.parametrize(
    "command",
    [
        "train X.npy m.npz --labels y.npy",
        "train X.npy m.npz --labels y.npy --kernel exp-chi2",
        "encode X.npy Z.npy",
        "encode X.npy Z.npy --map anchor",
        "error --map homogeneous",
        "warmup",
        "run quickstart --only exact",
        "recommend X.npy --labels y.npy",
        "features digits --features hog-pyramid",
    ],
)
def test_commands_name_the_variable(kmaps, command):
    done = kmaps(*command.split(), code=2)
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert "NUMBA_DISABLE_JIT" in done.stderr.splitlines()[-1]


def test_the_check_of_the_installation_names_it(kmaps):
    assert "! numba" in kmaps("info", "--check", code=2).stdout


def test_no_threads_of_numba_are_one_line_too(tmp_path):
    np.save(tmp_path / "X.npy", np.eye(3))
    with kmaps_with(tmp_path, {"NUMBA_NUM_THREADS": "0"}) as run:
        assert run("encode", "X.npy", "Z.npy", code=2).stderr.startswith(
            "error: NUMBA_NUM_THREADS="
        )
        assert "NUMBA_NUM_THREADS=0" in run("info", "--check", code=2).stdout
