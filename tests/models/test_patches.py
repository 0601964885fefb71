"""Short descriptors of patches against the match kernel summed by brute force."""

import numpy as np
import pytest
from sklearn.base import clone

from kmaps.errors import ConfigError, InputError
from kmaps.models.patches import PositionAngleMap

SHAPE = (6, 5)
X = np.random.default_rng(0).random((4, 30))


def gradients(row):
    """Return magnitude, angle and position of each pixel, one by one."""
    image = row.reshape(SHAPE)
    along_y, along_x = np.gradient(image)
    places = [(i / 5, j / 5) for i in range(SHAPE[0]) for j in range(SHAPE[1])]
    dx, dy = along_x.ravel(), along_y.ravel()
    return np.hypot(dx, dy), np.arctan2(dy, dx), *np.transpose(places)


def match(first, second, angle_width=0.5, position_width=0.3):
    m, theta, y, x = gradients(first)
    n, phi, v, u = gradients(second)
    of_angles = np.exp((np.cos(theta[:, None] - phi) - 1) / angle_width**2)
    apart = (y[:, None] - v) ** 2 + (x[:, None] - u) ** 2
    return m @ (of_angles * np.exp(-apart / (2 * position_width**2))) @ n


EXACT = np.array([[match(one, other) for other in X] for one in X])


def largest_error(**parameters):
    made = PositionAngleMap(*SHAPE, normalize=False, **parameters)
    Z = made.fit_transform(X)
    assert Z.shape == (4, made.n_outputs_)
    return np.abs(Z @ Z.T - EXACT).max() / EXACT.max()


def test_descriptors_tend_to_the_match_kernel():
    errors = [largest_error(angle_dim=a, position_dim=p) for a, p in ((3, 3), (5, 3), (9, 5))]
    assert errors[1] < 0.5 * errors[0]
    assert errors[2] < 0.02  # measured 0.0095, and 0.11 with five outputs and three


def test_harmonics_and_random_frequencies_are_of_the_same_kernel():
    assert largest_error(angle_dim=9, position_dim=9, kind="harmonic") < 0.1
    many = {"angle_dim": 21, "position_dim": 21}
    assert largest_error(kind="random", **many) < 0.1
    assert largest_error(kind="random", angle_dim=3) > 0.1


def test_descriptors_have_norm_one_and_flat_patches_none(monkeypatch):
    patches = np.vstack([X, np.ones((1, 30))]).astype(np.float32)
    Z = clone(PositionAngleMap(*SHAPE)).fit_transform(patches)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(Z, axis=1), [1, 1, 1, 1, 0], rtol=1e-5)
    assert len(PositionAngleMap(*SHAPE).fit(X).get_feature_names_out()) == Z.shape[1]
    monkeypatch.setattr("kmaps.models.patches._BLOCK_VALUES", 1)  # a block per patch
    np.testing.assert_allclose(PositionAngleMap(*SHAPE).fit_transform(patches), Z, rtol=1e-6)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"height": 5}, InputError, "^X has 30 columns, but height=5 and width=5 mean 25"),
        ({"angle_dim": 0}, ConfigError, "angle_dim=0: expected a whole number of at least 1"),
        ({"position_width": 0}, ConfigError, "position_width=0: expected a positive number"),
        ({"kind": "lowdin"}, ConfigError, "did you mean 'lowdim'"),
        ({"width": 1}, ConfigError, "width=1: expected a whole number of at least 2"),
    ],
)
def test_bad_parameters_are_named(parameters, error, message):
    with pytest.raises(error, match=message):
        PositionAngleMap(**({"height": 6, "width": 5} | parameters)).fit(X)
