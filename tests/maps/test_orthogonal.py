"""Fourier and Hermite features: their formulas, and derivatives that are orthonormal."""

from math import factorial, sqrt

import numpy as np
import pytest

from kmaps.maps import FourierMap, HermiteMap

penalties = pytest.mark.parametrize("penalty", range(4))


def on_range(feature_map, t):
    """Encode positions t in [-1, 1] of the range, which here goes from 2 to 8."""
    return feature_map.fit([[2.0], [8.0]]).transform(5 + 3 * np.asarray(t).reshape(-1, 1))


@penalties
def test_fourier_formula(penalty):
    t = np.array([-0.9, 0.0, 0.3])
    Z = on_range(FourierMap(degree=3, penalty=penalty), t)
    expected = [
        [np.cos(np.pi * t), np.sin(np.pi * t)],
        [np.cos(2 * np.pi * t) / 2**penalty, np.sin(2 * np.pi * t) / 2**penalty],
        [np.cos(3 * np.pi * t) / 3**penalty, np.sin(3 * np.pi * t) / 3**penalty],
    ]
    np.testing.assert_allclose(Z, np.reshape(expected, (6, 3)).T, atol=1e-12)


HERMITE = [lambda t: t, lambda t: t**2 - 1, lambda t: t**3 - 3 * t, lambda t: t**4 - 6 * t**2 + 3]
FACTORS = {
    0: [1, 1 / sqrt(2), 1 / sqrt(6), 1 / sqrt(24)],
    1: [1 / sqrt(j * factorial(j)) for j in (1, 2, 3, 4)],
    2: [1, *(1 / sqrt(j * (j - 1) * factorial(j)) for j in (2, 3, 4))],
}
"""The factors that the paper's table has for s = 1 and 2, and for s = 0 the unit norm."""


@pytest.mark.parametrize("penalty", FACTORS)
def test_hermite_formula(penalty):
    t = np.array([-1.0, -0.3, 0.0, 0.8])
    Z = on_range(HermiteMap(degree=4, penalty=penalty), t)
    expected = [
        factor * polynomial(t) for factor, polynomial in zip(FACTORS[penalty], HERMITE, strict=True)
    ]
    np.testing.assert_allclose(Z, np.transpose(expected), atol=1e-12)


@penalties
def test_derivatives_of_fourier_features_are_orthonormal(penalty):
    """Differentiated by the discrete Fourier transform, integrated by the trapezoidal rule."""
    degree, n = 5, 64
    t = 2 * np.arange(n) / n - 1
    frequencies = np.fft.fftfreq(n, 1 / n)[:, None]
    spectrum = np.fft.fft(on_range(FourierMap(degree, penalty), t), axis=0)
    derivative = np.fft.ifft((1j * frequencies) ** penalty * spectrum, axis=0).real
    gram = derivative.T @ derivative * (2 * np.pi / n) / np.pi
    np.testing.assert_allclose(gram, np.eye(2 * degree), atol=1e-10)
