"""The second extension of homogeneous kernels to negative values (hkm Lemma 2)."""

import numpy as np
import pytest

from kmaps.kernels import KERNELS
from kmaps.maps import HomogeneousMap, SameSignMap

RNG = np.random.default_rng(0)
VALUES = np.r_[RNG.normal(size=30), 0.0]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("gamma", [1.0, 0.5])
def test_the_kernel_is_that_of_lemma_2(kernel, gamma):
    x, y = VALUES[:, None], VALUES
    expected = (np.sign(x * y) + 1) / 2 * KERNELS[kernel](np.abs(x), np.abs(y), gamma)
    np.testing.assert_allclose(KERNELS[kernel].same_sign(x, y, gamma), expected, atol=1e-15)
    assert np.linalg.eigvalsh(expected).min() > -1e-12


def test_the_metric_of_the_intersection_kernel_is_the_l1_distance():
    x, y = VALUES[:, None], VALUES
    kernel = KERNELS["intersection"].same_sign
    np.testing.assert_allclose(kernel(x, x) + kernel(y, y) - 2 * kernel(x, y), np.abs(x - y))


@pytest.mark.parametrize("kernel", ["chi2", "js"])
def test_the_map_has_the_homogeneous_map_on_either_side(kernel):
    x = VALUES[:, None]
    mapped = SameSignMap(kernel, order=2).fit_transform(x)
    one_side = HomogeneousMap(kernel, order=2).fit_transform(np.abs(x))
    assert mapped.shape == (31, 10)
    for side, chosen in ((mapped[:, :5], VALUES > 0), (mapped[:, 5:], VALUES < 0)):
        np.testing.assert_array_equal(side[chosen], one_side[chosen])
        assert not side[~chosen].any()
    exact = KERNELS[kernel].same_sign(x, VALUES)
    assert np.abs(mapped @ mapped.T - exact).max() < 0.05  # the first extension would miss by 1
    signed = HomogeneousMap(kernel, order=2).fit_transform(x)
    assert np.abs(signed @ signed.T - exact).max() > 0.5


def test_outputs_are_named_by_their_side():
    names = SameSignMap(order=0).fit([[1.0]]).get_feature_names_out()
    assert list(names) == ["x0_positive_root", "x0_negative_root"]
