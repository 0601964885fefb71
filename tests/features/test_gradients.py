"""Gradients, their orientations, and the sums over cells."""

import numpy as np
import pytest
from oracles import images as oracle

from kmaps.features.gradients import gradients, half_overlapping, oriented, partition


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


def test_the_paper_s_cells_on_mnist():
    cells, levels = half_overlapping((28, 28), (14, 7, 4), True)
    # Centred tilings plus those shifted right and down: 4 + 2 + 2, 16 + 12 + 12, 49 + 42 + 42.
    assert np.bincount(levels).tolist() == [8, 40, 133]
    assert len(np.unique(cells, axis=0)) == 181
    top, bottom, left, right = cells.T
    assert min(top.min(), left.min()) == 0
    assert max(bottom.max(), right.max()) == 28
    assert set(bottom - top) == set(right - left) == {14, 7, 4}
    # Tiles that do not fit are centred.
    cells, _ = half_overlapping((36, 18), (8,), False)
    assert len(cells) == 4 * 2
    assert (cells[:, 0].min(), cells[:, 1].max()) == (2, 34)
    assert (cells[:, 2].min(), cells[:, 3].max()) == (1, 17)


@pytest.mark.parametrize("shape", [(4, 4), (7, 30), (225, 300)])
def test_divisions_cover_every_pixel_once(shape):
    cells, levels = partition(shape, (1, 2, 4))
    for level in range(3):
        covered = np.zeros(shape, int)
        for top, bottom, left, right in cells[levels == level]:
            covered[top:bottom, left:right] += 1
        assert (covered == 1).all()
