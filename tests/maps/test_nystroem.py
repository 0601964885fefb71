"""addKPCA against numpy's best low rank, scikit-learn's Nyström, and its own float64 curve."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.kernel_approximation import Nystroem

from kmaps.kernels import KERNELS
from kmaps.maps import NystroemMap
from tests.oracles.kernels import gauss

RNG = np.random.default_rng(0)
X = RNG.random((80, 3)) ** 2 * [1, 0.01, 30]


@pytest.mark.parametrize("kernel", [*KERNELS, gauss])
@pytest.mark.parametrize("dim", [1, 3, pytest.param(6, marks=pytest.mark.slow)])
def test_best_of_its_rank_on_its_own_points(kernel, dim):
    """Eckart and Young: the truncated singular value decomposition, by numpy."""
    feature_map = NystroemMap(kernel, dim, n_points=80).fit(X)
    function = KERNELS.get(kernel, kernel)
    for j in range(3):
        z = feature_map.points_[j]
        np.testing.assert_array_equal(z, np.sort(X[:, j]))  # all, being no more than n_points
        matrix = function(z[:, None], z)
        left, singular, right = np.linalg.svd(matrix)
        best = left[:, :dim] * singular[:dim] @ right[:dim]
        outputs = feature_map.tabulate(feature_map.points_)[j]
        # Measured 2e-15 of the largest singular value.
        np.testing.assert_allclose(outputs @ outputs.T, best, atol=1e-14 * singular[0])


def test_agrees_with_scikit_learn_at_full_rank():
    x = X[:, [0]]

    def chi2(a, b):
        return float(KERNELS["chi2"](a[0], b[0]))

    theirs = Nystroem(chi2, n_components=12, random_state=0).fit(x)
    feature_map = NystroemMap("chi2", dim=12, n_points=12).fit(theirs.components_)
    inside = x[(x >= theirs.components_.min()) & (x <= theirs.components_.max())][:, None]
    a, b = feature_map.transform(inside), theirs.transform(inside)
    np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-5)


def test_serves_the_dynamic_range_it_was_fitted_on():
    """hkm Fig. 2: relative to the range of the data, the error grows as that shrinks."""
    feature_map = NystroemMap("chi2", 3).fit(np.random.default_rng(1).random((100, 1)))
    errors = []
    for scale in (1, 0.1, 0.01):
        x = np.linspace(feature_map.low_[0], scale, 100)[:, None]
        x = np.clip(x, feature_map.low_, feature_map.high_)
        Z = feature_map.transform(x)
        errors.append(np.abs(Z @ Z.T - KERNELS["chi2"](x, x.T)).max() / scale)
    assert errors[0] < 0.05
    assert errors[2] > 5 * errors[0]


# The float32 error relative to the largest output; measured 3.2e-6, 4e-5, 1e-6, 1.1e-3.
TABLE_ERROR = {"chi2": 8e-6, "js": 8e-5, "hellinger": 2e-6, "intersection": 2e-3}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("power", [1, 3, 6])
def test_float32_follows_the_curve(kernel, power):
    x = (np.random.default_rng(power).random((3000, 2)) ** power * [1, 1e-3]).astype(np.float32)
    x[:500] *= 1e-3
    feature_map = NystroemMap(kernel, 5).fit(x)
    exact, fast = feature_map.transform(x.astype(float)), feature_map.transform(x)
    assert fast.dtype == np.float32
    for columns in (slice(0, 5), slice(5, 10)):
        error = np.abs(fast[:, columns] - exact[:, columns]).max() / np.abs(exact[:, columns]).max()
        assert error < TABLE_ERROR[kernel]


def test_points_are_training_values_drawn_by_frequency():
    common = np.r_[np.zeros(5000), np.full(4000, 2.0), np.linspace(3, 4, 1000)][:, None]
    drawn = [NystroemMap(n_points=10, random_state=seed).fit(common) for seed in range(20)]
    for feature_map in drawn:
        points = feature_map.points_[0]
        assert np.isin(points, common).all()
        assert len(np.unique(points)) == 10
        assert {0, 2} <= set(points)
    assert len({tuple(feature_map.points_[0]) for feature_map in drawn}) == 20
    again = NystroemMap(n_points=10, random_state=3).fit(csr_matrix(common))
    np.testing.assert_array_equal(again.points_, drawn[3].points_)
    two = NystroemMap(n_points=10).fit(np.c_[common, common])
    assert (two.points_[0] != two.points_[1]).any()


def test_points_are_drawn_with_the_seed_0_unless_it_is_named():
    points = NystroemMap(n_points=20).fit(X).points_
    np.testing.assert_array_equal(points, NystroemMap(n_points=20, random_state=0).fit(X).points_)
