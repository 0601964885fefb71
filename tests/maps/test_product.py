"""Products of maps against the products of their kernels."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from kmaps.errors import ConfigError, InputError
from kmaps.kernels import KERNELS
from kmaps.maps import HomogeneousMap, ProductMap, SplineMap

X = np.random.default_rng(0).uniform(0.05, 1, (12, 3))


def test_inner_products_are_the_products_of_those_of_the_columns():
    maps = [HomogeneousMap("chi2", order=2), HomogeneousMap("js"), SplineMap(n_bins=3)]
    made = ProductMap(maps).fit(X)
    Z = made.transform(X)
    columns = [one.fit_transform(X[:, [i]]) for i, one in enumerate(maps)]
    columns = [np.asarray(c.toarray() if hasattr(c, "toarray") else c) for c in columns]
    assert Z.shape == (12, made.n_outputs_) == (12, 5 * 3 * columns[2].shape[1])
    expected = np.prod([c @ c.T for c in columns], axis=0)
    np.testing.assert_allclose(Z @ Z.T, expected, rtol=1e-12)
    first = np.einsum("a,b,c->abc", *(c[0] for c in columns)).ravel()
    np.testing.assert_allclose(Z[0], first, rtol=1e-12)  # the last column runs fastest


def test_the_product_kernel_is_approximated():
    Z = ProductMap(HomogeneousMap("chi2", order=3)).fit_transform(X)
    exact = KERNELS["chi2"](X[:, None], X).prod(axis=-1)
    assert np.abs(Z @ Z.T - exact).max() < 9e-4  # measured 3e-4
    single = ProductMap(HomogeneousMap("chi2", order=1)).fit_transform(X)
    assert np.abs(single @ single.T - exact).max() > 5e-3


def test_the_outputs_are_counted_before_they_are_built():
    message = (
        r"^a product of 11 × 11 × 11 outputs has 1,331, more than max_outputs=1000; use smaller "
        "maps or fewer columns$"
    )
    with pytest.raises(ConfigError, match=message):
        ProductMap(HomogeneousMap(order=5), max_outputs=1000).fit(X)
    with pytest.raises(ConfigError, match=r"^a product of 3 × 3 × 3 × 3 × … outputs has 3,486,7"):
        ProductMap(HomogeneousMap()).fit(np.ones((2, 20)))
    assert ProductMap(HomogeneousMap(), max_outputs=27).fit(X).n_outputs_ == 27


def test_other_columns_than_maps_are_refused():
    with pytest.raises(InputError, match=r"^X has 3 columns for 2 maps: expected as many"):
        ProductMap([HomogeneousMap(), HomogeneousMap()]).fit(X)
    with pytest.raises(InputError, match=r"pass a dense array \(X\.toarray\(\)\)"):
        ProductMap(HomogeneousMap()).fit(csr_array(X))
    with pytest.raises(ConfigError, match="max_outputs=0: expected a whole number of at least 1"):
        ProductMap(HomogeneousMap(), max_outputs=0).fit(X)
