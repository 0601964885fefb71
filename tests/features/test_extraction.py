"""Extraction over a dataset: rows, cache, interruptions, images that cannot be used."""

import numpy as np
import pytest
from drawn import dataset, noise, photograph, save
from scipy import sparse

from kmaps.errors import DataError, InputError
from kmaps.features import FEATURES, extract
from kmaps.features.bow import DenseSiftBow
from kmaps.features.hog import HogPyramid
from kmaps.thread_pool import threads

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
    with pytest.raises(DataError, match=r"0\.jpg: .*600 pixels"):
        extract(files, name, rows=[0])
