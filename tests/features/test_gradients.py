"""Gradients, their orientations, and the sums over cells."""

import numpy as np
import pytest
from oracles import images as oracle

from kmaps.features.gradients import gradients, oriented


@pytest.fixture
def image():
    return np.random.default_rng(1).random((9, 11), np.float32)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("bins", [2, 8, 9])
def test_energies_by_hand(image, bins, signed):
    gx, gy = gradients(image[None], 0)
    energies = oriented(gx, gy, bins, signed)
    for y, x in np.ndindex(image.shape):
        shares = oracle.orientation_shares(gx[0, y, x], gy[0, y, x], bins, signed)
        expected = [shares.get(k, 0) for k in range(bins)]
        np.testing.assert_allclose(energies[0, y, x], expected, atol=1e-6)
    np.testing.assert_allclose(energies.sum(axis=3), np.hypot(gx, gy), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("a", "b", "signed", "k"),
    [
        (1, 0, True, 0),  # brighter to the right
        (0, 1, True, 2),  # brighter downwards
        (-1, 0, True, 4),
        (0, -1, True, 6),
        (1, 1, True, 1),
        (-1e-9, -1, True, 6),
        (1, -1e-9, True, 0),  # an angle just below a full turn
        (1, 0, False, 0),
        (-1, 0, False, 0),
        (-1, -1e-9, False, 0),
        (0, -1, False, 4),
        (-1, -1, False, 2),
    ],
)
def test_bins_of_known_directions(a, b, signed, k):
    gradient = (np.full((1, 1, 1), v, np.float32) for v in (a, b))
    energies = oriented(*gradient, 8, signed).ravel()
    assert energies.argmax() == k
    assert energies[k] == pytest.approx(np.hypot(a, b), rel=1e-5)
