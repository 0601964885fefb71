"""The homogeneous kernel map against the exact kernel, the paper's constants, other libraries."""

from functools import partial
from typing import get_args

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.kernel_approximation import AdditiveChi2Sampler

from kmaps.kernels import KERNELS
from kmaps.maps import HomogeneousMap
from kmaps.maps.parameters import Window
from kmaps.maps.signatures import DEFAULT_PERIODS, default_period, discrete_spectrum, optimal_period


def largest_error(kernel, x, **parameters):
    encoded = HomogeneousMap(kernel, **parameters).fit_transform(x[:, None])
    return np.abs(encoded @ encoded.T - KERNELS[kernel](x[:, None], x)).max()


# The largest |k̂ - k| on the grid below, as measured, by kernel, window and step of the orders:
# 1, 2, 3 or 1, 3, 5. (The published js periods of the rectangular window suit odd orders only.)
GRID = np.r_[0, np.geomspace(1e-4, 1, 120)]
MEASURED = {
    ("chi2", "rectangular", 1): (0.0285, 0.0130, 0.00594),
    ("chi2", "uniform", 1): (0.0345, 0.0129, 0.00581),
    ("js", "rectangular", 2): (0.0107, 0.000873, 0.000107),
    ("js", "uniform", 1): (0.0197, 0.00646, 0.0028),
    ("intersection", "rectangular", 1): (0.145, 0.118, 0.0873),
    ("intersection", "uniform", 1): (0.158, 0.121, 0.0995),
}


@pytest.mark.parametrize(("kernel", "window", "step"), MEASURED)
def test_error_is_that_of_the_order(kernel, window, step):
    orders = 1, 1 + step, 1 + 2 * step
    errors = [
        largest_error(kernel, GRID, order=order, window=window, period="published")
        for order in orders
    ]
    bounds = 1.1 * np.array(MEASURED[kernel, window, step])
    assert (errors < bounds).all()
    assert (np.array(errors[:2]) > bounds[1:]).all()  # the order before would fail


def test_agrees_with_scikit_learn_at_its_interval():
    X = np.random.default_rng(0).random((20, 5))
    interval = 0.7
    theirs = AdditiveChi2Sampler(sample_steps=3, sample_interval=interval).fit_transform(X)
    ours = HomogeneousMap(order=2, window="uniform", period=2 * np.pi / interval).fit_transform(X)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, rtol=1e-9)


@pytest.mark.parametrize(
    ("kernel", "period", "order"),
    [*((kernel, default_period(kernel, 3), 3) for kernel in KERNELS), ("chi2", 10.0, 12)],
)
def test_rectangular_spectrum_is_the_integral_cut_at_zero(kernel, period, order):
    """The window is not positive definite: the chi2 signature cut at ±5 has negative harmonics."""
    lam = np.linspace(-period / 2, period / 2, 200_001)
    signature = KERNELS[kernel].signature(lam)
    cosines = np.cos(2 * np.pi * np.arange(order + 1)[:, None] * lam / period)
    expected = np.trapezoid(signature * cosines, lam) / period
    assert (expected < -1e-5).any() == (order == 12)
    spectrum = discrete_spectrum(KERNELS[kernel], order, period, "rectangular")
    np.testing.assert_allclose(spectrum, np.maximum(expected, 0), atol=1e-8)


@pytest.mark.parametrize(("window", "kernel"), DEFAULT_PERIODS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_published_periods_are_near_the_best(window, kernel, order):
    published, best = default_period(kernel, order, window), optimal_period(kernel, order, window)
    assert published == pytest.approx(best, rel=0.3)  # measured: 0.88 to 1.28 times
    error = partial(largest_error, kernel, GRID, order=order, window=window)
    assert error(period=published) < 2 * error(period=best)  # measured: 1.9 times at most


@pytest.mark.parametrize(
    ("kernel", "window"), [("chi2", "rectangular"), ("js", "uniform"), ("intersection", "uniform")]
)
@pytest.mark.parametrize("order", [1, 3])
def test_the_optimal_period_is_the_best_on_the_range_of_the_data(kernel, order, window):
    levels = np.r_[0, np.geomspace(3, 765, 60)]
    error = partial(largest_error, kernel, levels, order=order, window=window)
    best = error(period="optimal")
    assert all(best < 1.03 * error(period=period) for period in np.arange(2.0, 25.0, 0.5))
    assert best < 0.999 * error(period=None)
    fitted = HomogeneousMap(kernel, order, window, "optimal").fit(-csr_array(levels[:, None]))
    assert fitted.period_ == optimal_period(kernel, order, window, 255.0)


@pytest.mark.parametrize("window", get_args(Window))
@pytest.mark.parametrize("kernel", ["chi2", "js", "intersection"])
@pytest.mark.parametrize("gamma", [1.0, 0.5])
def test_error_bound_holds_for_every_pair(kernel, window, gamma):
    rng = np.random.default_rng(1)
    X = rng.gamma(0.1, size=(60, 50)) + 1e-12
    X /= (X**gamma).sum(axis=1, keepdims=True) ** (1 / gamma)
    exact = KERNELS[kernel](X[:, None], X, gamma).sum(-1)
    bounds = []
    for order in (1, 2, 4):
        feature_map = HomogeneousMap(kernel, order, window, gamma=gamma).fit(X)
        encoded = feature_map.transform(X)
        bounds.append(feature_map.error_bound())
        assert np.abs(encoded @ encoded.T - exact).max() <= bounds[-1]
    assert bounds[2] < bounds[0]


WIDE = np.exp(np.random.default_rng(2).uniform(-60, 60, (4000, 1)))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("order", [1, 2, 3, 10, 70])
def test_float32_table_follows_the_curve(kernel, order):
    x = WIDE.astype(np.float32)
    feature_map = HomogeneousMap(kernel, order).fit(x)
    exact = feature_map.transform(x.astype(float))
    fast = feature_map.transform(x)
    assert fast.dtype == np.float32
    error = np.abs(fast - exact) / np.sqrt(x)
    assert error.max() <= 1e-5  # measured 5e-6 at most
