"""What no memory holds is refused before it is begun, in one line that says what would fit."""

from types import SimpleNamespace

import numpy as np
import pytest

import kmaps
from kmaps.checks import check_room
from kmaps.errors import ConfigError, InputError

X = np.random.default_rng(0).random((60, 5), np.float32)
Y = np.arange(60) % 6
MAPS = [
    kmaps.HomogeneousMap(),
    kmaps.SignCauchyMap(20),
    kmaps.RandomFourierMap(20),
    kmaps.GeneralizedRBFMap(n_frequencies=20),
    kmaps.LandmarkMap(n_landmarks=20, sigma=1.0),
]
LEARNERS = [
    kmaps.CodedSVC(multiclass="ovo"),
    kmaps.CodedSVC(penalty="l1"),
    kmaps.LiblinearSVC(),
    kmaps.GroupLassoSVC(multiclass="ovo"),
    kmaps.KernelSVC(),
    kmaps.RandomFeatureSVC(n_frequencies=20, sigma=None),
    kmaps.LandmarkSVC(n_landmarks=20, sigma=1.0),
]
TOO_MANY = [
    kmaps.HomogeneousMap(order=10**9),
    kmaps.IntersectionMap(n_bins=10**9),
    kmaps.SplineMap(n_bins=10**9),
    kmaps.FourierMap(degree=10**9),
    kmaps.LowDimMap(dim=10**9),
    kmaps.NystroemMap(dim=3, n_points=10**9),
]


@pytest.fixture
def free(monkeypatch):
    """A function that says how many bytes are free."""
    memory = SimpleNamespace(available=1 << 40)
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    monkeypatch.setattr("kmaps.checks._LITTLE", 0)
    return lambda n_bytes: setattr(memory, "available", n_bytes)


@pytest.mark.parametrize("feature_map", MAPS, ids=lambda one: type(one).__name__)
def test_outputs(feature_map, free):
    fitted = feature_map.fit(X)
    row_bytes = fitted.transform(X).nbytes // len(X)
    free(7 * row_bytes)
    with pytest.raises(InputError, match=r"^60 rows of .* 7 rows at a time fit$"):
        fitted.transform(X)
    assert len(fitted.transform(X[:7])) == 7
    free(row_bytes - 1)
    with pytest.raises(InputError, match=r"GiB are free"):
        fitted.transform(X[:2])


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_binary_problems(learner, free, monkeypatch):
    def scarce(*arguments):
        free(1000)
        check_room(*arguments)

    monkeypatch.setattr("kmaps.svm.learner.check_room", scarce)
    with pytest.raises(InputError) as caught:
        learner.fit(X, Y)
    said = str(caught.value)
    assert "binary problems of 60 rows, with " in said
    assert " fit: use fewer classes or rows" in said
    assert said.endswith(", or multiclass='ovr'") == (learner.multiclass == "ovo")
    assert "\n" not in said


@pytest.mark.parametrize("feature_map", TOO_MANY, ids=str)
def test_counts_beyond_use(feature_map):
    with pytest.raises(ConfigError, match=r"=10{9}: expected"):
        feature_map.fit(X)
