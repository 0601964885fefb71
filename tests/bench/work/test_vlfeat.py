"""VLFeat's own homogeneous map, where it is installed, against ours."""

from importlib.util import find_spec

import numpy as np
import pytest

from kmaps import HomogeneousMap
from kmaps.bench.work import vlfeat
from kmaps.bench.work.third_party import problems
from kmaps.bench.work.vlfeat import VLFeatMap
from kmaps.bench.work.vlfeat_table import VLFeatTable

NAME = "kmaps.bench.work.vlfeat.VLFeatMap"
installed = pytest.mark.skipif(find_spec("cysift") is None, reason="VLFeat is not installed")


def drawn(n_samples: int = 40, n_features: int = 30) -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.random((n_samples, n_features), dtype=np.float32)
    X[rng.random(X.shape) < 0.5] = 0
    return X


@installed
@pytest.mark.parametrize("kernel", ["chi2", "js", "intersection"])
@pytest.mark.parametrize("window", ["uniform", "rectangular"])
@pytest.mark.parametrize("gamma", [0.5, 1.0])
def test_is_our_map_but_for_its_interpolation(kernel, window, gamma):
    chosen = {"order": 3, "window": window, "gamma": gamma}
    ours = HomogeneousMap(kernel, **chosen).fit_transform(drawn())
    theirs = VLFeatMap(kernel, **chosen).fit_transform(drawn())
    assert theirs.dtype == np.float32
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=3e-4)
    # Between the nodes of its table it is linear; at them, as at powers of two, it is exact.
    node = np.float32([[0.5, 0.0625]])
    ours, theirs = (
        which(kernel, **chosen).fit_transform(node) for which in (HomogeneousMap, VLFeatMap)
    )
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=5e-6)


def test_how_to_install_it_is_told_before_anything_runs(monkeypatch):
    monkeypatch.setattr(vlfeat, "find_spec", lambda name: None)
    vlfeat._library.cache_clear()
    [told] = problems(NAME, {"order": 1}, "liblinear")
    assert "pip install --no-build-isolation --no-deps cyvlfeat==0.2" in told
    vlfeat._library.cache_clear()


@installed
@pytest.mark.parametrize("kernel", ["chi2", "js", "intersection"])
@pytest.mark.parametrize("order", [2, 3])
def test_its_table_is_known_without_its_code(kernel, order):
    X = np.float32([[0, 1e-7, 0.3, 1], [3, 61, 127, 255]])
    theirs, ours = (which(kernel, order).fit_transform(X) for which in (VLFeatMap, VLFeatTable))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-3)
