"""Machines that drop features: against a general solver, and the group lasso on a map's outputs."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kmaps import CodedSVC, FourierMap, GroupLassoSVC, HomogeneousMap, SplineMap

RNG = np.random.default_rng(0)
X = RNG.integers(0, 6, (40, 6)).astype(np.float32)
Y = np.where(X[:, 0] - X[:, 3] + 1.5 * RNG.standard_normal(40) > 0, "b", "a")


@pytest.mark.parametrize(
    "feature_map", [HomogeneousMap(), SplineMap(5), FourierMap(2)], ids=lambda m: type(m).__name__
)
@pytest.mark.parametrize("as_matrix", [np.asarray, csr_matrix])
def test_a_maps_machine_is_the_group_lasso_on_its_outputs(feature_map, as_matrix):
    """Tables that features share, share up to a scale, and have of their own; rows that are listed.

    Measured: scores differ by at most 2e-3.
    """
    ranges = np.array([1, 1, 2, 1, 5, 1], np.float32)
    values = np.where(RNG.random(X.shape) < 0.8, 0, X) * ranges if as_matrix is csr_matrix else X
    y = np.digitize(values[:, 0] + values[:, 1], [1, 4])
    ours = CodedSVC(feature_map, C=0.1, penalty="l1", loss="squared_hinge", tol=1e-7)
    ours.fit(as_matrix(values), y)
    Z = feature_map.fit_transform(values.astype(float))
    plain = GroupLassoSVC(0.1, group_size=Z.shape[1] // 6, tol=1e-7, max_iter=2000).fit(Z, y)
    np.testing.assert_allclose(
        ours.decision_function(as_matrix(values)), plain.decision_function(Z), atol=6e-3
    )
    used = plain.coef_.reshape(3, 6, -1).any(axis=2)
    np.testing.assert_array_equal(ours.model_.weights.any(axis=2), used)
    assert 0 < used.sum() < used.size


def test_fewer_features_the_smaller_c_and_the_path_begins_where_it_was():
    kept, warm = [], CodedSVC(penalty="l1", warm_start=True)
    for C in (0.01, 0.1, 1.0):
        warm.set_params(C=C).fit(X, Y)
        cold = CodedSVC(C=C, penalty="l1").fit(X, Y)
        assert warm.objective_[0] == pytest.approx(cold.objective_[0], rel=2e-4)
        kept.append(int((warm.importance_ > 0).sum()))
        dropped = np.flatnonzero(warm.importance_ == 0)
        assert not any(warm.function(int(j)).values.any() for j in dropped)
    assert 0 == kept[0] < kept[1] < kept[2]
    again = warm.fit(X, Y)
    assert again.n_iter_[0] < cold.n_iter_[0]
