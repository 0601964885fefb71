"""Dense SIFT descriptors."""

import numpy as np
import pytest
from drawn import photograph
from oracles import images as oracle

from kmaps.features.sift import SCALE, describe_patches, grid


def grey(levels) -> np.ndarray:
    return levels.astype(np.float32) / np.float32(255)


def one(image, patch, top, left, contrast=0.0) -> np.ndarray:
    places = np.array([top]), np.array([left])
    return describe_patches(image, patch, *places, contrast)[0].astype(float)


@pytest.mark.parametrize(("patch", "top", "left"), [(8, 2, 3), (12, 4, 0), (12, 1, 5), (4, 10, 9)])
def test_by_the_definition(patch, top, left):
    # Patches up to 12 pixels are not blurred first.
    image = grey(photograph(17, 19, 0))
    expected = SCALE * oracle.sift(image.astype(float), patch, top, left)
    found = one(image, patch, top, left)
    assert expected.max() < 255
    np.testing.assert_allclose(found, expected, atol=0.51)


def test_descriptors_have_one_length():
    image = grey(photograph(64, 64, 1))
    tops, lefts = grid(image.shape, 16, 4)
    lengths = np.linalg.norm(describe_patches(image, 16, tops, lefts, 0).astype(float), axis=1)
    # Values at the cut and the rounding take a little off.
    assert (np.abs(lengths - SCALE) < 0.02 * SCALE).mean() > 0.9
    assert lengths.max() < 1.01 * SCALE


@pytest.mark.parametrize("patch", [16, 24])
def test_a_shift_of_the_image_shifts_the_descriptors(patch):
    large = grey(photograph(80, 80, 4))
    here, there = one(large, patch, 30, 31), one(large[5:, 7:], patch, 25, 24)
    np.testing.assert_allclose(here, there, atol=1)


def test_low_contrast_is_zero():
    # A slope of 0.01 a pixel, so that the mean gradient is known.
    slope = np.tile(np.arange(40, dtype=np.float32) * np.float32(0.01), (40, 1))
    assert one(slope, 16, 10, 10, contrast=0.0099).any()
    assert not one(slope, 16, 10, 10, contrast=0.0101).any()
    assert not one(np.full((40, 40), 0.4, np.float32), 16, 10, 10).any()


def test_grids_are_centred_and_stay_inside():
    for shape in ((37, 50), (16, 16), (300, 171)):
        tops, lefts = grid(shape, 16, 6)
        for starts, side in zip((tops, lefts), shape, strict=True):
            assert starts.min() >= 0
            spare = side - 16 - starts.max()
            assert 0 <= spare - starts.min() <= 1
            assert set(np.diff(np.unique(starts))) <= {6}
