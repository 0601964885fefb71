"""Labels in text files and next to rows: types, headers, columns, and what is refused."""

import os

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from kmaps.errors import InputError
from kmaps.io import LabelledRows, atomic, open_reader, read_labels


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("y.txt", "1\n2\n\n1\n", [1, 2, 1]),
        ("y.txt", "0.5\n2", [0.5, 2]),
        ("y.txt", "\ufeffgreen tea\r\n1\r\n", ["green tea", "1"]),
        ("y.txt", "a,b\n", ["a,b"]),
        ("y.txt", "1\x1c\n\x1d\n", ["1\x1c", "\x1d"]),  # blanks in text, not in bytes
        ("y.csv", "1\n2\n", [1, 2]),
        ("y.csv", "digit\n1\n2\n", [1, 2]),
        ("y.csv", "cat\ndog\n", ["cat", "dog"]),
        ("y.csv", "cat\n", ["cat"]),
        ("y.csv", '"a, b"\n"c"\n', ["a, b", "c"]),
    ],
)
def test_text_files(tmp_path, name, text, expected):
    (tmp_path / name).write_text(text)
    labels = read_labels(tmp_path / name)
    assert labels.tolist() == expected
    assert labels.dtype.kind == np.array(expected).dtype.kind


def test_numbers_stay_text_for_classes_of_text(tmp_path):
    (tmp_path / "y.txt").write_text("1\n1\n")
    assert read_labels(tmp_path / "y.txt", classes=np.array(["1", "a"])).tolist() == ["1", "1"]
    assert read_labels(tmp_path / "y.txt", classes=np.array([1, 2])).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("name", "content", "column", "message"),
    [
        ("y.txt", b"", None, "y.txt: holds no labels, expected one per line"),
        ("y.csv", b"", None, "y.csv: holds no labels, expected one per line"),
        ("y.txt", b"1\ninf\n", None, "y.txt:2: the label is 'inf', expected a text or a finite n"),
        ("y.txt", b"x" * 9999, None, f"y.txt:1: the label is '{'x' * 20}'…, expected a text or a "),
        ("y.csv", b"a,b\n1,2\n", None, "y.csv: has 2 columns; name the column of labels, label_c"),
        ("y.csv", b"a,b\n1,2\n3\n", "b", "y.csv:3: the label is '', expected a text or a finite"),
        ("y.csv", b"a,b\n1,2\n", "c", "y.csv: its header has no column 'c' (a, b)"),
        ("y.txt", b"a\n", "a", "y.txt: has no columns with names; leave label_column=a out"),
        ("y.txt", b"a\0\n", None, "y.txt:1: the label is 'a\\x00', expected a text or a finite "),
        ("y.txt", b"\xff\n", None, "y.txt: is not a text in UTF-8 (invalid start byte)"),
        (
            "y.dat",
            b"1",
            None,
            "y.dat: labels come in .npy, .txt or .csv (or within a .svm or .npz file, ",
        ),
    ],
)
def test_what_is_no_file_of_labels(tmp_path, monkeypatch, name, content, column, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_labels(name, column=column)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("name", ["y.txt", "y.csv", "y.npy"])
def test_labels_are_read_from_a_file_that_ends(tmp_path, monkeypatch, name):
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(InputError, match=f"{name}: is a device"):
        read_labels(tmp_path / name)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match=f"{name}: is a device or a pipe"):
        read_labels(tmp_path / name)
    monkeypatch.setattr(atomic, "MOST_TEXT", 5)
    (tmp_path / "long.txt").write_text("1\n2\n3\n")
    with pytest.raises(InputError, match=r"long\.txt: has more than 5 bytes"):
        read_labels(tmp_path / "long.txt")


# Rows of a file with their labels.
X = np.random.default_rng(0).random((500, 30))
Y = np.arange(500) % 3


@pytest.fixture
def dense(tmp_path):
    """A reader of X, which has no labels."""
    np.save(tmp_path / "X.npy", X)
    return open_reader(tmp_path / "X.npy", name="X.npy")


@pytest.fixture
def labelled(tmp_path):
    """A reader of X that has labels, and does not know its number of rows beforehand."""
    dump_svmlight_file(X, Y, str(tmp_path / "X.svm"), zero_based=False)
    return open_reader(tmp_path / "X.svm", name="X.svm")


def test_labels_of_the_file_itself(labelled):
    rows = LabelledRows(labelled, memory=30_000)
    with pytest.raises(InputError, match=r"X\.svm: its labels"):
        rows.labels()
    for _ in range(2):
        assert sum(block.shape[0] for block in rows.blocks()) == 500
        np.testing.assert_array_equal(rows.labels(), Y)
    assert rows.labels().dtype == np.int64
    others = LabelledRows(labelled, Y + 1)
    assert sum(block.shape[0] for block in others.blocks()) == 500
    np.testing.assert_array_equal(others.labels(), Y + 1)


def test_labels_that_are_missing_or_too_few(dense, labelled):
    with pytest.raises(InputError, match=r"^X\.npy: holds no labels"):
        LabelledRows(dense)
    message = r"^499 labels, but X\.npy has 500 rows$"
    with pytest.raises(InputError, match=message):
        LabelledRows(dense, Y[1:])
    rows = LabelledRows(labelled, Y[1:])
    with pytest.raises(InputError, match=r"499 labels, but X\.svm has 500 rows"):
        list(rows.blocks())
