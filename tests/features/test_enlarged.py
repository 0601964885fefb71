"""Words of images that are enlarged first."""

import numpy as np
import pytest

from kmaps.features import make_feature


def larger(image: np.ndarray, times: int) -> np.ndarray:
    """Interpolate between the centres of pixels, along one axis after the other."""
    for _ in range(2):
        at = (np.arange(times * image.shape[1]) + 0.5) / times - 0.5
        image = np.stack([np.interp(at, np.arange(len(row) * 1.0), row) for row in image]).T
    return image.astype(np.float32)


@pytest.mark.parametrize(("times", "n_patches"), [(2, 10 * 4), (4, 22 * 10)])
def test_patches_are_those_of_the_enlarged_image(times, n_patches):
    image = np.random.default_rng(0).random((36, 18), np.float32)
    of_small = make_feature("dense-sift-bow", {"patches": [16], "enlarge": times})
    of_large = make_feature("dense-sift-bow", {"patches": [16]})
    found, expected = of_small.describe([image]), of_large.describe([larger(image, times)])
    assert found["counts"].tolist() == [n_patches]
    np.testing.assert_array_equal(found["places"], expected["places"])
    np.testing.assert_allclose(found["descriptors"], expected["descriptors"].astype(int), atol=1)
    assert (of_small.smallest, of_large.smallest) == (16 // times, 16)


def test_what_was_kept_before_is_of_the_same_parameters():
    before, after = (make_feature("phow", {"enlarge": times}) for times in (1, 2))
    assert before.parameters().keys() == after.parameters().keys() - {"enlarge"}
    assert before.description().keys() == after.description().keys() - {"enlarge"}
