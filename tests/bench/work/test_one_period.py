"""The homogeneous map as Nyström's approximation on one period of its kernel."""

import numpy as np
import pytest

from kmaps.bench.work.one_period import nystroem_view
from kmaps.kernels import KERNELS
from kmaps.maps.homogeneous import default_period, discrete_spectrum


@pytest.mark.parametrize("window", ["rectangular", "uniform"])
@pytest.mark.parametrize("kernel", ["chi2", "intersection", "js"])
def test_nystroem_gives_the_spectrum_and_the_harmonics(kernel, window):
    period, n = default_period(kernel, 2, window), 2
    seen = nystroem_view(kernel, window, period, 400)
    spectrum = discrete_spectrum(KERNELS[kernel], n, period, window)
    expected = np.r_[spectrum[0], np.repeat(spectrum[1:], 2)]
    # Aliases of the intersection kernel's slow spectrum: measured 4e-4 of the third.
    np.testing.assert_allclose(seen.eigenvalues[: 2 * n + 1], expected, rtol=1e-3)
    assert np.allclose(np.mean(seen.functions**2, axis=0), 1)
    for i in range(2 * n + 1):
        wave = np.exp(2j * np.pi * ((i + 1) // 2) * seen.lam / period)
        share = np.abs(np.mean(wave * seen.functions[:, i])) ** 2 * (2 if i else 1)
        assert share == pytest.approx(1, abs=1e-9)  # all of it is that harmonic
