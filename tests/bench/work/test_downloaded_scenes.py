"""VOC 2007 and INRIA person, drawn on the spot: from the download to average precision."""

import hashlib
import io
import tarfile
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from sklearn.pipeline import make_pipeline
from spec_text import refuses, text_of
from voc_drawn import draw_voc

from kmaps import HomogeneousMap, LiblinearSVC
from kmaps.bench.work.voc import Windows, detect, evaluate, training_windows
from kmaps.bench.work.windows import devkit_folder, load_windows
from kmaps.data import download, load_dataset, load_manifest, load_scenes
from kmaps.errors import ConfigError, DataError
from kmaps.features import Phog

PROTOCOL = {
    "train": 12,
    "test": 6,
    "beside": 20,
    "candidates": 60,
    "ratios": [1.5],
    "smallest": 24,
    "growth": 1.25,
    "stride": 0.2,
}
INRIA_BOX = (
    'Objects with ground truth : 1 {{ "PASperson" }}\n'
    'Bounding box for object 1 "PASperson" (Xmin, Ymin) - (Xmax, Ymax) : ({}, {}) - ({}, {})\n'
)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("KMAPS_MIRROR", raising=False)
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def voc(tmp_path):
    """The two archives in a mirror, and the manifest with their digests."""
    devkit = draw_voc(tmp_path / "drawn", {"trainval": 14, "test": 8})
    mirror = tmp_path / "mirror/voc2007"
    mirror.mkdir(parents=True)
    manifest = load_manifest("voc2007")
    names = {
        subset: (devkit / f"ImageSets/Main/{subset}.txt").read_text().split()
        for subset in ("trainval", "test")
    }
    sources = []
    for source in manifest.files:
        path = mirror / source.path.partition("/")[2]
        with tarfile.open(path, "w") as archive:
            for name in names[source.role]:
                for file in (f"JPEGImages/{name}.jpg", f"Annotations/{name}.xml"):
                    archive.add(devkit / file, f"VOCdevkit/VOC2007/{file}")
            listed = f"ImageSets/Main/{source.role}.txt"
            archive.add(devkit / listed, f"VOCdevkit/VOC2007/{listed}")
            mask = tarfile.TarInfo("VOCdevkit/VOC2007/SegmentationClass/000001.png")
            archive.addfile(mask, io.BytesIO())
        digest = hashlib.md5(path.read_bytes()).hexdigest()
        sources.append(replace(source, packed=f"md5:{digest}"))
    return replace(manifest, files=tuple(sources)), mirror.parent


def test_voc_2007_from_two_archives(cache, voc):
    manifest, mirror = voc
    with pytest.raises(DataError, match="run `kmaps download voc2007`, or unpack VOCtrainval"):
        devkit_folder()
    assert download(manifest, mirror=mirror).status == "downloaded"
    assert devkit_folder() == cache / "voc2007"
    assert len(load_scenes("voc2007", "trainval")) == 14
    windows = load_windows(PROTOCOL, Phog(), "l1", ["car", "bus"])
    for labels, name in windows.labels:
        model = make_pipeline(HomogeneousMap(), LiblinearSVC(1000.0)).fit(windows.x_train, labels)
        assert windows.judge(name, model.decision_function(windows.x_test)) > 0.6
    with pytest.raises(ConfigError, match=r"no samples to classify; .*load_scenes"):
        load_dataset("voc2007")
    with pytest.raises(ConfigError, match="digits: has no boxes"):
        load_scenes("digits", "test")
    next((cache / "voc2007/Annotations").iterdir()).unlink()
    with pytest.raises(DataError, match="kmaps download voc2007"):
        devkit_folder()


def draw_person(rng, path, *, person):
    """Draw a photograph: noise, and with a person an upright bar of stripes, whose box it returns.

    Boxes count from 1 and include the ends.
    """
    image = np.clip(rng.normal(110, 6, (120, 160)), 0, 255)
    top, left = int(rng.integers(2, 50)), int(rng.integers(2, 120))
    height = int(rng.integers(48, 66))
    width = height // 2
    if person:
        rows = np.arange(height)[:, None] // 6 % 2
        image[top : top + height, left : left + width] = np.where(rows, 40, 220)
    Image.fromarray(image.astype(np.uint8)).save(path)
    return left + 1, top + 1, left + width, top + height


@pytest.fixture
def inria(tmp_path):
    """The archive in a mirror, with a link, as the publisher's has."""
    root = tmp_path / "INRIAPerson"
    rng = np.random.default_rng(0)
    for subset, n_images in (("Train", 14), ("Test", 8)):
        for part in ("pos", "neg", "annotations"):
            (root / subset / part).mkdir(parents=True)
        for i in range(n_images):
            box = draw_person(rng, root / subset / f"pos/crop_{i}.png", person=True)
            (root / subset / f"annotations/crop_{i}.txt").write_text(INRIA_BOX.format(*box))
        for i in range(3):
            draw_person(rng, root / subset / f"neg/none_{i}.jpg", person=False)
    (root / "train_64x128_H96").mkdir()
    (root / "train_64x128_H96/neg").symlink_to("../Train/neg")
    (tmp_path / "mirror/inria-person").mkdir(parents=True)
    path = tmp_path / "mirror/inria-person/INRIAPerson.tar"
    with tarfile.open(path, "w") as archive:
        archive.add(root, "INRIAPerson")
    return path


def test_inria_person_by_the_users_digest(cache, inria):
    mirror = inria.parents[1]
    with pytest.raises(DataError, match=r"nobody recorded a digest of INRIAPerson\.tar.*sha256="):
        download("inria-person", mirror=mirror)
    with pytest.raises(DataError, match="another file: expected sha256 aaaa"):
        download("inria-person", mirror=mirror, sha256="a" * 64, offline=True)
    digest = hashlib.sha256(inria.read_bytes()).hexdigest()
    assert download("inria-person", mirror=mirror, sha256=digest).status == "downloaded"
    assert download("inria-person").status == "present"
    train = load_scenes("inria-person", "Train")
    test = load_scenes("inria-person", "Test")
    assert [len(scene.boxes) for scene in test] == [1] * 8 + [0] * 3
    phog = Phog()
    windows = Windows(ratios=(0.5,), smallest=24, growth=1.2)
    X, y = training_windows(train, ["person"], phog, windows, per_scene=20)
    model = make_pipeline(HomogeneousMap(), LiblinearSVC(C=100 / X.sum(axis=1).mean())).fit(X, y)
    curve = evaluate(detect(test, phog, windows, model), test, "person")
    assert curve.n_objects == 8
    assert curve.average_precision() > 0.6


def test_scenes_are_no_samples_of_a_classification():
    refuses(r"dataset: voc2007 has images with boxes", text_of("small"), "digits", "voc2007")
