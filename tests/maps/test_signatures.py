"""Homogeneous kernels of one's own signature, against the kernels whose signatures they have."""

import numpy as np
import pytest

from kmaps.errors import ConfigError
from kmaps.kernels import KERNELS, STATIONARY
from kmaps.maps import HomogeneousMap
from kmaps.maps.lowdim.target import Problem
from kmaps.maps.signatures import (
    default_period,
    log_kernel,
    signature_kernel,
)

X = np.geomspace(0.01, 1, 40)[:, None]


def log_gaussian(lam):
    return np.exp(-np.square(lam) / 2)


@pytest.mark.parametrize("window", ["rectangular", "uniform"])
@pytest.mark.parametrize(("sigma", "name"), [(2, "sech"), (2, "laplace")])
def test_own_signatures_give_the_maps_of_the_kernels_that_they_are_of(sigma, name, window):
    """Lemma 1: chi2 is sech λ/2, intersection the Laplacian exp(-|λ|/2)."""
    named = {"sech": "chi2", "laplace": "intersection"}[name]
    signature = STATIONARY[name](sigma)
    period = default_period(named, 2, window)
    ours = HomogeneousMap(signature, 2, window, period).fit(X)
    theirs = HomogeneousMap(named, 2, window, period).fit(X)
    # The trapezoidal rule at the cusp of the Laplacian: measured 1.3e-6.
    np.testing.assert_allclose(ours.spectrum_, theirs.spectrum_, atol=4e-6)
    assert ours.error_bound() == pytest.approx(theirs.error_bound(), rel=1e-4)
    x, y = X, X.T
    np.testing.assert_allclose(signature_kernel(signature)(x, y), KERNELS[named](x, y), rtol=1e-12)


def test_log_kernels_have_the_signatures_of_stationary_ones():
    mapped = HomogeneousMap(log_gaussian).fit_transform(X)
    np.testing.assert_array_equal(HomogeneousMap("log-rbf").fit_transform(X), mapped)
    own = Problem("log-sech", ratio=9.0).signature, Problem(log_kernel("log-sech")).signature
    np.testing.assert_array_equal(own[0](X), own[1](X))
    with pytest.raises(ConfigError, match="unknown kernel 'rbf'"):  # a stationary one
        HomogeneousMap("rbf").fit(X)


@pytest.mark.parametrize(
    ("signature", "window", "message"),
    [
        (lambda lam: np.exp(-lam), "rectangular", "the signature is not even"),
        (lambda lam: np.square(lam), "rectangular", "the signature is 0 at 0"),
        (lambda lam: np.cos(lam), "uniform", "does not vanish for large λ.*window='rectangular'"),
        (
            lambda lam: np.maximum(1 - np.square(lam), 0),
            "uniform",
            "no kernel: its spectrum is negative, .* use a positive definite function",
        ),
    ],
)
def test_what_is_no_signature_is_refused(signature, window, message):
    with pytest.raises(ConfigError, match=message):
        HomogeneousMap(signature, order=3, window=window, period=4.0).fit(X)
