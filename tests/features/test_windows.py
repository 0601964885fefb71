"""Edge orientations in windows."""

import numpy as np
import pytest
from drawn import photograph

from kmaps._loops import orientation as loops
from kmaps.errors import InputError
from kmaps.features import Phog, WindowWords, describe_windows
from kmaps.features.bow import DenseSiftBow
from kmaps.features.gradients import partition


@pytest.fixture
def image():
    return photograph(50, 70, 0) / np.float32(255)


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


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ([0, 0, 71, 50], "a window lies partly outside the image of 70 × 50 pixels"),
        ([-1, 0, 20, 20], "a window lies partly"),
        ([0, 0, 3, 20], "a window is smaller than 4 × 4 pixels"),
        ([20, 0, 10, 20], "a window is smaller"),
    ],
)
def test_bad_windows(image, box, message):
    with pytest.raises(InputError, match=message):
        describe_windows(Phog(), image, np.array([box]))


@pytest.fixture(scope="module")
def words():
    feature = DenseSiftBow(patches=(8, 16), step=4, words=12, samples=20, divisions=(1, 2))
    images = [photograph(50, 70, i) / np.float32(255) for i in range(3)]
    return WindowWords.learn(feature, images, 3)


def test_words_in_windows_by_hand(words, image):
    boxes = np.array([[3, 5, 40, 33], [10, 0, 13, 50], [66, 46, 70, 50]])
    described = words.feature.describe([image])
    numbers = words.feature.words_of(described["descriptors"], words.words)
    for (left, top, right, bottom), vector in zip(
        boxes, describe_windows(words, image, boxes), strict=True
    ):
        expected = np.zeros((5, 12))
        for word, (down, along) in zip(numbers, described["places"], strict=True):
            y = round(2 * float(down) * 50) / 2 - top
            x = round(2 * float(along) * 70) / 2 - left
            if 0 <= y < bottom - top and 0 <= x < right - left:
                expected[0, word] += 1
                quarter = 2 * (2 * y >= bottom - top) + (2 * x >= right - left)
                expected[1 + quarter, word] += 1
        np.testing.assert_array_equal(vector, expected.ravel())
        assert vector[:12].sum() == vector[12:].sum()
