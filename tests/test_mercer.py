"""Eigenvectors of kernel matrices, and the kernels that have none to speak of."""

import numpy as np
import pytest

from kmaps.errors import ConfigError
from kmaps.maps import AnchorMap, ExactMap, NystroemMap
from kmaps.mercer import eigensystems

POINTS = np.sort(np.random.default_rng(0).random((70, 40)), axis=1)


def all_of(values):
    return np.full(len(values), values.shape[1])


def test_decomposes_every_feature_alike():
    counts = np.arange(70) % 40 + 1
    values, vectors = eigensystems("chi2", POINTS, counts, all_of)
    for j, count in enumerate(counts):
        z = POINTS[j, :count]
        matrix = 2 * z[:, None] * z / (z[:, None] + z)
        rebuilt = vectors[j] * values[j] @ vectors[j].T
        np.testing.assert_allclose(rebuilt[:count, :count], matrix, atol=1e-14)
        assert not rebuilt[count:].any()


def test_many_points_go_in_blocks():
    points = np.sort(np.random.default_rng(1).random((40, 256)), axis=1)
    values, vectors = eigensystems("js", points, np.full(40, 256), lambda v: np.full(len(v), 3))
    assert vectors.shape == (40, 256, 3)
    alone = eigensystems("js", points[37:38], np.array([256]), lambda v: np.full(len(v), 3))
    np.testing.assert_allclose(values[37:38], alone[0], rtol=1e-12)
    np.testing.assert_allclose(vectors[37:38], alone[1], atol=1e-8)


def not_psd(x, y):
    return -np.abs(x - y)


def one_sided(x, y):
    return x * y**2 + x


def scalar_only(x, y):
    return x if x < y else y


def infinite(x, y):
    return 1 / (x * y)


def summed(x, y):
    return (x * y).sum()


@pytest.mark.parametrize("feature_map", [AnchorMap, ExactMap, NystroemMap])
@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            not_psd,
            "kernel not_psd: not positive semi-definite: its matrix on 2 points from 0 to 1 "
            r"\(feature 1\) has the eigenvalue -1, its largest is 1",
        ),
        (one_sided, "kernel one_sided: not symmetric, k.x, y. and k.y, x. differ"),
        (scalar_only, "kernel scalar_only: failed on arrays .*: write k.x, y. elementwise"),
        (infinite, "kernel infinite: gave a value that is not finite"),
        (summed, r"kernel summed: gave shape \(\) for arrays of shape .*: write k.x, y. element"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bad_kernels_are_refused_with_the_reason(feature_map, kernel, message):
    smaller = {AnchorMap: {"n_anchors": 2, "shared": False}}.get(feature_map, {})
    smaller = smaller or ({"dim": 1} if feature_map is NystroemMap else {})
    X = np.array([[0.5, 0.0], [0.5, 1.0]])
    if feature_map is ExactMap:
        X[:, 0] = 0  # its levels are shared: the same message but for the feature
        message = message.replace("feature 1", "feature 0")
    with pytest.raises(ConfigError, match=message):
        feature_map(kernel, **smaller).fit(X)


def test_the_offending_eigenvalue_is_that_of_the_anchors():
    z = np.linspace(0, 1, 7)
    smallest = np.linalg.eigvalsh(not_psd(z[:, None], z))[0]
    with pytest.raises(ConfigError, match=f"has the eigenvalue {smallest:.4g}, its largest"):
        AnchorMap(not_psd, 7).fit([[0.0], [1.0]])
