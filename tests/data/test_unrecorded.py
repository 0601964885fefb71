"""Datasets whose content nobody recorded: the digest of the file, or the user's, verifies them."""

import hashlib
import io
import tarfile
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from kmaps.data import content_digest, download, draw_split, load_dataset, load_manifest
from kmaps.data.cache import stamped_digest
from kmaps.data.manifest import parse_manifest
from kmaps.errors import ConfigError, DataError

FULL = load_manifest("caltech101-full")
FILES = """
name: mine
title: My images
licence: mine
citation: none
homepage: https://example.org
format: jpeg-folders
classes: [cat]
digest: {digest}
files:
  - {{path: mine/a.tar, urls: [https://example.org/a], sha256: {sha256}, size: 9, packed: {packed}}}
"""


def packed_tar(files, mode="w"):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    """The publisher's zip, a tar.gz in it, with 33 to 36 images of each class, drawn."""
    files = {"101_ObjectCategories/BACKGROUND_Google/image_0001.jpg": b"no class"}
    for label, name in enumerate(FULL.classes):
        for i in range(33 + label % 4):
            files[f"101_ObjectCategories/{name}/image_{i:04}.jpg"] = f"{name} {i}".encode()
    folder = tmp_path_factory.mktemp("mirror")
    (folder / "caltech101-full").mkdir()
    with zipfile.ZipFile(folder / "caltech101-full/caltech-101.zip", "w") as archive:
        archive.writestr("caltech-101/101_ObjectCategories.tar.gz", packed_tar(files, "w:gz"))
        archive.writestr("caltech-101/Annotations.tar", packed_tar({"Annotations/x.mat": b"x"}))
    return folder


def of_mirror(mirror):
    digest = hashlib.md5((mirror / "caltech101-full/caltech-101.zip").read_bytes()).hexdigest()
    return replace(FULL, files=(replace(FULL.files[0], packed=f"md5:{digest}"),))


@pytest.fixture
def drawn(mirror, tmp_path):
    done = download(of_mirror(mirror), data_dir=tmp_path, mirror=mirror)
    return done, load_dataset(FULL, data_dir=tmp_path)


def test_the_whole_archive_by_the_digest_of_its_file(drawn, tmp_path, mirror):
    done, data = drawn
    assert done.status == "downloaded"
    assert len(data.y) == sum(33 + label % 4 for label in range(101))
    assert data.images[0].read_bytes() == b"Faces 0"
    # What identifies a run's data is the content, which somebody will record some day.
    assert done.digest == data.digest == content_digest(FULL, data_dir=tmp_path)
    assert done.digest == stamped_digest(tmp_path, "caltech101-full")
    recorded = replace(FULL, digest=done.digest)
    assert load_dataset(recorded, data_dir=tmp_path).digest == done.digest
    assert download(of_mirror(mirror), data_dir=tmp_path, mirror=mirror).status == "present"


def test_splits_disjoint_overlapping_and_of_all_remaining_images(drawn):
    _, data = drawn
    train, test = draw_split(data, FULL.protocol, 0)
    assert len(train) == 30 * 101
    assert not set(train) & set(test)
    assert np.bincount(data.y[test]).tolist() == [3 + label % 4 for label in range(101)]
    again, overlapping = draw_split(data, {**FULL.protocol, "overlap": True}, 0)
    np.testing.assert_array_equal(train, again)
    assert np.bincount(data.y[overlapping]).tolist() == [20] * 101
    assert 0.8 < np.isin(overlapping, train).mean() < 0.95  # 30 of 33 to 36
    some, others = draw_split(data, {"train_per_class": 5}, 0)
    assert sorted([*some, *others]) == list(range(len(data.y)))


def test_another_file_is_refused_before_it_is_unpacked(mirror, tmp_path):
    with pytest.raises(DataError, match="another file: expected md5 3138e1922a9193bfa496528edbbc"):
        download(FULL, data_dir=tmp_path, mirror=mirror, offline=True)
    assert not (tmp_path / "caltech101-full").exists()
    with pytest.raises(DataError, match="kmaps download caltech101-full"):
        content_digest(FULL, data_dir=tmp_path)


@pytest.mark.parametrize(
    ("name", "digest", "message"),
    [
        ("mnist", "a" * 64, "mnist has digests of its own"),
        ("caltech101-full", "a" * 64, "caltech101-full has digests of its own"),
        ("inria-person", "A1", "expected 64 hexadecimal digits"),
    ],
)
def test_users_digest_where_it_is_of_no_use(name, digest, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        download(name, data_dir=tmp_path, sha256=digest, offline=True)


@pytest.mark.parametrize(
    ("digest", "sha256", "packed", "message"),
    [
        ("null", "null", "md5:12", "packed: expected md5:DIGEST or sha256:DIGEST"),
        ("a" * 64, "null", f"md5:{'b' * 32}", "digest: expected null"),
        ("null", "a" * 64, f"md5:{'b' * 32}", "digest: expected aaa"),
    ],
)
def test_mistakes_in_manifests(digest, sha256, packed, message):
    with pytest.raises(ConfigError, match=message):
        parse_manifest(FILES.format(digest=digest, sha256=sha256, packed=packed), "mine.yaml")
    sound = FILES.format(digest="null", sha256="null", packed=f"sha256:{'a' * 64}")
    assert parse_manifest(sound, "mine.yaml").digest is None
