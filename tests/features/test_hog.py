"""Pyramids of oriented gradients."""

import numpy as np
import pytest
from drawn import dataset, noise
from oracles import images as oracle

from kmaps.errors import InputError
from kmaps.features import extract, make_feature


def hog(images, **parameters) -> np.ndarray:
    return extract(dataset(np.stack(images)), "hog-pyramid", **parameters)


@pytest.mark.parametrize(("signed", "sigma"), [(True, 0), (False, 0), (True, 1.5)])
def test_by_hand(signed, sigma):
    images = noise(2, 13, 10)
    parameters = {"cells": [6, 3], "orientations": 5, "signed": signed, "sigma": sigma, "growth": 3}
    found = hog(images, **parameters).reshape(2, -1, 5)
    cells, levels = make_feature("hog-pyramid", parameters).pyramid((13, 10))
    for image, vector in zip(images / 255, found, strict=True):
        gx, gy = oracle.differences(image) if sigma == 0 else derivatives(image, sigma)
        expected = oracle.cell_sums(gx, gy, cells, 5, signed) / np.hypot(gx, gy).sum()
        np.testing.assert_allclose(vector, expected * 3.0 ** levels[:, None], rtol=2e-5, atol=1e-7)


def derivatives(image, sigma):
    """Return the derivatives of a Gaussian along x and y, by the formula."""
    offsets = np.arange(-6, 7)  # to four times sigma, as SciPy
    weights = np.exp(-(offsets**2) / (2 * sigma**2))
    weights /= weights.sum()
    padded = np.pad(image, 6, mode="edge")

    def blurred(along_y, along_x):
        windows = np.lib.stride_tricks.sliding_window_view(padded, (13, 13))
        return np.einsum("yxij,i,j->yx", windows, along_y, along_x)

    slope = weights * offsets / sigma**2
    return blurred(weights, slope), blurred(slope, weights)


@pytest.mark.parametrize("side", [9, 15, 31, 36, 47, 63])
def test_default_cells_tile_the_image(side):
    cells, levels = make_feature("hog-pyramid", {"overlap": False}).pyramid((side, side))
    sides = cells[:, 1] - cells[:, 0] if cells.ndim == 2 else None
    assert sides is None or (sides > 0).all()
    for level, part in enumerate((2, 4, 7)):
        # As many tiles as fit next to each other in both directions.
        assert np.sum(levels == level) == (side // (side // part)) ** 2


def test_a_small_image_has_cells_of_a_pixel():
    cells, levels = make_feature("hog-pyramid", {"cells": None}).pyramid((3, 3))
    sides = cells[:, 1] - cells[:, 0]
    assert sides[levels == 2].tolist() == [1] * np.sum(levels == 2)


def test_published_cells_round_to_the_nearest():
    for side, published in ((31, (16, 8, 4)), (47, (24, 12, 7)), (28, (14, 7, 4))):
        given = make_feature("hog-pyramid", {"cells": list(published)})
        nearest = make_feature("hog-pyramid", {"cells": None})
        for one, other in zip(
            given.pyramid((side, side)), nearest.pyramid((side, side)), strict=True
        ):
            np.testing.assert_array_equal(one, other)


def test_levelled_by_hand():
    images = noise(1, 9, 7)
    gx, gy = oracle.differences(images[0] / 255)
    magnitude = np.hypot(gx, gy)
    offsets = np.arange(-8, 9)
    weights = np.exp(-(np.hypot(offsets[:, None], offsets) ** 2) / (2 * 2.0**2))
    padded = np.pad(magnitude, 8, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, weights.shape)
    level = magnitude / (0.01 + (windows * weights).sum(axis=(2, 3)) / weights.sum())
    found = hog(images, cells=[1], overlap=False, sigma=0, local=2).reshape(9, 7, -1)
    np.testing.assert_allclose(found.sum(axis=2), level / level.sum(), rtol=1e-4)


def test_cells_larger_than_the_images():
    with pytest.raises(
        InputError, match=r"18 × 36 pixels \(width × height\) are too few for cells of 20"
    ):
        hog(noise(1, 36, 18), cells=[20, 9])
