"""The features of experiments: extracted before the first cell, read by each."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from kmaps.bench.kinds import grid
from kmaps.bench.kinds import load as spec
from kmaps.bench.run import runner
from kmaps.bench.work import classify as measure
from kmaps.bench.work.samples import features_cache, fill_cache, split_features
from kmaps.data import draw_split, load_dataset
from kmaps.errors import DataError
from kmaps.features import extract

TEXT = """
experiment: words
dataset: {name: digits, train: 120, test: 60}
features: {name: dense-sift-bow, normalize: l1, patches: [4], step: 2, words: 5, contrast: 0}
splits: 2
kernels: [chi2]
reductions: [ovr]
baselines: [linear]
maps: [{map: homogeneous}]
C: 10
"""
HOG = TEXT.replace(
    "name: dense-sift-bow, normalize: l1, patches: [4], step: 2, words: 5, contrast: 0",
    "name: hog-pyramid, cells: [4, 2], signed: true",
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path / "cache"))


def cells(text=TEXT):
    return grid.cells(spec.parse(text))


def test_records_say_which_features(tmp_path):
    done = runner.run(spec.parse(HOG), tmp_path / "out")
    assert [record["status"] for record in done.records] == ["ok"] * 4
    record = done.records[0]
    assert record["features"] == "hog-pyramid cells=[4, 2] signed=True"
    assert record["feature_params"] == {"cells": [4, 2], "signed": True}
    assert (record["n_features"], record["n_skipped"]) == (576, 0)
    assert all(record["accuracy"] > 0.85 for record in done.records)
    # Measured again from the records: the same cells.
    again = runner.run(spec.parse(HOG), tmp_path / "out")
    assert again.measured == 0


def test_features_are_extracted_once_before_the_cells(tmp_path):
    told = []
    runner.run(spec.parse(HOG), tmp_path / "out", extracted=lambda *step: told.append(step))
    assert told[0] == ("digits hog-pyramid", 0, 1797)
    assert told[-1] == ("digits hog-pyramid", 1797, 1797)
    assert len(list(features_cache().rglob("about.json"))) == 1


def test_vocabularies_are_those_of_the_split_s_training_pictures():
    digits = load_dataset("digits")
    for cell in (cells()[0], cells()[2]):
        x, y, n_train, _ = split_features(cell, digits, skip_bad=False)
        train, test = draw_split(digits, cell.protocol, cell.split)
        rows = np.concatenate([train, test])
        expected = extract(
            digits, "dense-sift-bow", "l1", rows=rows, train=train, **cell.feature_params
        )
        assert (x != expected).nnz == 0
        np.testing.assert_array_equal(y, digits.y[rows])
        assert n_train == 120
    fill_cache(cells(), digits, skip_bad=False, progress=None)
    # Descriptors once, words for each of the two splits.
    assert len(list(features_cache().rglob("about.json"))) == 3
    assert len(list(features_cache().rglob("learned.npy"))) == 2


def test_no_test_picture_touches_what_is_learned(tmp_path, monkeypatch):
    """Vocabulary, normalisation and C are the same whatever the test pictures are."""
    digits = load_dataset("digits")
    cell = cells(TEXT.replace("C: 10", "C: {grid: [1, 30], unit_norm: true}"))[1]
    train, _ = draw_split(digits, cell.protocol, cell.split)
    rest = np.setdiff1d(np.arange(len(digits.y)), train)
    others = digits.images.copy()
    others[rest] = 16 - others[rest]
    splits, records = [], []
    for images in (digits.images, others):
        monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path / str(len(splits))))
        changed = replace(digits, images=images)
        monkeypatch.setattr(measure, "load_dataset", lambda name, skip_bad, d=changed: d)
        splits.append(measure.load_split(cell))
        records.append(measure.measure_cell(cell, 1))
    assert (splits[0].x_test != splits[1].x_test).nnz > 0
    assert records[0]["accuracy"] != records[1]["accuracy"]
    assert (splits[0].x_train != splits[1].x_train).nnz == 0
    for column in ("C", "cv_accuracy", "train_bytes"):
        assert records[0][column] == records[1][column]


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("words: 5", "words: 6", False),
        ("words: 5", "words: 5, root: true", True),  # the default
        ("words: 5", "words: 5, root: false", False),
        ("normalize: l1", "normalize: l2", False),
    ],
)
def test_the_key_depends_on_the_resolved_parameters(old, new, same):
    keys = [cells(text)[0].key("d") for text in (TEXT, TEXT.replace(old, new))]
    assert (keys[0] == keys[1]) == same


def test_a_new_version_of_a_feature_is_another_cell(monkeypatch):
    before = cells()[0].key("d")
    monkeypatch.setattr("kmaps.features.bow.DenseSiftBow.version", 99)
    assert cells()[0].key("d") != before


@pytest.fixture
def spoiled(tmp_path):
    """The digits as files, of which the two last cannot be read."""
    digits = load_dataset("digits")
    paths = []
    for i, image in enumerate(digits.images):
        paths.append(tmp_path / f"{i}.png")
        Image.fromarray(image * 15).save(paths[-1])
    for path in paths[-2:]:
        path.write_bytes(b"")
    return replace(digits, images=paths, digest="spoiled")


def test_skipped_pictures_are_left_out_and_counted(spoiled):
    cell = replace(cells()[0], protocol={"train": 1700, "test": 97})
    with pytest.raises(DataError, match="an empty file; --skip-bad leaves such pictures out"):
        split_features(cell, spoiled, skip_bad=False)
    x, y, n_train, n_skipped = split_features(cell, spoiled, skip_bad=True)
    assert n_skipped == 2
    assert x.shape[0] == len(y) == 1795
    assert 1698 <= n_train <= 1700
    np.testing.assert_array_equal(np.bincount(y), np.bincount(spoiled.y[:-2]))


def test_skipping_reaches_the_record(spoiled, tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "load_dataset", lambda name, skip_bad: spoiled)
    cell = replace(cells()[0], protocol={"train": 1700, "test": 97})
    measured = measure.measure_cell(cell, 1, skip_bad=True)
    assert measured["n_skipped"] == 2
    assert measured["n_train"] + measured["n_test"] == 1795
