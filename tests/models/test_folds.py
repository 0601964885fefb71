"""Stratified orders and samples."""

import numpy as np
import pytest

from kmaps.errors import ConfigError
from kmaps.models import stratified_order, stratified_sample

Y = np.array([2, 0, 1, 0, 2, 0] * 10)


def test_the_order_goes_class_by_class_at_random():
    order = stratified_order(Y, 1)
    assert sorted(order) == list(range(60))
    assert (np.diff(Y[order]) >= 0).all()
    np.testing.assert_array_equal(order, stratified_order(Y, 1))
    assert not np.array_equal(order, stratified_order(Y, 2))
    assert not np.array_equal(order, np.argsort(Y, kind="stable"))
    words = np.array(["b", "a", "c"])[Y]
    assert "".join(words[stratified_order(words, 1)]) == 10 * "a" + 30 * "b" + 20 * "c"


@pytest.mark.parametrize("step", [2, 3, 7])
def test_every_mth_is_a_stratified_draw(step):
    order = stratified_order(Y, 4)
    for first in range(step):
        counts = np.bincount(Y[order[first::step]], minlength=3)
        assert np.abs(counts - np.bincount(Y) / step).max() < 1


def test_samples_keep_the_share_of_each_class():
    for samples in (6, 7, 40, 59):
        chosen = stratified_sample(Y, samples, 3)
        assert len(set(chosen.tolist())) == samples
        share = np.bincount(Y[chosen], minlength=3) - samples / 60 * np.bincount(Y)
        assert np.abs(share).max() < 1
        assert (np.diff(Y[chosen]) >= 0).all()
    for everything in (None, 60, 1000):
        np.testing.assert_array_equal(stratified_sample(Y, everything, 3), stratified_order(Y, 3))


@pytest.mark.parametrize("samples", [0, -1, 2.5])
def test_bad_counts(samples):
    with pytest.raises(ConfigError, match=f"samples={samples}: expected a whole number of at"):
        stratified_sample(Y, samples, 3)
