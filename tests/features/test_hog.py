"""Pyramids of oriented gradients."""

import numpy as np
import pytest
from drawn import dataset, noise, photograph, step_edge
from oracles import images as oracle

from kmaps.errors import ConfigError, InputError
from kmaps.features import extract, make_feature


def hog(images, **parameters) -> np.ndarray:
    return extract(dataset(np.stack(images)), "hog-pyramid", **parameters)


def test_by_hand():
    images = noise(2, 13, 10)
    parameters = {"cells": [6, 3], "orientations": 5, "signed": True, "sigma": 0, "growth": 3}
    found = hog(images, **parameters).reshape(2, -1, 5)
    cells, levels = make_feature("hog-pyramid", parameters).pyramid((13, 10))
    for image, vector in zip(images / 255, found, strict=True):
        gx, gy = oracle.differences(image)
        expected = oracle.cell_sums(gx, gy, cells, 5, True) / np.hypot(gx, gy).sum()
        np.testing.assert_allclose(vector, expected * 3.0 ** levels[:, None], rtol=2e-5, atol=1e-8)


def test_the_paper_s_length_on_mnist():
    assert hog(noise(3, 28, 28)).shape == (3, 2172)
    # Non-overlapping cells of 18, 9 and 3 and 8 orientations on Daimler: 8 × (2 + 8 + 72).
    assert hog(noise(3, 36, 18), cells=[18, 9, 3], overlap=False, orientations=8).shape == (3, 656)


def test_default_cells_follow_the_shorter_side():
    (small,), (tall,) = hog(noise(1, 28, 28)), hog(noise(1, 28, 28), cells=[14, 7, 4])
    np.testing.assert_array_equal(small, tall)
    # 9, 4 and 3 pixels on 36 × 18.
    assert make_feature("hog-pyramid").pyramid((36, 18))[1].max() == 2


def test_a_vertical_edge_is_one_orientation_in_the_cells_it_crosses():
    # The gradient is in columns 9 and 10: all in the third of four columns of cells, 8 … 11.
    edge = step_edge(16, 16, 10)
    vector = hog([edge], cells=[4], overlap=False, orientations=8, sigma=0).reshape(4, 4, 8)
    expected = np.zeros((4, 4, 8))
    expected[:, 2, 0] = 1 / 4
    np.testing.assert_allclose(vector, expected, atol=1e-6)


@pytest.mark.parametrize(("signed", "opposite"), [(False, 0), (True, 4)])
def test_polarity_counts_only_when_signed(signed, opposite):
    edges = [step_edge(16, 16, 8), step_edge(16, 16, 8, dark=255, bright=0)]
    first, second = hog(edges, cells=[16], orientations=8, signed=signed)
    assert first.argmax() == 0
    assert second.argmax() == opposite


def test_mass():
    """Where the tiles cover the image each level has all of the energy, times its weight."""
    X = hog(noise(4, 28, 28), overlap=False, orientations=9).reshape(4, -1, 9)
    _, levels = make_feature("hog-pyramid", {"overlap": False}).pyramid((28, 28))
    for level, mass in enumerate([1, 2, 4]):
        np.testing.assert_allclose(X[:, levels == level].sum(axis=(1, 2)), mass, rtol=1e-5)


def test_brightness_and_contrast_do_not_matter():
    image = photograph(28, 28, 0)
    darker = (image.astype(int) // 2 * 2).astype(np.uint8)
    a, b = hog([darker]), hog([darker // 2 + 60])
    np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-6)


def test_a_faint_copy_counts_more_when_levelled():
    image = np.full((24, 48), 128, np.uint8)
    patch = photograph(12, 12, 4).astype(int) - 128
    image[6:18, 6:18], image[6:18, 30:42] = 128 + patch, 128 + patch // 4
    arguments = {"cells": [24], "overlap": False, "orientations": 4}
    (plain,), (levelled,) = hog([image], **arguments), hog([image], **arguments, local=3)
    assert plain[4:].sum() / plain[:4].sum() == pytest.approx(1 / 4, rel=0.05)
    # Not 1: gradients fainter than a hundredth of the range a pixel stay faint.
    assert levelled[4:].sum() / levelled[:4].sum() == pytest.approx(0.64, rel=0.05)


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


def test_a_quarter_turn_turns_the_cells_and_the_orientations():
    image = photograph(24, 24, 1)
    shape = (4, 4, 8)
    arguments = {"cells": [6], "overlap": False, "orientations": 8, "signed": True}
    upright, turned = (hog([p], **arguments).reshape(shape) for p in (image, np.rot90(image)))
    # rot90 is counter-clockwise; orientations count clockwise, a quarter is two bins of eight.
    expected = np.roll(np.rot90(upright), -2, axis=2)
    np.testing.assert_allclose(turned, expected, rtol=1e-3, atol=1e-5)


def test_a_shift_by_a_cell_moves_the_cells():
    patch = photograph(8, 8, 2)
    here, there = np.zeros((2, 32, 32), np.uint8)
    here[8:16, 8:16], there[8:16, 16:24] = patch, patch
    arguments = {"cells": [8], "overlap": False, "sigma": 1}
    a, b = (hog([p], **arguments).reshape(4, 4, 12) for p in (here, there))
    np.testing.assert_allclose(b[:, 1:], a[:, :3], rtol=1e-4, atol=1e-6)


def test_one_grey_is_zero():
    X = hog([np.full((28, 28), 90, np.uint8), photograph(28, 28, 3)])
    assert not X[0].any()
    assert np.isfinite(X).all()
    assert X[1].any()


def test_cells_larger_than_the_images():
    with pytest.raises(
        InputError, match=r"18 × 36 pixels \(width × height\) are too few for cells of 20"
    ):
        hog(noise(1, 36, 18), cells=[20, 9])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cells": []}, "cells=\\[\\]: expected a list of different whole numbers of at least 1"),
        ({"cells": [4, 4]}, "cells=.*: expected a list of different"),
        ({"cells": 7}, "cells=7: expected a list of different whole numbers of at least 1"),
        ({"orientations": 1}, "orientations=1: expected a whole number of at least 2"),
        ({"orientations": True}, "orientations=True: expected a whole number of at least 2"),
        ({"sigma": -1}, "sigma=-1: expected a number of at least 0"),
        ({"sigma": float("nan")}, "sigma=nan: expected a number of at least 0"),
        ({"local": -1}, "local=-1: expected a number of at least 0"),
        ({"growth": 0}, "growth=0: expected a positive number"),
        ({"signed": 1}, "signed=1: expected True or False"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ConfigError, match=f"hog-pyramid: {message}"):
        make_feature("hog-pyramid", parameters)
