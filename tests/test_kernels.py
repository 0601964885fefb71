"""The scalar kernels against their definitions, their spectra and their metrics."""

import numpy as np
import pytest
from scipy.integrate import quad

from kmaps.errors import ConfigError
from kmaps.kernels import EXP_KERNELS, KERNELS, get_kernel
from tests.oracles import gram as oracle

VALUES = [0.0, 1e-3, 0.25, 1.0, 3.0, 255.0]
WITH_DENSITY = ["chi2", "intersection", "js"]


def test_names():
    assert list(KERNELS) == ["chi2", "intersection", "js", "hellinger"]
    assert {f"exp-{name}": name for name in KERNELS} == EXP_KERNELS
    assert all(kernel.name == name for name, kernel in KERNELS.items())


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("name", KERNELS)
def test_value_is_the_definition(name, gamma):
    points = np.array([*VALUES, *(-v for v in VALUES[1:])])
    expected = [[oracle.kernel_value(name, x, y, gamma) for y in points] for x in points]
    # Measured: 9e-16.
    np.testing.assert_allclose(
        KERNELS[name](points[:, None], points, gamma), expected, rtol=2.5e-15, atol=0
    )


@pytest.mark.parametrize("name", KERNELS)
def test_far_apart_values_neither_overflow_nor_vanish(name):
    tiny, huge = 1e-300, 1e300
    with np.errstate(all="raise", under="ignore"):
        got = KERNELS[name]([tiny, huge, tiny, 0.0], [tiny, huge, huge, huge])
    assert got[0] == pytest.approx(tiny, rel=1e-12, abs=0)
    assert got[1] == pytest.approx(huge, rel=1e-12)
    between = {"chi2": 2 * tiny, "intersection": tiny, "hellinger": 1.0}
    # js: y/2·log2(1 + x/y) → x / (2 ln 2), and x/2·log2(y/x).
    between["js"] = tiny / 2 * (600 * np.log2(10) + 1 / np.log(2))
    assert got[2] == pytest.approx(between[name], rel=1e-10, abs=0)
    assert got[3] == 0


@pytest.mark.parametrize("name", KERNELS)
def test_signature_is_the_kernel_on_a_ratio(name):
    lam = np.linspace(-20, 20, 401)
    signature = KERNELS[name].signature(lam)
    pairs = zip(np.exp(-lam / 2), np.exp(lam / 2), strict=True)
    expected = [oracle.kernel_value(name, x, y) for x, y in pairs]
    np.testing.assert_allclose(signature, expected, rtol=1e-15)  # measured: 4e-16
    assert np.all(signature == KERNELS[name].signature(-lam))
    assert KERNELS[name].signature(0.0) == 1


@pytest.mark.parametrize("name", WITH_DENSITY)
@pytest.mark.parametrize("lam", [0.3, 1.0, 2.7, 7.0])
def test_signature_is_the_fourier_integral_of_the_spectrum(name, lam):
    kernel = KERNELS[name]
    # Twice the half line: both functions are even. Measured: 6e-14, for the intersection kernel,
    # whose spectrum falls like 1/ω² only.
    integral, _ = quad(kernel.spectrum, 0, np.inf, weight="cos", wvar=lam, epsabs=1e-11)
    assert 2 * integral == pytest.approx(float(kernel.signature(lam)), abs=2e-13)


def test_hellinger_spectrum_is_a_dirac():
    assert KERNELS["hellinger"].spectrum([-1.0, 0.0, 0.1]).tolist() == [0, np.inf, 0]


def test_unknown_name():
    message = r"unknown kernel 'intersect', did you mean 'intersection'\? \(additive kernels: "
    with pytest.raises(ConfigError, match=message + "chi2, intersection, js, hellinger"):
        get_kernel("intersect")
    with pytest.raises(ConfigError, match="unknown kernel None"):
        get_kernel(None)
