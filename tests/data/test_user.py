"""The user's data: the same samples from every format; the digest tells changed files."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.datasets import dump_svmlight_file

from kmaps.data import Dataset, Table, UserFiles, draw_split, load_dataset
from kmaps.errors import ConfigError, DataError, InputError
from kmaps.features import extract

RNG = np.random.default_rng(0)
X = np.round(RNG.gamma(1.0, size=(20, 4)), 3).astype(np.float32)
KINDS = np.array(["owl", "cat", "dog"])[np.arange(20) % 3]
NUMBER = np.array([2, 0, 1])[np.arange(20) % 3]  # of each among the sorted ones
WHO = np.array([f"p{i // 4}" for i in range(20)])
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(kind=KINDS, who=WHO, row=range(20))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with the files, which is also where the cache is."""
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("t.csv", index=False)
    return tmp_path


def files(*names, **options):
    parts = ("",) if len(names) == 1 else ("train", "test")
    given = {"label_column": "kind", **options}
    rows = {part: Path(name) for part, name in zip(parts, names, strict=True)}
    return UserFiles(name="mine", rows=rows, **given)


COLUMNS = {"group_column": "who", "id_column": "row"}


def write_parts():
    FRAME[:14].to_csv("train.csv", index=False)
    FRAME[14:].to_csv("test.csv", index=False)


def write_labels():
    np.save("X.npy", X)
    FRAME[["kind", "who", "row"]].to_csv("y.csv", index=False)


CASES = {
    "csv": lambda: files("t.csv", **COLUMNS),
    "parquet": lambda: FRAME.to_parquet("t.parquet") or files("t.parquet", **COLUMNS),
    "feather": lambda: FRAME.to_feather("t.feather") or files("t.feather", **COLUMNS),
    "npz": lambda: (
        np.savez("t.npz", X=X, kind=KINDS, who=WHO, row=range(20)) or files("t.npz", **COLUMNS)
    ),
    "parts": lambda: write_parts() or files("train.csv", "test.csv", **COLUMNS),
    "labels": lambda: write_labels() or files("X.npy", labels={"": Path("y.csv")}, **COLUMNS),
}


@pytest.mark.parametrize("case", CASES)
def test_every_format_gives_the_same_table(case):
    given = CASES[case]()
    for _ in range(2):  # the second time from the cache
        table = load_dataset(given)
        assert isinstance(table, Table)
        np.testing.assert_array_equal(table.X, X)
        assert table.X.dtype == np.float32
        assert table.class_names == ("cat", "dog", "owl")
        assert table.y.tolist() == NUMBER.tolist()
        assert table.clusters.tolist() == WHO.tolist()
        assert table.digest == given.digest
        parts = ["train"] * 14 + ["test"] * 6 if case == "parts" else WHO.tolist()
        assert table.groups.tolist() == parts
    assert len(list(Path("cache").glob("user-*"))) == 1


def test_sparse_files_share_their_columns():
    wide, narrow = X[:12], X[12:].copy()
    narrow[:, 2:] = 0
    dump_svmlight_file(wide, NUMBER[:12], "a.svm", zero_based=True)
    dump_svmlight_file(narrow, NUMBER[12:], "b.svm", zero_based=True)
    given = files("a.svm", "b.svm", label_column=None)
    for _ in range(2):
        table = load_dataset(given)
        np.testing.assert_array_equal(table.X.toarray(), np.concatenate([wide, narrow]))
        assert table.y.tolist() == NUMBER.tolist()
    assert [len(part) for part in draw_split(table, {"official": True}, 0)] == [12, 8]
    Path("b.svm").write_text("1 1:1\n0 2:1\n")
    with pytest.raises(InputError, match=r"indices count a.svm from 0, b.svm from 1; say zero"):
        load_dataset(files("a.svm", "b.svm", label_column=None))


def test_sparse_files_that_may_count_from_different_numbers_are_refused():
    dump_svmlight_file(X[:12], NUMBER[:12], "one.svm", zero_based=False)
    first_is_zero = X[12:].copy()
    first_is_zero[:, 0] = 0
    dump_svmlight_file(first_is_zero, NUMBER[12:], "zero.svm", zero_based=True)
    both = {"label_column": None}
    with pytest.raises(InputError, match=r"last one of all parts occurs in zero.svm, so it may"):
        load_dataset(files("one.svm", "zero.svm", **both))
    first_is_zero[:, -1] = 0
    dump_svmlight_file(first_is_zero, NUMBER[12:], "zero.svm", zero_based=False)
    told = load_dataset(files("one.svm", "zero.svm", zero_based=False, **both))
    np.testing.assert_array_equal(told.X.toarray()[12:], first_is_zero)


def test_the_digest_is_of_the_content_and_how_it_is_read(folder):
    before = files("t.csv").digest
    (folder / "other").mkdir()
    Path("t.csv").rename("other/moved.csv")
    assert files("other/moved.csv").digest == before
    assert files("other/moved.csv", label_column="who").digest != before
    assert files("other/moved.csv", group_column="who").digest != before
    Path("other/moved.csv").write_text(Path("other/moved.csv").read_text().replace("owl", "elk"))
    assert files("other/moved.csv").digest != before
    with pytest.raises(DataError, match=r"mine: t.csv: no such file"):
        files("t.csv").digest  # noqa: B018


def test_a_file_changed_after_its_digest_was_taken_is_not_read():
    given = files("t.csv")
    assert given.digest
    Path("t.csv").write_text(Path("t.csv").read_text() + "1,1,1,1,cat,p9,99\n")
    with pytest.raises(DataError, match="mine: its files were changed meanwhile; start again"):
        load_dataset(given)
    assert len(load_dataset(files("t.csv", **COLUMNS)).y) == 21


def test_a_damaged_cache_is_read_anew():
    given = files("t.csv", **COLUMNS)
    load_dataset(given)
    (kept,) = Path("cache").glob("user-*/X.npy")
    kept.write_bytes(b"damaged")
    np.testing.assert_array_equal(load_dataset(given).X, X)


def test_groups_and_subsets():
    FRAME.assign(part=["train"] * 12 + ["test"] * 8).to_csv("t.csv", index=False)
    table = load_dataset(files("t.csv", split_column="part", **COLUMNS))
    train, test = draw_split(table, {"official": True}, 0)
    assert (train.tolist(), test.tolist()) == (list(range(12)), list(range(12, 20)))
    # Without subsets the groups are what a split may name.
    table = load_dataset(files("t.csv", split_column="kind", label_column="part", **COLUMNS))
    assert set(table.groups.tolist()) == set(KINDS.tolist())
    FRAME.to_csv("t.csv", index=False)
    table = load_dataset(files("t.csv", **COLUMNS))
    train, test = draw_split(table, {"train": ["p0", "p3"], "test": ["p4"]}, 0)
    assert (set(WHO[train]), set(WHO[test])) == ({"p0", "p3"}, {"p4"})


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"row": [0, *range(19)]}, {}, "mine: column 'row': 0 stands in 2 rows, expected another"),
        ({"kind": "cat"}, {}, "mine: all 20 labels are cat; a classification needs two classes"),
        ({"kind": range(20)}, {}, r"mine: each of 20 rows has another label \(0, 1, 2, 3, 4"),
        ({"kind": ["nan", *KINDS[1:]]}, {}, "t.csv:2: the label is 'nan', expected a text or a"),
        ({"who": ["", *WHO[1:]]}, {}, "t.csv:2: column 'who' is '', expected a text"),
        ({}, {"label_column": "knd"}, "its header has no column 'knd', did you mean 'kind'"),
        ({}, {"group_column": "wo"}, "its header has no column 'wo', did you mean 'who'"),
        ({}, {"label_column": None}, r"t.csv: holds no labels; name a file of them \(labels\), or"),
    ],
)
def test_what_makes_no_dataset(change, options, message):
    FRAME.assign(**change).to_csv("t.csv", index=False)
    with pytest.raises(InputError, match=message):
        load_dataset(files("t.csv", **{**COLUMNS, **options}))


def test_files_without_labels_or_with_others():
    np.save("X.npy", X)
    with pytest.raises(InputError, match=r"X.npy: holds no labels; name a file of them \(labels\)"):
        load_dataset(files("X.npy", label_column=None))
    np.save("y.npy", NUMBER[:9])
    with pytest.raises(InputError, match=r"y.npy: 9 labels, but X.npy has 20 rows"):
        load_dataset(files("X.npy", label_column=None, labels={"": Path("y.npy")}))
    with pytest.raises(InputError, match=r"y.npy: has no columns with names; leave label_column=k"):
        load_dataset(files("X.npy", labels={"": Path("y.npy")}))
    with pytest.raises(DataError, match=r"mine: z.npy: no such file"):
        load_dataset(files("X.npy", label_column=None, labels={"": Path("z.npy")}))


def test_parts_that_do_not_belong_together():
    write_parts()
    table = load_dataset(files("train.csv", "test.csv", **COLUMNS))
    message = r"mine: group 'p3' is in both the training and the test set \(1 of 5 groups are\)"
    with pytest.raises(ConfigError, match=message):
        draw_split(table, {"official": True}, 0)
    FRAME[14:].rename(columns={"b": "x"}).to_csv("other.csv", index=False)
    message = "other.csv: column 2 is 'x', in train.csv it is 'b'; give both the same columns"
    with pytest.raises(InputError, match=message):
        load_dataset(files("train.csv", "other.csv", **COLUMNS))
    FRAME[14:].drop(columns="b").to_csv("narrow.csv", index=False)
    with pytest.raises(InputError, match=r"narrow.csv has 3 columns, train.csv has 4"):
        load_dataset(files("train.csv", "narrow.csv", **COLUMNS))
    np.save("a.npy", X[:14])
    np.save("b.npy", X[14:])
    np.save("ya.npy", NUMBER[:14])
    np.save("yb.npy", KINDS[14:])
    labels = {"train": Path("ya.npy"), "test": Path("yb.npy")}
    with pytest.raises(InputError, match="the labels are text in one part and numbers in the oth"):
        load_dataset(files("a.npy", "b.npy", label_column=None, labels=labels))


# ---- images


@pytest.fixture
def images():
    """Six images of one size, as arrays; their files by class."""
    levels = RNG.integers(0, 256, (6, 12, 10)).astype(np.uint8)
    for number, image in enumerate(levels):
        place = Path("pictures", ["cat", "dog"][number % 2])
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(place / f"{number}.png")
    Path("pictures/cat/notes.txt").write_text("no image")
    return levels


def pictures(*names, **options):
    return files(*names, images=True, **{"label_column": None, **options})


def test_a_folder_a_class(images):
    given = pictures("pictures")
    found = load_dataset(given)
    assert isinstance(found, Dataset)
    assert found.class_names == ("cat", "dog")
    assert found.y.tolist() == [0, 0, 0, 1, 1, 1]
    assert [path.name for path in found.images] == [f"{i}.png" for i in (0, 2, 4, 1, 3, 5)]
    before = given.digest
    Path("pictures/dog/1.png").write_bytes(Path("pictures/dog/3.png").read_bytes())
    assert pictures("pictures").digest != before


def test_a_list_of_paths_and_labels(images):
    lines = [f"cat/{i}.png,{'ab'[i % 2]},p{i // 2}" for i in (4, 0, 2)]
    Path("pictures/list.csv").write_text("\n".join(["file,kind,who", *lines, "dog/1.png,b,p0"]))
    columns = {"image_column": "file", "label_column": "kind", "group_column": "who"}
    found = load_dataset(pictures("pictures/list.csv", **columns))
    assert [path.name for path in found.images] == ["4.png", "0.png", "2.png", "1.png"]
    assert (found.y.tolist(), found.clusters.tolist()) == ([0, 0, 0, 1], ["p2", "p0", "p1", "p0"])
    for text, error, message in (
        ("file,kind\nnone.png,a\n", DataError, "list.csv: none.png: no such file"),
        ("file,kind\ncat/0.png,a\ncat/0.png,b\n", InputError, "cat/0.png is listed twice; leave"),
        ("file,kind\ncat/0.png,\n", InputError, "list.csv:2: column 'kind' is ''"),
    ):
        Path("pictures/list.csv").write_text(text)
        columns = {"image_column": "file", "label_column": "kind"}
        with pytest.raises(error, match=message):
            load_dataset(pictures("pictures/list.csv", **columns))
    with pytest.raises(ConfigError, match="a list of images needs image_column and label_column"):
        load_dataset(pictures("pictures/list.csv"))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("intensity", {}), ("hog-pyramid", {"cells": [4]}), ("phog", {"divisions": [1, 2]})],
)
def test_features_of_files_are_those_of_arrays(images, name, parameters):
    found = load_dataset(pictures("pictures"))
    order = [0, 2, 4, 1, 3, 5]
    arrays = Dataset("arrays", images[order], found.y, found.groups, "", found.class_names)
    np.testing.assert_array_equal(
        extract(found, name, **parameters), extract(arrays, name, **parameters)
    )


def test_folders_that_hold_no_images(images):
    for place, message in (
        ("nowhere", "nowhere: no such file or folder"),
        ("pictures/cat", "pictures/cat: expected a folder for each class, found none"),
    ):
        with pytest.raises(DataError, match=message):
            load_dataset(pictures(place))
    Path("pictures/dog/5.png").unlink()
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        make(Path("pictures/dog/5.png"))
        with pytest.raises(DataError, match=r"5.png: a device, a pipe or a folder, expected a fil"):
            load_dataset(pictures("pictures"))
        Path("pictures/dog/5.png").unlink()
    Path("pictures/elk").mkdir()
    with pytest.raises(DataError, match=r"pictures/elk: no image in it \(.bmp, .gif"):
        load_dataset(pictures("pictures"))
    with pytest.raises(ConfigError, match="pictures: a folder has no column 'kind'; leave it out"):
        load_dataset(pictures("pictures", label_column="kind"))
