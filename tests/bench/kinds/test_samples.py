"""Kinds on the samples of a dataset: checked and extracted first, bad images left out."""

from dataclasses import replace

import numpy as np
import pytest
from measured import cells_of, measured
from PIL import Image

from kmaps.bench.kinds import KINDS
from kmaps.bench.work import samples
from kmaps.data import load_dataset
from kmaps.errors import ConfigError, DataError

WORDS = """
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
HOG = WORDS.replace(
    "name: dense-sift-bow, normalize: l1, patches: [4], step: 2, words: 5, contrast: 0",
    "name: hog-pyramid, cells: [4, 2], signed: true",
)
BY_KIND = {
    "classification": HOG,
    "scaling": HOG.replace("train: 120, test: 60", "official: true").replace("splits: 2\n", "")
    + "kind: scaling\nsizes: [20, 40]\n",
    "trade-off": """
experiment: thin
kind: trade-off
dataset: {name: digits, train: 120, test: 60}
features: {name: hog-pyramid, cells: [4, 2], signed: true, normalize: l1}
kernels: [exp-chi2]
draws: 1
maps: [{map: generalized-rbf, n_frequencies: 20}]
learners: [{name: dense, C: [10]}]
""",
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path / "cache"))


CHOSEN = HOG.replace("train: 120, test: 60", "choose: 1, train: [a, b], test: [train]")


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (
            "classification",
            CHOSEN.replace("splits: 2", "splits: 3"),
            "split 2: choosing 1 of 2 training groups",
        ),
        (
            "scaling",
            BY_KIND["scaling"].replace("[20, 40]", "[20, 2000]"),
            "digits: train 2000 is more than the 449 samples of the group 'train'",
        ),
    ],
)
def test_every_split_is_drawn_before_anything_is_measured(kind, text, message, monkeypatch):
    digits = load_dataset("digits")
    changed = replace(digits, groups=np.resize(["a", "b", "test", "train"], len(digits.y)))
    monkeypatch.setattr("kmaps.bench.kinds.kind.load_dataset", lambda name, skip_bad: changed)
    with pytest.raises(ConfigError, match=message):
        KINDS[kind].prepare(cells_of(text))


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
    keys = [cells_of(text)[0].key("d") for text in (WORDS, WORDS.replace(old, new))]
    assert (keys[0] == keys[1]) == same


@pytest.mark.parametrize("kind", ["classification", "trade-off"])
def test_images_left_out_are_counted_in_the_record(kind, tmp_path, monkeypatch):
    digits = load_dataset("digits")
    labels = digits.y[:200]
    paths = []
    for i, image in enumerate(digits.images[:200]):
        paths.append(tmp_path / f"{i}.png")
        Image.fromarray(image * 15).save(paths[-1])
    for path in paths[-2:]:
        path.write_bytes(b"")
    spoiled = replace(digits, images=paths, y=labels, digest="spoiled")
    monkeypatch.setattr(samples, "load_dataset", lambda name, skip_bad: spoiled)
    monkeypatch.setattr("kmaps.bench.kinds.kind.load_dataset", lambda name, skip_bad: spoiled)
    text = BY_KIND[kind].replace("train: 120, test: 60", "train: 150, test: 50")
    words = "dense-sift-bow, patches: [4], step: 2, words: 5, contrast: 0"
    cells = cells_of(text.replace("hog-pyramid, cells: [4, 2], signed: true", words))
    with pytest.raises(DataError, match="an empty file; skip_bad=True"):
        KINDS[kind].prepare(cells)
    KINDS[kind].prepare(cells, skip_bad=True)
    columns = measured(cells[0], skip_bad=True).columns
    assert columns["n_skipped"] == 2
    assert columns["n_train"] + columns["n_test"] == 198
    split = samples.load_split(
        "digits", cells[0].protocol, 0, cells[0].feature, "l1", skip_bad=True
    )
    assert split.x_train.shape[0] == len(split.y_train) == columns["n_train"]
    y = np.concatenate([split.y_train, split.y_test])
    np.testing.assert_array_equal(np.bincount(y), np.bincount(labels[:-2]))
