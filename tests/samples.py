"""Samples that the tests of kernel matrices draw."""

import numpy as np


def histograms(n, d, zeros=0.4, seed=0, dtype=np.float32):
    """Draw values over three decades, a part of them zero."""
    rng = np.random.default_rng(seed)
    values = 10 ** rng.uniform(-3, 0, (n, d)) * (rng.random((n, d)) >= zeros)
    return values.astype(dtype)
