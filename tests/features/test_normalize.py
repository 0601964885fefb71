"""Normalisations of rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import normalize

from kmaps.errors import ConfigError
from kmaps.features import get_normalization


@pytest.fixture
def X():
    X = np.random.default_rng(0).random((20, 12), np.float32)
    X[X < 0.4] = 0
    X[[0, 3, 4, 19]] = 0  # first, last and two neighbours: the hard cases of a CSR matrix
    X[7] *= -1
    return X


@pytest.mark.parametrize(
    ("name", "norm"), [("l1", "l1"), ("l2", "l2"), ("gamma=1", "l1"), ("gamma=2.0", "l2")]
)
def test_named_ones_are_scikit_learns(X, name, norm):
    expected = normalize(X, norm)
    np.testing.assert_allclose(get_normalization(name)(X.copy()), expected, rtol=1e-6)
    csr = get_normalization(name)(sparse.csr_array(X))
    assert csr.dtype == np.float32
    np.testing.assert_allclose(csr.toarray(), expected, rtol=1e-6)


@pytest.mark.parametrize("gamma", [0.5, 1, 2, 3.25])
@pytest.mark.parametrize("make", [np.copy, sparse.csr_array])
def test_gamma_makes_that_norm_one(X, gamma, make):
    normal = get_normalization(f"gamma={gamma}")(make(X))
    normal = normal.toarray() if sparse.issparse(normal) else normal
    norms = (np.abs(normal.astype(float)) ** gamma).sum(axis=1)
    np.testing.assert_allclose(norms, np.any(X, axis=1), rtol=2e-6)
    np.testing.assert_array_equal(np.sign(normal), np.sign(X))


def test_none_changes_nothing(X):
    np.testing.assert_array_equal(get_normalization("none")(X.copy()), X)


@pytest.mark.parametrize("name", ["l3", "gamma", "gamma=0", "gamma=-1", "gamma=x", "gamma=1e3", ""])
def test_unknown_ones(name):
    with pytest.raises(ConfigError, match=f"unknown normalisation '{name}'.*gamma=NUMBER"):
        get_normalization(name)
