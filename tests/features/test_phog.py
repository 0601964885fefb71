"""Pyramids of edge orientations, and the edges."""

import numpy as np
import pytest
from drawn import dataset, photograph
from oracles import images as oracle

from kmaps._loops import orientation as loops
from kmaps.features import extract
from kmaps.features.gradients import gradients
from kmaps.features.phog import canny


def phog(*images, **parameters) -> np.ndarray:
    return extract(dataset(list(images)), "phog", **parameters)


def square(side: int, inner: int) -> np.ndarray:
    image = np.zeros((side, side), np.uint8)
    low = (side - inner) // 2
    image[low : low + inner, low : low + inner] = 255
    return image


def test_the_sides_of_a_square_are_two_orientations_in_their_cells():
    X = phog(square(64, 32)).reshape(21, 16)
    whole, finest = X[0], X[5:].reshape(4, 4, 16)
    assert whole[[0, 8]].sum() > 0.8 * whole.sum()  # the rest are the rounded corners
    np.testing.assert_allclose(whole[0], whole[8], rtol=1e-4)
    # The left side is at column 16, between the first two columns of cells.
    assert finest[1:3, :2, 0].sum() == pytest.approx(finest[1:3, 2:, 0].sum(), rel=1e-3)
    assert finest[1:3, 1:3, 8].sum() > 0
    assert finest[[0, 3]][:, [0, 3]].sum() < 0.02 * whole.sum()  # nothing in the corners


def test_ridges_are_the_oracle_s():
    gx, gy = gradients(photograph(24, 30, 2) / np.float32(255), 1.0)
    magnitude, found = np.hypot(gx, gy), np.zeros(gx.shape, bool)
    loops.thin(gx, gy, magnitude, found)
    expected = oracle.ridges(gx.astype(float), gy.astype(float))
    assert found.sum() > 50
    # Ties to rounding aside.
    assert (found != expected).mean() < 0.003


def test_weak_edges_count_where_they_go_on_from_strong_ones():
    image = np.full((60, 60), 100, np.uint8)
    image[:, 30:] = 130
    image[:20, 30:] = 190  # the upper part of the same line is strong
    image[30:40, 10:20] = 130  # a weak square by itself
    gx, gy = gradients(image / np.float32(255), 1.0)
    edges = canny(gx, gy, 0.95)
    magnitude, ridge = np.hypot(gx, gy), np.zeros(gx.shape, bool)
    loops.thin(gx, gy, magnitude, ridge)
    high = np.quantile(magnitude, 0.95)
    weak = ridge & (magnitude > max(0.4 * high, 1e-6))
    np.testing.assert_array_equal(edges, oracle.connected(weak & (magnitude > high), weak))
    assert edges[45:55, 28:32].any()
    assert weak[28:42, 8:22].any()
    assert not edges[28:42, 8:22].any()
