"""Without LIBLINEAR and LIBSVM: their estimators say what to install, everything else works."""

import sys

import numpy as np
import pytest
from click.testing import CliRunner

from kmaps import CodedSVC, HomogeneousMap, KernelSVC, LiblinearSVC, gram
from kmaps.cli.main import cli
from kmaps.errors import ConfigError

X, y = np.random.default_rng(0).random((40, 3)), np.arange(40) % 2


@pytest.fixture(autouse=True)
def hidden(monkeypatch):
    for name in ("liblinear", "liblinear.liblinear", "libsvm", "libsvm.svm"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize(
    ("estimator", "package"),
    [
        (LiblinearSVC(), "liblinear-official"),
        (KernelSVC("chi2", solver="libsvm"), "libsvm-official"),
    ],
)
def test_a_missing_solver_is_one_line(estimator, package):
    with pytest.raises(ConfigError) as caught:
        estimator.fit(X, y)
    assert str(caught.value).startswith(f"{package} is not installed")
    assert f"pip install {package}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_maps_kernels_and_models_on_codes_work():
    Z = HomogeneousMap("chi2", order=2).fit_transform(X)
    assert np.abs(Z @ Z.T - gram(X, kernel="chi2")).max() < 0.1
    assert CodedSVC("chi2", C=10).fit(X, y).score(X, y) > 0.5
    assert KernelSVC("exp-chi2", C=10).fit(X, y).score(X, y) > 0.5


def test_a_command_says_it_too(tmp_path):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    words = ["train", f"{tmp_path}/X.npy", f"{tmp_path}/m.npz", "--labels", f"{tmp_path}/y.npy"]
    trained = CliRunner().invoke(cli, words)
    assert trained.exit_code == 0, trained.output
    refused = CliRunner().invoke(
        cli, [*words[:2], f"{tmp_path}/e.npz", *words[3:], "--kernel", "exp-chi2"]
    )
    assert not (tmp_path / "e.npz").exists()
    assert refused.exit_code == 2
    assert "liblinear-official is not installed" in refused.output
