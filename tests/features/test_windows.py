"""Edge orientations in windows."""

import numpy as np
import pytest
from drawn import dataset, photograph

from kmaps._loops import orientation as loops
from kmaps.errors import InputError
from kmaps.features import Phog, describe_windows, extract
from kmaps.features.pyramid import partition


@pytest.fixture
def image():
    return photograph(50, 70, 0) / np.float32(255)


def test_the_whole_image_is_its_own_vector(image):
    whole = describe_windows(Phog(), image, np.array([[0, 0, 70, 50]]))
    expected = extract(dataset([photograph(50, 70, 0)]), "phog")
    np.testing.assert_allclose(whole, expected, rtol=1e-5, atol=1e-6)


def test_windows_by_hand(image):
    feature = Phog(orientations=6, divisions=(1, 3))
    boxes = np.array([[3, 5, 40, 33], [10, 0, 13, 50], [66, 46, 70, 50]])
    energies = feature.edge_energies(image)
    for box, vector in zip(boxes, describe_windows(feature, image, boxes), strict=True):
        left, top, right, bottom = box
        cells, _ = partition((bottom - top, right - left), (1, 3))
        sums = np.empty((1, len(cells), 6), np.float32)
        cut = np.ascontiguousarray(energies[None, top:bottom, left:right])
        loops.sum_cells(cut, cells, sums)
        np.testing.assert_allclose(vector, sums.ravel(), rtol=1e-4, atol=1e-5)
        assert vector.min() >= 0


def test_no_windows(image):
    assert describe_windows(Phog(), image, np.empty((0, 4), int)).shape == (0, 336)


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ([0, 0, 71, 50], "a window leaves the image of 70 × 50 pixels"),
        ([-1, 0, 20, 20], "a window leaves"),
        ([0, 0, 3, 20], "a window is smaller than 4 × 4 pixels"),
        ([20, 0, 10, 20], "a window is smaller"),
    ],
)
def test_bad_windows(image, box, message):
    with pytest.raises(InputError, match=message):
        describe_windows(Phog(), image, np.array([box]))
