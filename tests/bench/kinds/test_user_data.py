"""Experiments on data of the user: the YAML, the samples, the digest on record, the gate."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import yaml
from spec_text import GOOD, mistakes, replaced

import kmaps
from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.load import load, parse
from kmaps.bench.run.clock import UNTIMED
from kmaps.bench.run.runner import plan
from kmaps.bench.work import classify
from kmaps.errors import DataError

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


def test_rows_are_normalised_and_nothing_else(folder):
    text = TEXT + "features: {normalize: l1}\n"
    (folder / "own.yaml").write_text(text)
    _, split = split_of(folder / "own.yaml")
    np.testing.assert_allclose(split.x_train.sum(axis=1), 1, rtol=1e-6)
    text = replaced("name: digits, train: 200, test: 100", "files: {data: t.csv}, train: 9")
    for given in ("name: phog", "bins: 4"):
        (found,) = mistakes(text.replace("name: intensity", given))
        assert found == (
            f"e.yaml:4:12: features.{given.split(':')[0]}: the data are a table, whose columns are "
            "the features; leave it out"
        )
    (found,) = mistakes(replaced("name: digits", "name: wine"))
    assert found.endswith(
        "features.name: the data are a table, whose columns are the features; leave it out"
    )
    (found,) = mistakes(replaced("normalize: l1", "normalize: min-max"))
    assert found.endswith("normalize: min-max is for columns of tables, not for features of images")


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


def test_a_missing_file_is_missing_data(folder):
    (folder / "t.csv").unlink()
    with pytest.raises(DataError, match=r"own: .*mine/t.csv: no such file") as caught:
        plan(load(folder / "own.yaml"))
    assert caught.value.exit_code == 4


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


def test_the_folds_that_choose_c_keep_groups_together(folder, monkeypatch):
    text = TEXT.replace("label_column: kind}", "label_column: kind, group_column: e}")
    (folder / "own.yaml").write_text(text.replace("C: 1", "C: {grid: [0.1, 1]}"))
    values = X.copy()
    values[:, 4] = np.arange(60) // 10
    write(folder / "t.csv", values, Y)
    cell, split = split_of(folder / "own.yaml")
    assert split.x_train.shape[1] == 4
    real, given = classify.models.cross_validate, []

    def spy(*arguments, **options):
        given.append(options["groups"])
        return real(*arguments, **options)

    monkeypatch.setattr(classify.models, "cross_validate", spy)
    KIND.measure(cell, split, UNTIMED)
    (groups,) = given
    # Three of the six groups, ten rows each, beside their rows.
    assert sorted(Counter(groups.tolist()).values()) == [10, 10, 10]
    of = {tuple(row): group for row, group in zip(values[:, :4], values[:, 4], strict=True)}
    expected = [of[tuple(row)] for row in split.x_train]
    np.testing.assert_array_equal(groups.astype(float), expected)
