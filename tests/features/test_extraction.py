"""Extraction over a dataset: rows, cache, interruptions, images that cannot be used."""

import json

import numpy as np
import pytest
from drawn import dataset, noise, photograph, save
from scipy import sparse

from kmaps.errors import DataError, InputError
from kmaps.features import FEATURES, Extractor, extract, make_feature
from kmaps.features.bow import DenseSiftBow
from kmaps.features.hog import HogPyramid
from kmaps.features.phog import Phog
from kmaps.thread_pool import num_threads, threads

BOW = {"patches": [8], "step": 4, "words": 10, "samples": 20, "train": range(6)}
CASES = {"intensity": {}, "hog-pyramid": {}, "phog": {}, "dense-sift-bow": BOW}


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of three images, so that ten images have four."""
    for feature in FEATURES.values():
        monkeypatch.setattr(feature, "block_images", 3)


@pytest.fixture
def seen(monkeypatch):
    """How many images each call of a first stage saw."""
    numbers, whole = [], HogPyramid.describe
    monkeypatch.setattr(
        HogPyramid, "describe", lambda self, some: numbers.append(len(some)) or whole(self, some)
    )
    return numbers


def hog(data, folder, *args, **parameters):
    return extract(data, "hog-pyramid", *args, cache=folder, **parameters)


def dense(X) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else X


@pytest.fixture
def drawn():
    return dataset(np.stack([photograph(20, 24, i) for i in range(10)]))


@pytest.mark.parametrize("name", CASES)
def test_the_same_with_and_without_a_cache_blocks_and_threads(name, drawn, tmp_path, monkeypatch):
    plain = dense(extract(drawn, name, **CASES[name]))
    assert len(plain) == 10
    assert plain.dtype == np.float32
    if name != "dense-sift-bow":  # whose draw of descriptors depends on the blocks
        monkeypatch.setattr(FEATURES[name], "block_images", 3)
    for n in (1, 3):
        with threads(n):
            for _ in ("fills the cache", "reads it"):
                kept = extract(drawn, name, cache=tmp_path / str(n), **CASES[name])
                np.testing.assert_array_equal(dense(kept), plain)


@pytest.mark.parametrize("name", CASES)
def test_rows_come_as_asked_for(name, drawn, small_blocks):
    whole = dense(extract(drawn, name, **CASES[name]))
    for rows in ([9, 0, 4, 4], [3], list(range(10))):
        some = dense(extract(drawn, name, rows=rows, **CASES[name]))
        np.testing.assert_array_equal(some, whole[rows])


def test_normalisation_is_not_cached(drawn, tmp_path):
    first, raw = hog(drawn, tmp_path, "l1"), hog(drawn, tmp_path)
    np.testing.assert_allclose(first.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(raw / raw.sum(axis=1, keepdims=True), first, rtol=1e-5)


def test_what_is_there_is_not_made_again(drawn, tmp_path, small_blocks, seen):
    def stop(label, done, total):
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), threads(1):
        hog(drawn, tmp_path, progress=stop)
    assert seen == [3, 3]
    X = hog(drawn, tmp_path)
    assert sum(seen) == 10
    np.testing.assert_array_equal(X, extract(drawn, "hog-pyramid"))
    (block,) = tmp_path.rglob("00002.npz")
    for damaged in (b"", block.read_bytes()[:200], b"x" * 500):
        block.write_bytes(damaged)
        seen.clear()
        np.testing.assert_array_equal(hog(drawn, tmp_path), X)
        assert seen == [3]


def test_a_damaged_vocabulary_is_learned_again(drawn, tmp_path):
    X = dense(extract(drawn, "dense-sift-bow", cache=tmp_path, **BOW))
    (learned,) = tmp_path.rglob("learned.npz")
    whole = learned.read_bytes()
    flipped = bytearray(whole)
    flipped[-600] ^= 64  # a value of the last word
    for damaged in (flipped, whole[:200], b"", b"x" * 500):
        learned.write_bytes(damaged)
        for block in learned.parent.glob("0*.npz"):
            block.unlink()
        again = extract(drawn, "dense-sift-bow", cache=tmp_path, **BOW)
        np.testing.assert_array_equal(dense(again), X)
        assert learned.read_bytes() == whole


def test_what_would_differ_is_not_shared(drawn, tmp_path, seen, monkeypatch):
    hog(drawn, tmp_path)
    hog(dataset(drawn.images, digest="d2"), tmp_path)
    hog(dataset(drawn.images, name="other"), tmp_path)
    hog(drawn, tmp_path, signed=True)
    monkeypatch.setattr(HogPyramid, "version", 2)
    hog(drawn, tmp_path)
    assert sum(seen) == 50


def test_words_share_descriptors_but_not_vocabularies(drawn, tmp_path):
    for arguments in (BOW, {**BOW, "words": 8}, {**BOW, "train": range(5)}):
        extract(drawn, "dense-sift-bow", cache=tmp_path, **arguments)
    abouts = [json.loads(path.read_text()) for path in tmp_path.rglob("about.json")]
    assert sum("training_images" not in about for about in abouts) == 1
    assert sum("training_images" in about for about in abouts) == 3
    assert len(list(tmp_path.rglob("learned.npz"))) == 3


def test_filling_the_cache_leaves_nothing_to_extract(drawn, tmp_path, seen):
    Extractor(drawn, make_feature("hog-pyramid"), cache=tmp_path).fill_cache()
    hog(drawn, tmp_path)
    assert sum(seen) == 10
    Extractor(drawn, make_feature("intensity"), cache=tmp_path).fill_cache()
    assert len(list(tmp_path.rglob("about.json"))) == 1  # intensities are not worth keeping


def test_progress_counts_images(drawn, tmp_path, small_blocks):
    told = []
    arguments = {**BOW, "cache": tmp_path, "progress": lambda *step: told.append(step)}
    extract(drawn, "dense-sift-bow", rows=[1, 9], **arguments)
    labels = list(dict.fromkeys(label for label, _, _ in told))
    assert labels[0] == "drawn dense-sift-bow: training images"
    assert labels[1].startswith("drawn dense-sift-bow: learning from ")
    assert labels[2] == "drawn dense-sift-bow"
    for label in (labels[0], labels[2]):
        counts = [(done, total) for name, done, total in told if name == label]
        assert counts[0][0] == 0
        assert counts == sorted(counts)
        assert counts[-1] == ((6, 6) if label == labels[0] else (2, 2))


@pytest.fixture
def files(tmp_path):
    """Ten images of several sizes, of which four cannot be used."""
    folder = tmp_path / "images"
    folder.mkdir()
    paths = save(folder, [photograph(20 + i, 30, i) for i in range(10)], ".jpg")
    paths[2].write_bytes(b"")
    paths[5].write_text("not an image")
    paths[7].write_bytes(paths[7].read_bytes()[:300])
    save(folder, [noise(3, 40)], "-small.png")[0].replace(paths[8])
    return dataset(paths, name="files")


REASONS = {
    2: "is an empty file",
    5: r"is no image \(12 bytes\)",
    7: "cannot be read: .*[Tt]runcated.*",
    8: r"40 × 3 pixels \(width × height\) are too few, phog needs at least 4 × 4",
}


@pytest.mark.parametrize("row", REASONS)
def test_an_image_that_cannot_be_used_is_named(files, row):
    with pytest.raises(DataError, match=f"files: .*/00{row}.jpg: {REASONS[row]}; skip_bad=True"):
        extract(files, "phog", rows=[0, row])


def test_bad_images_can_be_skipped(files, tmp_path, small_blocks):
    good = [0, 1, 3, 4, 6, 9]
    expected = extract(dataset([files.images[i] for i in good]), "phog")
    for _ in ("fills the cache", "reads it"):
        bad = {}
        X = extract(files, "phog", cache=tmp_path / "cache", on_bad=bad.__setitem__)
        assert list(bad) == list(REASONS)
        np.testing.assert_array_equal(X[good], expected)
    # What was skipped once is an error when it is not to be.
    with pytest.raises(DataError, match="an empty file"):
        extract(files, "phog", cache=tmp_path / "cache")
    # Unless it is not wanted.
    some = extract(files, "phog", cache=tmp_path / "cache", rows=[0, 1])
    np.testing.assert_array_equal(some, expected[:2])


def test_a_repaired_image_is_read_again(files, tmp_path):
    arguments = {"cache": tmp_path / "cache", "on_bad": lambda row, reason: None}
    before = extract(files, "phog", **arguments)
    files.images[2].write_bytes(files.images[1].read_bytes())
    after = extract(files, "phog", **arguments)
    assert not before[2].any()
    np.testing.assert_array_equal(after[2], before[1])


def test_nothing_is_learned_from_a_bad_image(files, monkeypatch):
    samples = []
    whole = DenseSiftBow.fit
    monkeypatch.setattr(DenseSiftBow, "fit", lambda self, s: samples.append(s) or whole(self, s))
    arguments = {**BOW, "words": 4, "on_bad": lambda row, reason: None}
    extract(files, "dense-sift-bow", rows=[0], **arguments)  # trains on 0 … 5
    # A sixth of 80 descriptors, rounded up, of each of the four good ones, none of 2 and 5.
    assert len(samples[0]) == 4 * 14
    with pytest.raises(DataError, match=r"002\.jpg: is an empty file"):
        extract(files, "dense-sift-bow", rows=[0], **BOW)


def test_damaged_images_are_not_used_and_not_kept(files, tmp_path):
    """What the dataset calls damaged is bad although it can be read, whatever the cache has."""
    arguments = {**BOW, "words": 4, "cache": tmp_path / "cache", "train": [0, 1, 3, 4]}
    words = DenseSiftBow.name
    whole = extract(files, words, rows=[0, 1, 3], on_bad=lambda row, reason: None, **arguments)
    files.damaged = {1: "changed"}
    with pytest.raises(DataError, match=r"001\.jpg: changed; skip_bad=True"):
        extract(files, words, rows=[1], **arguments)
    bad = {}
    arguments["on_bad"] = bad.__setitem__
    some = extract(files, words, rows=[0, 1, 3], **arguments)
    assert bad == {1: "changed"}
    assert (some[[0, 2]] != whole[[0, 2]]).nnz > 0  # other words, learned without it
    files.damaged = {}
    assert (extract(files, words, rows=[0, 1, 3], **arguments) != whole).nnz == 0


def test_colour_and_palette_files_become_grey(tmp_path):
    from PIL import Image

    grey = photograph(40, 50, 0)
    colour = np.stack([grey, grey, grey], axis=2)
    Image.fromarray(colour).save(tmp_path / "colour.png")
    Image.fromarray(grey).save(tmp_path / "grey.png")
    Image.fromarray(grey).convert("P").save(tmp_path / "palette.png")
    paths = [tmp_path / f"{kind}.png" for kind in ("grey", "colour", "palette")]
    X = extract(dataset(paths), "phog")
    np.testing.assert_allclose(X[1], X[0], rtol=1e-5)
    np.testing.assert_allclose(X[2], X[0], rtol=1e-5)


@pytest.mark.parametrize("name", ["intensity", "hog-pyramid"])
def test_what_features_refuse(files, name, monkeypatch):
    with pytest.raises(InputError, match=f"files {name}: no images to extract"):
        extract(files, name, rows=[])
    arrays = dataset([noise(20, 20), noise(2, 9)], name="arrays")  # called by their numbers
    with pytest.raises(DataError, match="arrays: image 1: 9 × 2 pixels"):
        extract(arrays, "phog")
    with pytest.raises(InputError, match=f"files: the images differ in size, and {name} needs "):
        extract(files, name)
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 100)  # Pillow refuses twice as many
    with pytest.raises(DataError, match=r"0\.jpg: cannot be read: Image size \(600 pixels\) exc"):
        extract(files, name, rows=[0])


def test_blocks_leave_the_threads_to_each_other(drawn, small_blocks, monkeypatch):
    seen = []
    whole = Phog.describe
    monkeypatch.setattr(
        Phog, "describe", lambda self, p: seen.append(num_threads()) or whole(self, p)
    )
    with threads(2):
        extract(drawn, "phog")
    assert seen == [1] * 4
