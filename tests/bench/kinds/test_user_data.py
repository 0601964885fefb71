"""Experiments on data of the user: the YAML, the samples, the digest on record, the gate."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from spec_text import GOOD, mistakes, replaced

import kmaps
from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.load import load, parse
from kmaps.bench.run.runner import plan

KIND = KINDS["classification"]
RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(60, 5)).astype(np.float32)
Y = np.where(X[:, 0] > X[:, 1], "up", "down")

TEXT = """\
experiment: own
dataset: {files: {data: t.csv, label_column: kind}, train: 0.5}
kernels: [chi2]
reductions: [ovr]
baselines: [linear]
C: 1
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with an experiment and its data, which is not the current one."""
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path / "cache"))
    place = tmp_path / "mine"
    place.mkdir()
    write(place / "t.csv", X, Y)
    (place / "own.yaml").write_text(TEXT)
    return place


def write(path, X, y):
    rows = [
        ",".join([*(f"{value:.9g}" for value in row), label])
        for row, label in zip(X, y, strict=True)
    ]
    path.write_text("\n".join(["a,b,c,d,e,kind", *rows, ""]))


def split_of(path):
    cell = KIND.cells(load(path))[0]
    KIND.prepare([cell])
    return cell, KIND.set_up(cell)


def test_a_table_beside_the_experiment(folder):
    cell, split = split_of(folder / "own.yaml")
    assert (cell.dataset, cell.features, cell.feature) == ("own", "", None)
    assert split.sizes == {"n_train": 30, "n_test": 30, "n_features": 5, "n_skipped": 0}
    assert split.class_names == ("down", "up")
    rows = np.concatenate([split.x_train, split.x_test])
    order = np.lexsort(rows.T)
    np.testing.assert_array_equal(rows[order], X[np.lexsort(X.T)])
    labels = np.concatenate([split.y_train, split.y_test])[order]
    assert labels.tolist() == (Y[np.lexsort(X.T)] == "up").astype(int).tolist()


@pytest.mark.parametrize(
    ("dataset", "protocol"),
    [
        ("{files: {train: a.csv, test: b.csv}}", {"official": True}),
        ("{files: {train_images: a, test_images: b}}", {"official": True}),
        ("{files: {data: a.csv, split_column: part}}", {"official": True}),
        ("{files: {images: a}, train: 0.7, stratified: true}", {"train": 0.7, "stratified": True}),
    ],
)
def test_how_splits_are_drawn(dataset, protocol):
    given = parse(f"{TEXT.splitlines()[0]}\ndataset: {dataset}\n" + TEXT.split("\n", 2)[2]).dataset
    assert (given.title, given.protocol) == ("own", protocol)


@pytest.mark.parametrize(
    ("dataset", "place", "message"),
    [
        ("{files: {data: a.csv}}", "3:10", "dataset: protocol: got {}, expected {train: 10000,"),
        ("{files: {data: a.csv, tran: b}, train: 9}", "3:32", "dataset.files.tran: unknown key, d"),
        ("{files: {data: a, train: b}, train: 9}", "3:18", "dataset.files: expected one of: data,"),
        ("{files: {data: ''}, train: 9}", "3:25", "dataset.files.data: expected a path, got an em"),
        ("{files: {train: a, test: b, split_column: c}}", "3:18", "dataset.files: split_column: f"),
        ("{files: {data: a, image_column: c}, train: 9}", "3:18", "dataset.files: image_column: g"),
        ("{name: mnist, files: {data: a}, train: 9}", "3:17", "dataset.name: mnist is a dataset t"),
        ("{train: 9}", "3:10", "dataset: missing key 'name', or 'files'"),
    ],
)
def test_mistakes_have_their_place(dataset, place, message):
    old = (
        "dataset: {name: digits, train: 200, test: 100}\nfeatures: {name: intensity, normalize: l1}"
    )
    (found,) = mistakes(replaced(old, f"dataset: {dataset}"))
    assert found.startswith(f"e.yaml:{place}: {message}")


def test_the_keys_of_cells_are_those_of_the_content(folder):
    (key,) = plan(load(folder / "own.yaml"))
    (folder / "renamed").mkdir()
    for name in ("t.csv", "own.yaml"):
        (folder / name).rename(folder / "renamed" / name)
    assert list(plan(load(folder / "renamed" / "own.yaml"))) == [key]
    with open(folder / "renamed" / "t.csv", "a") as file:
        file.write("1,1,1,1,1,up\n")
    assert list(plan(load(folder / "renamed" / "own.yaml"))) != [key]


def test_manifests_of_one_s_own(folder, tmp_path, monkeypatch):
    packaged = Path(kmaps.__file__).parent.parent / "datasets" / "caltech101.yaml"
    manifest = packaged.read_text().replace("name: caltech101", "name: faces")
    digest = yaml.safe_load(manifest)["digest"]
    text = GOOD.replace("name: digits", "name: faces")
    (folder / "e.yaml").write_text(text)
    (found,) = mistakes(text)
    assert found.startswith("e.yaml:3:17: dataset.name: unknown dataset 'faces' (known: breast-c")
    (tmp_path / "shared").mkdir()
    for place, path in ((folder, ""), (tmp_path / "shared", str(tmp_path / "shared"))):
        monkeypatch.setenv("KMAPS_DATA_PATH", path)
        (place / "faces.yaml").write_text(manifest)
        assert KIND.digest(KIND.cells(load(folder / "e.yaml"))[0]) == digest
        (place / "faces.yaml").unlink()
