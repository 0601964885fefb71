"""The homogeneous map as Nyström's approximation on one period of its kernel."""

import numpy as np
import pytest

from kmaps.bench.work.one_period import nystroem_view
from kmaps.kernels import KERNELS
from kmaps.maps import discrete_spectrum


@pytest.mark.parametrize("window", ["rectangular", "uniform"])
@pytest.mark.parametrize("kernel", ["chi2", "intersection", "js"])
def test_nystroem_gives_the_largest_harmonics(kernel, window):
    """The rectangular window's spectrum does not fall throughout: harmonics come by their size."""
    period = 11.0
    seen = nystroem_view(kernel, window, period, 200)
    spectrum = discrete_spectrum(KERNELS[kernel], 8, period, window)
    outputs = np.r_[spectrum[0], np.repeat(spectrum[1:], 2)]
    harmonics = np.r_[0, np.repeat(np.arange(1, 9), 2)]
    largest = np.argsort(-outputs, kind="stable")[:5]
    # The intersection kernel's slow spectrum has aliases: measured 7e-4 of the fifth output.
    np.testing.assert_allclose(seen.eigenvalues[:5], outputs[largest], rtol=2e-3)
    np.testing.assert_allclose(np.mean(seen.functions**2, axis=0), 1)
    for i, harmonic in enumerate(harmonics[largest]):
        wave = np.exp(2j * np.pi * harmonic * seen.lam / period)
        share = np.abs(np.mean(wave * seen.functions[:, i])) ** 2 * (2 if harmonic else 1)
        assert share == pytest.approx(1, abs=1e-9)  # all of it is that harmonic
