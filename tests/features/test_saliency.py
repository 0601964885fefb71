"""Places where an image is salient."""

import sys

import numpy as np
import pytest
from drawn import dataset, photograph

from kmaps.errors import ConfigError
from kmaps.features import extract
from kmaps.features.saliency import salient_places, segmented

BOW = {"patches": [8], "step": 4, "words": 10, "samples": 20}


@pytest.fixture
def spot():
    """A bright square on dark ground: the square is salient, the ground is not."""
    pytest.importorskip("skimage")
    image = np.full((60, 80), 0.1, np.float32)
    image[20:40, 50:70] = 0.9
    return image


def test_the_square_is_what_is_important(spot):
    regions, importance, saliency = segmented(spot)
    assert len(np.unique(regions[24:36, 54:66])) == 1
    assert importance[regions[30, 60]] > 3 * importance[regions[5, 5]]
    # By the definition, away from where the blur mixes them.
    assert saliency[30, 60] == pytest.approx(0.9 - spot.mean(), abs=1e-6)
    assert saliency[5, 5] == pytest.approx(spot.mean() - 0.1, abs=1e-6)
    for region in np.unique(regions):
        mean = saliency[regions == region].mean()
        assert importance[region] == pytest.approx(mean, rel=1e-5)


def test_the_others_by_area_and_importance(spot):
    regions, importance, _ = segmented(spot)
    weights = importance[regions]
    ((tops, lefts),) = salient_places(spot, [8], [40_000])
    # A few hundred are along the boundary. Those moved off the border do not reach the square.
    for part in (np.s_[20:40, 50:70], np.s_[20:30, 50:70], np.s_[10:15, 10:40]):
        chosen = np.zeros(spot.shape, bool)
        chosen[part] = True
        share = chosen[tops + 4, lefts + 4].mean()
        assert share == pytest.approx(weights[part].sum() / weights.sum(), abs=0.01)


def test_patches_are_inside_as_many_as_asked_and_the_same_again(spot):
    for _ in range(2):
        places = salient_places(spot, [8, 16], [100, 30])
        for patch, count, (tops, lefts) in zip((8, 16), (100, 30), places, strict=True):
            assert len(tops) == len(lefts) == count
            assert min(tops.min(), lefts.min()) >= 0
            assert tops.max() <= 60 - patch
            assert lefts.max() <= 80 - patch
    again = salient_places(spot.copy(), [8, 16], [100, 30])
    np.testing.assert_array_equal(np.array(again[0]), np.array(places[0]))


def test_without_scikit_image(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.segmentation", None)
    data = dataset([photograph(60, 70, i) for i in range(2)])
    with pytest.raises(ConfigError, match=r"needs scikit-image"):
        extract(data, "dense-sift-bow", train=[0], sampling="salient", **BOW)
