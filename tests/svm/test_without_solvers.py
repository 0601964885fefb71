"""Without LIBLINEAR and LIBSVM: their estimators say what to install, everything else works."""

import sys

import numpy as np
import pytest

from kmaps import CodedSVC, HomogeneousMap, KernelSVC, LiblinearSVC, gram
from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.load import described
from kmaps.bench.run.environment import check_solvers
from kmaps.errors import ConfigError
from kmaps.models import LandmarkSVC, RandomFeatureSVC

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
    assert str(caught.value).startswith(f"this estimator needs {package}")
    assert f"pip install {package}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_maps_kernels_and_models_on_codes_work():
    Z = HomogeneousMap("chi2", order=2).fit_transform(X)
    assert np.abs(Z @ Z.T - gram(X, kernel="chi2")).max() < 0.1
    for model in CodedSVC, KernelSVC, LandmarkSVC, RandomFeatureSVC:
        assert model(C=1000.0).fit(X, y).score(X, y) > 0.5


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("quickstart", {"liblinear", "libsvm"}),
        ("lac-figure3-toy", {"liblinear"}),
        ("ldefm-table1", set()),
        ("genrbf-group-hinge", set()),
        ("genrbf-figure3-tradeoff", {"liblinear", "libsvm"}),
        ("genrbf-voc2007-tradeoff", {"liblinear", "libsvm"}),
    ],
)
def test_cells_are_refused_for_the_solvers_that_they_need(name, needed):
    kind = KINDS[described(name).kind]
    cells = kind.cells(described(name))
    assert kind.solvers(cells) == needed
    without = [cell for cell in cells if not kind.solvers([cell])]
    if without:
        check_solvers(kind, without)
