"""The samples of a split: features extracted once, learned from the training images alone."""

import numpy as np
import pytest

from kmaps.bench.work.samples import Split, features_cache, fill_cache, load_split
from kmaps.data import draw_split, load_dataset
from kmaps.features import extract, make_feature

PROTOCOL = {"train": 120, "test": 60}
WORDS = {"patches": [4], "step": 2, "words": 5, "contrast": 0}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path / "cache"))


@pytest.fixture
def words():
    return make_feature("dense-sift-bow", WORDS)


def test_vocabularies_are_those_of_the_split_s_training_images(words):
    digits = load_dataset("digits")
    for number in (0, 1):
        split = load_split("digits", PROTOCOL, number, words, "l1")
        train, test = draw_split(digits, PROTOCOL, number)
        rows = np.concatenate([train, test])
        expected = extract(digits, "dense-sift-bow", "l1", rows=rows, train=train, **WORDS)
        assert (split.x_train != expected[:120]).nnz == 0
        assert (split.x_test != expected[120:]).nnz == 0
        np.testing.assert_array_equal(split.y_train, digits.y[train])
        np.testing.assert_array_equal(split.y_test, digits.y[test])
        assert split.sizes == {
            **{"n_train": 120, "n_test": 60, "n_skipped": 0},
            "n_features": expected.shape[1],
        }
        assert split.class_names == tuple("0123456789")


def test_descriptors_are_kept_once_and_words_for_each_training_set(words):
    digits = load_dataset("digits")
    wanted = [(words, PROTOCOL, 0), (words, PROTOCOL, 1), (words, PROTOCOL, 0)]
    fill_cache(wanted, digits, skip_bad=False, progress=None)
    assert len(list(features_cache().rglob("about.json"))) == 3
    assert len(list(features_cache().rglob("learned.npz"))) == 2
    # The sizes of a scaling experiment are parts of one split: each has words of its own.
    fill_cache([(words, {**PROTOCOL, "train": 90}, 0)], digits, skip_bad=False, progress=None)
    assert len(list(features_cache().rglob("learned.npz"))) == 3
    by_size = [(words, {**PROTOCOL, "train": n}, 0) for n in (50, 70)]
    fill_cache(by_size, digits, skip_bad=False, progress=None)
    assert len(list(features_cache().rglob("learned.npz"))) == 5


def test_columns_of_a_table_go_by_the_range_of_the_training_rows():
    protocol = {"train": 0.5, "stratified": True}
    raw = load_split("wine", protocol, 0, None, "none")
    scaled = load_split("wine", protocol, 0, None, "min-max")
    low, high = raw.x_train.min(axis=0), raw.x_train.max(axis=0)
    for x, given in ((scaled.x_train, raw.x_train), (scaled.x_test, raw.x_test)):
        np.testing.assert_allclose(x, ((given - low) / (high - low)).clip(0, 1), atol=1e-6)
    # Some test rows lie beyond the training rows, or a range of all rows would pass.
    assert ((raw.x_test < low) | (raw.x_test > high)).any()


def test_a_split_is_normalised_without_touching_the_samples_that_others_share():
    shared = Split(np.float32([[1, 3]]), np.array([0]), np.float32([[4, 16]]), np.array([0]))
    own = shared.normalized("gamma=0.5")
    np.testing.assert_allclose(np.sqrt(own.x_test).sum(), 1, rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(own.x_train).sum(), 1, rtol=1e-6)
    assert shared.x_test.tolist() == [[4, 16]]
    assert shared.x_train.tolist() == [[1, 3]]
