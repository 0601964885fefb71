"""Labels in text files: their types, headers and columns, and what is refused."""

import os

import numpy as np
import pytest

from kmaps.errors import InputError
from kmaps.io import atomic, read_labels


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("y.txt", "1\n2\n\n1.0\n", [1, 2, 1]),
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


def test_a_column_of_several(tmp_path):
    (tmp_path / "y.csv").write_text("id,kind\n1,cat\n2,dog\n")
    assert read_labels(tmp_path / "y.csv", column="kind").tolist() == ["cat", "dog"]
    assert read_labels(tmp_path / "y.csv", column="id").tolist() == [1, 2]


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
        ("y.csv", b"a,b\n1,2\n", None, "y.csv: has 2 columns; say which has the labels, label_co"),
        ("y.csv", b"a,b\n1,2\n3\n", "b", "y.csv:3: the label is '', expected a text or a finite"),
        ("y.csv", b"a,b\n1,2\n", "c", "y.csv: its header has no column 'c' (a, b)"),
        ("y.txt", b"a\n", "a", "y.txt: has no columns with names; leave label_column=a out"),
        ("y.txt", b"a\0\n", None, "y.txt:1: the label is 'a\\x00', expected a text or a finite "),
        ("y.txt", b"\xff\n", None, "y.txt: is no text in UTF-8 (invalid start byte)"),
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
    with pytest.raises(InputError, match=f"{name}: a device or a pipe, expected a file; copy it"):
        read_labels(tmp_path / name)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match=f"{name}: a device or a pipe"):
        read_labels(tmp_path / name)
    monkeypatch.setattr(atomic, "MOST_TEXT", 5)
    (tmp_path / "long.txt").write_text("1\n2\n3\n")
    with pytest.raises(InputError, match=r"long\.txt: more than 5 bytes, the most of a text"):
        read_labels(tmp_path / "long.txt")
