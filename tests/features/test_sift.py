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


def test_grids_are_centred_and_stay_inside():
    for shape in ((37, 50), (16, 16), (300, 171)):
        tops, lefts = grid(shape, 16, 6)
        for starts, side in zip((tops, lefts), shape, strict=True):
            assert starts.min() >= 0
            spare = side - 16 - starts.max()
            assert 0 <= spare - starts.min() <= 1
            assert set(np.diff(np.unique(starts))) <= {6}
