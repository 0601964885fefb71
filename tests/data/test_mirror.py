"""The real datasets, when KMAPS_MIRROR names a folder that has them."""

import numpy as np
import pytest
from PIL import Image

from kmaps.data import draw_split, load_dataset, load_manifest


@pytest.mark.slow
def test_mnist(downloaded):
    data = load_dataset("mnist", data_dir=downloaded("mnist"))
    assert data.images.shape == (70_000, 28, 28)
    assert data.images.dtype == np.uint8
    assert data.y.dtype == np.int64
    # The counts and the first labels that the publishers' page shows.
    assert (data.groups == "train").sum() == 60_000
    assert (data.groups == "test").sum() == 10_000
    assert data.y[:5].tolist() == [5, 0, 4, 1, 9]
    assert data.y[60_000:60_003].tolist() == [7, 2, 1]
    counts = np.bincount(data.y[:60_000])
    assert counts.sum() == 60_000
    assert counts.tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    train, test = draw_split(data, {"official": True}, 0)
    assert (train[-1], test[0]) == (59_999, 60_000)
    assert data.digest == load_manifest("mnist").digest


@pytest.mark.slow
def test_daimler(downloaded):
    data = load_dataset("daimler", data_dir=downloaded("daimler"))
    assert data.images.shape == (49_000, 36, 18)
    assert data.images.dtype == np.uint8
    for group in ("1", "2", "3", "T1", "T2"):
        chosen = data.y[data.groups == group]
        assert np.bincount(chosen).tolist() == [5000, 4800]
    assert data.class_names == ("non-ped_examples", "ped_examples")
    # A person is upright in the middle: the two sides of the mean image agree far better than
    # its top and bottom do, which they would not if height and width were swapped.
    mean = data.images[data.y == 1].mean(axis=0)
    assert np.abs(mean - mean[:, ::-1]).mean() < 0.5 * np.abs(mean - mean[::-1]).mean()
    train, test = draw_split(data, {"train": ["1", "2"], "test": ["T1"]}, 0)
    assert (len(train), len(test)) == (19_600, 9_800)


def test_caltech101(downloaded):
    data = load_dataset("caltech101", data_dir=downloaded("caltech101"))
    assert len(data.images) == len(data.y) == 5293
    counts = np.bincount(data.y)
    assert (len(counts), counts.max(), counts.min()) == (101, 60, 31)
    for i in range(0, 5293, 250):
        with Image.open(data.images[i]) as image:
            assert image.format == "JPEG"
            assert min(image.size) > 50
        assert data.images[i].parent.name == data.class_names[data.y[i]]
    train, test = draw_split(data, {"train_per_class": 30, "test_per_class": 20}, 0)
    assert len(train) == 3030
    assert np.bincount(data.y[test]).min() == 1  # inline_skate has 31 images
