"""Maji and Berg's maps by hand, against min(x, y), and in their sparse form."""

import numpy as np
import pytest
from scipy.linalg import cholesky

from kmaps.codes import LookupTable
from kmaps.maps import IntersectionMap

RNG = np.random.default_rng(0)
X = RNG.random((60, 3)) * [1, 7, 0.01]
X[RNG.random(X.shape) < 0.3] = 0


def by_hand(x, n_bins, piece, high):
    u = n_bins * x / high
    outputs = np.zeros(n_bins)
    if piece == "constant":
        outputs[: int(np.floor(u + 0.5))] = 1
    else:
        outputs[: int(u)] = 1
        if int(u) < n_bins:
            outputs[int(u)] = u - int(u)
    return outputs * np.sqrt(high / n_bins)


@pytest.mark.parametrize("piece", ["linear", "constant"])
@pytest.mark.parametrize("n_bins", [1, 4, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outputs_are_those_of_the_paper(piece, n_bins, dtype):
    values = X.astype(dtype)
    Z = IntersectionMap(n_bins, piece).fit_transform(values)
    assert Z.dtype == dtype
    for j, high in enumerate(values.max(axis=0)):
        for i, x in enumerate(values[:, j]):
            own = Z[i, j * n_bins : (j + 1) * n_bins]
            expected = by_hand(float(x), n_bins, piece, float(high))
            np.testing.assert_allclose(own, expected, atol=1e-5 if dtype == np.float32 else 1e-14)


@pytest.mark.parametrize(("piece", "order"), [("linear", 1), ("constant", 1)])
def test_tends_to_the_minimum_with_the_bin_width(piece, order):
    x = np.linspace(0, 1, 403)
    errors = []
    for n_bins in (5, 10, 20, 40):
        Z = IntersectionMap(n_bins, piece).fit_transform(x[:, None])
        errors.append(np.abs(Z @ Z.T - np.minimum(x[:, None], x)).max())
    rate = -np.polyfit(np.log([5, 10, 20, 40]), np.log(errors), 1)[0]
    assert rate == pytest.approx(order, abs=0.1)
    # Within a bin of width h both values miss h/4 (linear, both halfway) or h/2 (constant).
    np.testing.assert_allclose(
        errors, {"linear": 1 / 4, "constant": 1 / 2}[piece] / np.array([5, 10, 20, 40]), rtol=0.05
    )


def ridge(features, y, penalty):
    """Return the predictions of least squares with weights' penalty."""
    weights = np.linalg.solve(features.T @ features + penalty, features.T @ y)
    return features @ weights


def test_sparse_form_with_its_regularizer_is_the_unary_form():
    """The same problem, hence the same function; and by Cholesky the same inner products."""
    n_bins, y = 7, np.sign(np.random.default_rng(1).normal(size=len(X)))
    unary = IntersectionMap(n_bins).fit_transform(X)
    feature_map = IntersectionMap(n_bins, sparse=True).fit(X)
    hats = feature_map.transform(X)
    H = np.kron(np.eye(3), feature_map.regularizer_)
    plain = ridge(unary, y, np.eye(21))
    np.testing.assert_allclose(ridge(hats.toarray(), y, H), plain, atol=1e-10)
    assert np.abs(ridge(hats.toarray(), y, np.eye(21)) - plain).max() > 0.01  # H matters

    upper = cholesky(H)  # H = upperᵀ upper
    changed = np.linalg.solve(upper.T, hats.toarray().T).T
    np.testing.assert_allclose(changed @ changed.T, unary @ unary.T, atol=1e-12)
    differences = np.sqrt(n_bins) * (np.eye(n_bins) - np.eye(n_bins, k=-1))
    np.testing.assert_allclose(feature_map.regularizer_, differences.T @ differences, atol=1e-12)
    changed = np.linalg.solve(np.kron(np.eye(3), differences).T, hats.toarray().T).T
    np.testing.assert_allclose(changed, unary, atol=1e-12)


def test_constant_pieces_are_stored_as_codes():
    fitted = IntersectionMap(20, "constant").fit(X)
    assert fitted.code_bits_ == 5
    codes = fitted.to_codes(X)
    high = X.max(axis=0)
    np.testing.assert_array_equal(codes, np.floor(20 * X / high + 0.5))
    np.testing.assert_array_equal(LookupTable(fitted.table_).take(codes), fitted.transform(X))
    assert IntersectionMap(20, "constant", upper=7.0).fit(X).table_.shape == (1, 21, 20)
    assert IntersectionMap().fit(X).code_bits_ is None
    assert not hasattr(IntersectionMap(), "to_codes")
    # The table is a formula; only the ranges are learnt.
    assert fitted.table_bytes_ == IntersectionMap().fit(X).table_bytes_ < 4 * 3 * 4
