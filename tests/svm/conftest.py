"""Samples that the tests of several files train on."""

import numpy as np
import pytest
from sklearn.datasets import load_digits


@pytest.fixture(scope="module")
def histograms():
    """Rows that sum to one, of features with quite different ranges; two classes that overlap."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 240)
    shape = np.linspace(0.3, 3, 15)
    X = rng.gamma(np.where(y[:, None] == 1, shape, shape[::-1] + 0.3))
    X = X / X.sum(axis=1, keepdims=True)
    flipped = rng.random(240) < 0.1
    return X.astype(np.float32), np.where(flipped, 1 - y, y)


@pytest.fixture(scope="module")
def digits():
    """Four classes of the digits, in [0, 1]: 17 values, half of them zero."""
    X, y = load_digits(return_X_y=True)
    chosen = np.flatnonzero(y < 4)[:400]
    return (X[chosen] / 16).astype(np.float32), y[chosen]
