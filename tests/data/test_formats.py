"""Formats: what they accept, what they refuse, and that the archive's order does not matter."""

import gzip
import hashlib
import random
import struct
from dataclasses import replace

import numpy as np
import pytest
from packed import tarred
from sklearn.utils import Bunch

from kmaps.data import Manifest, SourceFile, TableDataset, download, load_dataset, tree_digest
from kmaps.data.formats import read_idx, read_pgm
from kmaps.errors import DataError

COMMON = {"title": "t", "licence": "l", "citation": "c", "homepage": "https://example.org"}


@pytest.mark.parametrize(
    ("name", "key", "counts"),
    [
        ("digits", "images", [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]),
        ("breast-cancer", "data", [212, 357]),
        ("wine", "data", [59, 71, 48]),
    ],
)
def test_samples_that_scikit_learn_ships(name, key, counts, monkeypatch):
    from sklearn import datasets

    function = f"load_{name.replace('-', '_')}"
    given = getattr(datasets, function)()
    found = load_dataset(name)
    assert isinstance(found, TableDataset) == (key == "data")
    samples = found.X if isinstance(found, TableDataset) else found.images
    assert samples.dtype == (np.float32 if key == "data" else np.uint8)
    np.testing.assert_array_equal(samples, given[key].astype(np.float32))
    assert found.y.dtype == np.int64
    assert np.bincount(found.y).tolist() == counts
    assert found.class_names == tuple(map(str, given.target_names))
    assert set(found.groups) == {""}
    for what in ("target", key):
        other = {**given, what: given[what] + (given[what] == given[what].max())}
        monkeypatch.setattr(datasets, function, lambda other=other: Bunch(**other))
        with pytest.raises(DataError, match=f"{name}: expected sha256 .*other samples than"):
            load_dataset(name)


def idx(*sizes, kind=8, data=b""):
    return bytes([0, 0, kind, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes) + data


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"x: not an idx file: expected b'\\x00\\x00\\x08\\x03', got b''"),
        (b"\x1f\x8b\x08\x00", "x: not an idx"),
        (idx(1, 1, 1, kind=0x0D, data=bytes(4)), "x: not an idx"),
        (idx(1, 1, data=bytes(1)), "x: not an idx"),
        (idx(1, 1, 1)[:9], "x: has 9 bytes, its idx header needs 16"),
        (idx(2, 2, 3, data=bytes(11)), r"x: 27 bytes do not hold an array of shape \(2, 2, 3\)"),
        (idx(2, 2, 3, data=bytes(13)), "x: 29 bytes do not"),
    ],
)
def test_bad_idx(content, message):
    with pytest.raises(DataError, match=message):
        read_idx(content, "x", 3)


@pytest.mark.parametrize(
    "header", [b"P5\n3 2\n255\n", b"P5 3 2 255 ", b"P5\n# by hand\n3\n# 9 9\n2\n255\n"]
)
def test_pgm(header):
    # The pixels may look like white space or a comment.
    assert read_pgm(header + b"\n#2345", "x", (2, 3)) == b"\n#2345"


@pytest.mark.parametrize(
    "content",
    [
        b"P2\n3 2\n255\n0 0 0 0 0 0",
        b"P5\n2 3\n255\n123456",
        b"P5\n3 2\n65535\n123456",
        b"P5\n3 2\n255\n12345",
        b"P5\n3 2\n255\n1234567",
        b"P5\n3 2",
        b"",
    ],
)
def test_bad_pgm(content):
    with pytest.raises(DataError, match=r"^x: (not a binary PGM|.*expected 3 × 2 of 256 levels)"):
        read_pgm(content, "x", (2, 3))


def manifest_of(form, contents, **fields):
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    digest, size = tree_digest(digests), sum(map(len, contents.values()))
    source = SourceFile(f"{form}/a.tar.gz", (), digest, size)
    return Manifest(name=form, format=form, digest=digest, files=(source,), **COMMON, **fields)


@pytest.fixture
def load(tmp_path):
    """Return the function that loads a dataset from an archive of some members."""

    def download_and_load(manifest, members):
        path = tmp_path / "mirror" / manifest.files[0].path
        path.parent.mkdir(parents=True)
        path.write_bytes(tarred(*members))
        download(manifest, data_dir=tmp_path, mirror=tmp_path / "mirror")
        return load_dataset(manifest, data_dir=tmp_path)

    return download_and_load


PIXELS = {
    f"{group}/{name}/{i}.pgm": bytes([g, c, i, 7, 8, 9])
    for g, group in enumerate(("1", "T1"))
    for c, name in enumerate(("non", "ped"))
    for i in range(3)
}
PGM = manifest_of("pgm-folders", PIXELS, classes=("non", "ped"), groups=("1", "T1"), shape=(2, 3))


@pytest.mark.parametrize("seed", range(3))
def test_pgm_folders_do_not_depend_on_order_prefix_or_headers(load, seed):
    rng = random.Random(seed)
    members = [
        (f"top{seed}/{name}", f"P5\n{'# x' * seed}\n3 2\n255\n".encode() + pixels)
        for name, pixels in PIXELS.items()
    ]
    members += [("readme.txt", b"hello"), ("1/non/._0.pgm", b"junk"), ("2/non/0.pgm", b"junk")]
    rng.shuffle(members)
    data = load(PGM, members)
    assert data.images.shape == (12, 2, 3)
    np.testing.assert_array_equal(data.images[:, 0, 0], np.repeat([0, 1], 6))
    np.testing.assert_array_equal(data.images[:, 0, 1], data.y)
    np.testing.assert_array_equal(data.images[:, 0, 2], np.tile([0, 1, 2], 4))
    assert data.groups.tolist() == ["1"] * 6 + ["T1"] * 6


IMAGES = {"Zebra/image_1.jpg": b"z1", "ant/image_1.jpg": b"a1", "ant/image_2.jpg": b"a2"}
JPEG = manifest_of("jpeg-folders", IMAGES, classes=("Zebra", "ant"), first_per_class=2)


def test_jpeg_folders_keep_the_first_of_each_class(load, tmp_path):
    extra = [("ant/image_3.jpg", b"a3"), ("BACKGROUND/image_1.jpg", b"b1"), ("ant/notes", b"")]
    members = [(f"top/{name}", content) for name, content in [*extra, *IMAGES.items()]]
    data = load(JPEG, members)
    folder = tmp_path / "jpeg-folders"
    assert [path.relative_to(folder).as_posix() for path in data.images] == sorted(IMAGES)
    assert [path.read_bytes() for path in data.images] == [b"z1", b"a1", b"a2"]
    assert data.y.tolist() == [0, 1, 1]
    assert data.groups.tolist() == [""] * 3


def test_damaged_images_are_named_and_can_be_skipped(load, tmp_path):
    load(JPEG, IMAGES.items())
    cache, folder = {"data_dir": tmp_path}, tmp_path / "jpeg-folders"
    (folder / "ant/image_2.jpg").write_bytes(b"")
    with pytest.raises(DataError, match=r"ant/image_2.jpg: has 0 bytes, expected 2"):
        load_dataset(JPEG, **cache)
    assert load_dataset(JPEG, skip_bad=True, **cache).damaged == {2: "has 0 bytes, expected 2"}
    (folder / "ant/image_1.jpg").write_bytes(b"xx")
    (folder / "ant/image_2.jpg").write_bytes(b"a2")
    changed = {1: "has changed since it was verified"}
    assert load_dataset(JPEG, skip_bad=True, **cache).damaged == changed
    # Not a whole class.
    (folder / "Zebra/image_1.jpg").unlink()
    with pytest.raises(DataError, match=r"Zebra/image_1.jpg: .*No such file"):
        load_dataset(JPEG, **cache)
    with pytest.raises(DataError, match="every image of 'Zebra'"):
        load_dataset(JPEG, skip_bad=True, **cache)


def test_idx_files_that_do_not_fit_together(tiny, tmp_path):
    # The right content by the manifest's own digests, but one label short.
    manifest = tiny.manifest
    content = idx(2, data=bytes(2))
    (tiny.folder / "tiny/train-labels.gz").write_bytes(gzip.compress(content))
    digest = hashlib.sha256(content).hexdigest()
    files = tuple(
        replace(f, sha256=digest, size=len(content)) if f.role == "train-labels" else f
        for f in manifest.files
    )
    message = r"tiny: train: images of shape \(3, 2, 3\) for 2 labels, expected \(2, 2, 3\)"
    with pytest.raises(DataError, match=message):
        download(replace(manifest, files=files), data_dir=tmp_path / "cache", mirror=tiny.folder)
    assert not (tmp_path / "cache/tiny").exists()
