"""The spline map against SciPy's B-splines, truncated powers and the intersection kernel."""

import numpy as np
import pytest
from scipy.interpolate import BSpline
from scipy.sparse import csr_matrix

from kmaps.maps import SplineMap

degrees = pytest.mark.parametrize("degree", range(4))
penalties = pytest.mark.parametrize("penalty", range(4))
both_types = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def encoded(x, dtype=np.float64, **parameters):
    Z = SplineMap(**parameters).fit_transform(np.asarray(x, dtype).reshape(-1, 1))
    return Z.toarray() if parameters.get("penalty") == 0 else Z


def design(x, n_bins, degree):
    """SciPy's B-splines on the uniform bins between the smallest and the largest of x."""
    h = np.ptp(x) / n_bins
    knots = x.min() + h * np.arange(-degree, n_bins + degree + 1)
    splines = [
        BSpline.basis_element(knots[i : i + degree + 2], False) for i in range(n_bins + degree)
    ]
    values = np.nan_to_num(np.stack([spline(x) for spline in splines], axis=1))
    if degree == 0:  # SciPy's pieces are closed at both ends
        values = np.eye(n_bins)[np.minimum((x - x.min()) // h, n_bins - 1).astype(int)]
    return values


def difference(size, order):
    """D_s as it is defined, row by row."""
    first = np.eye(size)
    for i in range(1, size):
        first[i, i - 1] = -1
    return np.linalg.matrix_power(first, order)


X = np.r_[-0.7, 2.1, np.random.default_rng(0).uniform(-0.7, 2.1, 400)]


@degrees
@penalties
@pytest.mark.parametrize("n_bins", [1, 7])
def test_is_the_penalised_basis_of_scipy(degree, penalty, n_bins):
    ours = encoded(X, n_bins=n_bins, degree=degree, penalty=penalty)
    transposed = difference(n_bins + degree, penalty).T
    expected = np.linalg.solve(transposed, design(X, n_bins, degree).T).T * np.sqrt(2.8 / n_bins)
    assert ours.shape == (402, n_bins + degree)
    np.testing.assert_allclose(ours, expected, atol=1e-11 * expected.max())


@degrees
@both_types
def test_local_basis_is_a_partition_of_unity_in_csr(degree, dtype):
    values = np.random.default_rng(1).random((50, 3)).astype(dtype) * [1, 2, 4]
    values = values.astype(dtype)
    feature_map = SplineMap(n_bins=8, degree=degree, penalty=0)
    Z = feature_map.fit_transform(values)
    assert isinstance(Z, csr_matrix)
    assert Z.dtype == dtype
    assert Z.has_canonical_format
    assert (np.diff(Z.indptr) == 3 * (degree + 1)).all()
    np.testing.assert_allclose(
        Z.toarray().reshape(50, 3, 8 + degree).sum(axis=2),
        np.tile(np.sqrt(np.ptp(values, axis=0) / 8), (50, 1)),
        rtol=1e-6,
    )


def test_the_ends_of_bins_belong_to_the_same_splines_in_every_feature():
    """Whatever their ranges, whose parts are rounded."""
    ends = np.random.default_rng(2).random((2, 40)).cumsum(axis=0)
    for degree in (1, 2, 3):
        feature_map = SplineMap(n_bins=7, degree=degree).fit(ends)
        first, values, _ = feature_map.tabulate_local(np.linspace(*ends, 22, axis=1))
        np.testing.assert_array_equal(first, np.tile(np.minimum(np.arange(22) // 3, 6), (40, 1)))
        scale = np.sqrt(np.ptp(ends, axis=0) / 7)
        np.testing.assert_allclose(values.sum(axis=2), np.tile(scale, (22, 1)).T)


@pytest.mark.parametrize("low", [0.0, 2.0])
def test_linear_splines_tend_to_the_intersection_kernel(low):
    x = np.linspace(low, low + 1, 501)
    exact = np.minimum(x[:, None], x) - low
    widths = 1 / np.array([5, 10, 20, 40, 80])
    errors = []
    for width in widths:
        Z = encoded(x, n_bins=round(1 / width), degree=1, penalty=1)
        errors.append(np.abs(Z @ Z.T - exact).max())
    # One bin: the constant output. Inside a bin, the product of the fractions takes up to 1/4 off.
    np.testing.assert_allclose(errors, widths, rtol=1e-9)
    # Not so with other degrees and penalties.
    other = encoded(x, n_bins=80, degree=1, penalty=2)
    assert np.abs(other @ other.T - exact).max() > 10
