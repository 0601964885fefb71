"""The user's data: the same samples from every format; the digest tells changed files."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.datasets import dump_svmlight_file

from kmaps.data import Dataset, TableDataset, UserFiles, draw_split, load_dataset
from kmaps.errors import ConfigError, DataError, FileNote, InputError
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


def load(*names, **options):
    return load_dataset(files(*names, **options))


def refused(*names, error=InputError, **options):
    with pytest.raises(error) as caught:
        load(*names, **options)
    return str(caught.value)


def write_parts():
    FRAME[:14].to_csv("train.csv", index=False)
    FRAME[14:].to_csv("test.csv", index=False)


CASES = {
    "csv": lambda: files("t.csv", **COLUMNS),
    "parquet": lambda: FRAME.to_parquet("t.parquet") or files("t.parquet", **COLUMNS),
    "feather": lambda: FRAME.to_feather("t.feather") or files("t.feather", **COLUMNS),
    "npz": lambda: (
        np.savez("t.npz", X=X, kind=KINDS, who=WHO, row=range(20)) or files("t.npz", **COLUMNS)
    ),
    "parts": lambda: write_parts() or files("train.csv", "test.csv", **COLUMNS),
    "parts, one without names of columns": lambda: (
        write_parts()
        or np.savez("test.npz", X=X[14:], kind=KINDS[14:], who=WHO[14:], row=range(14, 20))
        or files("train.csv", "test.npz", **COLUMNS)
    ),
    "labels": lambda: (
        np.save("X.npy", X)
        or FRAME[["kind", "who", "row"]].to_csv("y.csv", index=False)
        or files("X.npy", labels={"": Path("y.csv")}, **COLUMNS)
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_every_format_gives_the_same_table(case):
    given = CASES[case]()
    for _ in range(2):  # the second time from the cache
        table = load_dataset(given)
        assert isinstance(table, TableDataset)
        np.testing.assert_array_equal(table.X, X)
        assert table.X.dtype == np.float32
        assert table.class_names == ("cat", "dog", "owl")
        assert table.y.tolist() == NUMBER.tolist()
        assert table.clusters.tolist() == WHO.tolist()
        assert table.digest == given.digest
        parts = ["train"] * 14 + ["test"] * 6 if case.startswith("parts") else WHO.tolist()
        assert table.groups.tolist() == parts
    (kept,) = Path("cache").glob("user-*/X.npy")
    kept.write_bytes(b"damaged")
    np.testing.assert_array_equal(load_dataset(given).X, X)


def test_columns_of_a_table_are_watched():
    FRAME.assign(place=range(20)).to_csv("t.csv", index=False)
    for _ in range(2):  # the second time from the cache
        with pytest.warns(FileNote, match="'place'. counts the rows"):
            load_dataset(files("t.csv", **COLUMNS))
    filled = FRAME.copy()
    column = next(name for name in FRAME if FRAME[name].dtype.kind == "f")
    filled.loc[3, column] = 1e30
    filled.to_csv("t.csv", index=False)
    with pytest.raises(InputError, match=rf"X\[3, .*{column}.*keep_large"):
        load_dataset(files("t.csv", **COLUMNS))
    assert load_dataset(files("t.csv", keep_large=True, **COLUMNS)).X.max() > 1e29


def test_sparse_files_share_their_columns():
    rows = X.copy()
    rows[12:, 2:] = 0
    dump_svmlight_file(rows[:12], NUMBER[:12], "a.svm", zero_based=True)
    dump_svmlight_file(rows[12:], NUMBER[12:], "b.svm", zero_based=True)
    both = {"label_column": None}
    for _ in range(2):
        table = load("a.svm", "b.svm", **both)
        np.testing.assert_array_equal(table.X.toarray(), rows)
        assert table.y.tolist() == NUMBER.tolist()
    assert [len(part) for part in draw_split(table, {"official": True}, 0)] == [12, 8]
    Path("b.svm").write_text("1 1:1\n0 2:1\n")
    said = refused("a.svm", "b.svm", **both)
    assert "indices count from 0 in a.svm, from 1 in b.svm; set zero" in said


def test_sparse_files_that_may_count_from_different_numbers_are_refused():
    dump_svmlight_file(X[:12], NUMBER[:12], "one.svm", zero_based=False)
    first_is_zero = X[12:].copy()
    first_is_zero[:, 0] = 0
    dump_svmlight_file(first_is_zero, NUMBER[12:], "zero.svm", zero_based=True)
    both = {"label_column": None}
    said = refused("one.svm", "zero.svm", **both)
    assert "zero.svm has neither index 0 nor the largest index of all" in said
    first_is_zero[:, -1] = 0
    dump_svmlight_file(first_is_zero, NUMBER[12:], "zero.svm", zero_based=False)
    table = load("one.svm", "zero.svm", zero_based=False, **both)
    np.testing.assert_array_equal(table.X.toarray()[12:], first_is_zero)


def test_the_digest_is_of_the_content_and_how_it_is_read():
    given = files("t.csv")
    before = given.digest
    Path("moved.csv").write_text(Path("t.csv").read_text())
    assert files("moved.csv").digest == before
    assert files("moved.csv", label_column="who").digest != before
    assert files("moved.csv", group_column="who").digest != before
    Path("t.csv").write_text(Path("t.csv").read_text().replace("owl", "elk"))
    assert files("t.csv").digest != before
    with pytest.raises(DataError, match="mine: its files changed"):
        load_dataset(given)
    assert refused("none.csv", error=DataError) == "mine: none.csv: no such file"


def test_groups_and_subsets():
    FRAME.assign(part=["train"] * 12 + ["test"] * 8).to_csv("t.csv", index=False)
    table = load("t.csv", split_column="part", **COLUMNS)
    train, test = draw_split(table, {"official": True}, 0)
    assert (train.tolist(), test.tolist()) == (list(range(12)), list(range(12, 20)))
    # Without subsets the groups are what a split may name.
    table = load("t.csv", split_column="kind", label_column="part", **COLUMNS)
    assert set(table.groups.tolist()) == set(KINDS.tolist())
    FRAME.to_csv("t.csv", index=False)
    train, test = draw_split(load("t.csv", **COLUMNS), {"train": ["p0", "p3"], "test": ["p4"]}, 0)
    assert (set(WHO[train]), set(WHO[test])) == ({"p0", "p3"}, {"p4"})


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"row": [0, *range(19)]}, {}, "mine: column 'row': 0 occurs in 2 rows, expected a diff"),
        ({"kind": "cat"}, {}, "mine: all 20 labels are cat; a classification needs two classes"),
        ({"kind": range(20)}, {}, "mine: each of 20 rows has a different label (0, 1, 2, 3, 4"),
        ({"kind": ["nan", *KINDS[1:]]}, {}, "t.csv:2: the label is 'nan', expected a text or a"),
        ({"who": ["", *WHO[1:]]}, {}, "t.csv:2: column 'who' is '', expected a text"),
        ({}, {"group_column": "wo"}, "its header has no column 'wo', did you mean 'who'"),
        ({}, {"label_column": None}, "t.csv: holds no labels; name a file of labels (labels), or"),
    ],
)
def test_what_makes_no_dataset(change, options, message):
    FRAME.assign(**change).to_csv("t.csv", index=False)
    assert message in refused("t.csv", **{**COLUMNS, **options})


def test_parts_that_do_not_belong_together():
    write_parts()
    message = r"mine: group 'p3' is in both the training and the test set \(1 of 5 groups are\)"
    with pytest.raises(ConfigError, match=message):
        draw_split(load("train.csv", "test.csv", **COLUMNS), {"official": True}, 0)
    FRAME[14:].rename(columns={"b": "x"}).to_csv("other.csv", index=False)
    said = refused("train.csv", "other.csv", **COLUMNS)
    assert "other.csv: column 2 is 'x', in train.csv it is 'b'; give both the same" in said
    FRAME[14:].drop(columns="b").to_csv("other.csv", index=False)
    said = refused("train.csv", "other.csv", **COLUMNS)
    assert "other.csv has 3 columns, train.csv has 4" in said
    for name, array in {"a": X[:14], "b": X[14:], "ya": NUMBER[:14], "yb": KINDS[14:]}.items():
        np.save(f"{name}.npy", array)
    labels = {"train": Path("ya.npy"), "test": Path("yb.npy")}
    said = refused("a.npy", "b.npy", label_column=None, labels=labels)
    assert "the labels are text in one part and numbers in the other" in said


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


FOLDER = {"images": True, "label_column": None}
LIST = {"images": True, "label_column": "kind", "image_column": "file"}


def test_a_folder_a_class(images):
    found = load("pictures", **FOLDER)
    assert isinstance(found, Dataset)
    assert found.class_names == ("cat", "dog")
    assert found.y.tolist() == [0, 0, 0, 1, 1, 1]
    order = [0, 2, 4, 1, 3, 5]
    assert [path.name for path in found.images] == [f"{i}.png" for i in order]
    arrays = Dataset("arrays", images[order], found.y, found.groups, "", found.class_names)
    for name, parameters in (("intensity", {}), ("hog-pyramid", {"cells": [4]}), ("phog", {})):
        expected = extract(arrays, name, **parameters)
        np.testing.assert_array_equal(extract(found, name, **parameters), expected)
    Path("pictures/dog/1.png").write_bytes(Path("pictures/dog/3.png").read_bytes())
    assert files("pictures", **FOLDER).digest != found.digest


def test_a_list_of_paths_and_labels(images):
    lines = [f"cat/{i}.png,{'ab'[i % 2]},p{i // 2}" for i in (4, 0, 2)]
    Path("pictures/list.csv").write_text("\n".join(["file,kind,who", *lines, "dog/1.png,b,p0"]))
    found = load("pictures/list.csv", group_column="who", **LIST)
    assert [path.name for path in found.images] == ["4.png", "0.png", "2.png", "1.png"]
    assert (found.y.tolist(), found.clusters.tolist()) == ([0, 0, 0, 1], ["p2", "p0", "p1", "p0"])
    for text, error, message in (
        ("none.png,a", DataError, "list.csv: none.png: no such file"),
        ("cat/0.png,a\ncat/0.png,b", InputError, "cat/0.png is listed twice; leave"),
        ("cat/0.png,", InputError, "list.csv:2: column 'kind' is ''"),
    ):
        Path("pictures/list.csv").write_text(f"file,kind\n{text}\n")
        assert message in refused("pictures/list.csv", error=error, **LIST)
    said = refused("pictures/list.csv", error=ConfigError, **FOLDER)
    assert "a list of images needs image_column and label_column" in said


def test_folders_that_hold_no_images(images):
    options = {"error": DataError, **FOLDER}
    assert refused("nowhere", **options) == "nowhere: no such file or folder"
    assert "pictures/cat: expected a folder for each class" in refused("pictures/cat", **options)
    odd = Path("pictures/dog/x.png")
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        make(odd)
        assert "x.png: is a device, a pipe or a folder, expected" in refused("pictures", **options)
        odd.unlink()
    Path("pictures/elk").mkdir()
    assert "pictures/elk: has no image (.bmp, .gif" in refused("pictures", **options)
    said = refused("pictures", images=True, error=ConfigError)
    assert said == "pictures: a folder has no column 'kind'; leave it out"


def deeper(*places):
    """Write an image at each place, and a file that is none next to it."""
    for number, place in enumerate(places):
        Path(place).mkdir(parents=True, exist_ok=True)
        for copy in range(2):
            levels = np.full((4, 4), 9 * number + copy, np.uint8)
            Image.fromarray(levels).save(Path(place, f"{number}-{copy}.png"))


def test_folders_of_subsets_are_no_classes():
    deeper("photos/train/cat", "photos/train/dog", "photos/test/cat", "photos/test/dog")
    said = refused("photos", **FOLDER)
    assert "photos: its folders train and test both hold a folder cat" in said
    assert "photos/train" in said
    assert "train: [train], test: [test]" in said
    given = {**FOLDER, "subsets": ("train", "test")}
    found = load("photos", **given)
    assert found.class_names == ("cat", "dog")
    assert found.groups.tolist() == ["train"] * 4 + ["test"] * 4
    train, test = draw_split(found, {"train": ["train"], "test": ["test"]}, 0)
    assert (train.tolist(), test.tolist()) == ([0, 1, 2, 3], [4, 5, 6, 7])
    assert files("photos", **given).digest != files("photos/train", **FOLDER).digest
    assert load("photos/train", **FOLDER).class_names == ("cat", "dog")
    said = refused("photos", error=DataError, **{**FOLDER, "subsets": ("train", "val")})
    assert "photos/val: no such folder" in said


@pytest.mark.parametrize(
    ("places", "is_refused"),
    [
        (("a/x", "b/y"), False),
        (("a/x", "a/y", "b"), False),
        (("a", "b"), False),
        (("a/x/p", "b/y/p"), False),
        (("a/x", "b/X"), True),
        (("a/x/p", "b/x/q"), True),
        (("a/1", "a/2", "b/2"), True),
    ],
)
def test_folders_inside_classes(places, is_refused):
    deeper(*[f"photos/{place}" for place in places])
    if is_refused:
        assert "may be classes or subsets" in refused("photos", **FOLDER)
    else:
        assert load("photos", **FOLDER).class_names == ("a", "b")


def test_files_that_are_left_out_are_counted():
    deeper("photos/a", "photos/b", "photos")
    Path("photos/a/x.heic").write_bytes(b"")
    with pytest.warns(FileNote, match=r"3 files are left out, .* \(2-0.png, 2-1.png, a/x.heic\)"):
        load("photos", **FOLDER)


def test_copies_that_systems_keep_are_no_images():
    deeper("photos/a", "photos/b")
    deeper("photos/a/.ipynb_checkpoints", "photos/b/@eaDir/1.png", "photos/__MACOSX/a")
    deeper("photos/.thumbnails")
    with pytest.warns(FileNote, match="are left out, .*a/.ipynb_checkpoints/.*b/@eaDir/1.png/"):
        photos = load("photos", **FOLDER)
    assert photos.class_names == ("a", "b")
    assert {path.parent.name for path in photos.images} == {"a", "b"}


@pytest.mark.parametrize(
    "places", [("train", "test"), ("Training/a", "Training/b", "Validation"), ("train/a", "val/b")]
)
def test_folders_with_names_of_subsets_are_no_classes(places):
    deeper(*[f"photos/{place}" for place in places])
    said = refused("photos", **FOLDER)
    assert "may be classes or subsets" in said
    assert f"train: [{places[0].split('/')[0]}]" in said


def test_a_class_may_have_the_name_of_a_subset():
    deeper("photos/train", "photos/tram")
    assert load("photos", **FOLDER).class_names == ("train", "tram")
