"""Readers of text files: what is wrong with a line, what indices count from, columns of labels."""

import numpy as np
import pytest

from kmaps.errors import InputError
from kmaps.io import LabelledRows, open_reader, read_labels, read_whole, text_files
from tests.io.test_read import assert_refused

BAD = {
    "a.csv": {
        b"\n\n": "empty, expected one row of numbers",
        b"a,b\n": "a header but no row of numbers",
        b"a,b\n1,2\n\n3,4,5\n": "a.csv:4: has 3 columns, the first line has 2",
        b"1.5,2\n3,four\n": "a.csv:2: column 2: 'four' is not a number",
        b"1,b\n3,4\n": "a.csv:1: column 2: 'b'",
        b"1.5,2\n3,\xe9\n": "a.csv:2: column 2:",
        b"True,False\n1,2\n": "a.csv:1: column 1: 'True' is not a number",
        b"h\xf6he,b\n1,2\n": "a.csv:1: its header is not text in UTF-8; save the file",
        b"1.5,2\n3,True\n": "a.csv:2: column 2: 'True' is not a number",
        b"1.5,2\n" + b"3," * 2**23 + b"4\n": "a.csv:2: has more than 16,777,216 bytes",
    },
    "a.svm": {
        b"# only a comment\n1\n": "no sample with a",
        b"1 1:2\ncat 1:2\n": "a.svm:2: 'cat' is not a label",
        b"1,2 1:2\n": "a.svm:1: '1,2' is not a label",
        b"1 1:2\n1 3:a\n": "a.svm:2: '3:a' is not 'index:va",
        b"1 3:1 2:1\n": "a.svm:1: index 2 comes after 3",
        "\u0661 1:2\n".encode(): "a.svm:1: '\u0661' is not a label",
        "1 1:\u0662\n".encode(): "a.svm:1: '1:\u0662' is not 'index:value'",
        "1 1:1 \u0662:1\n".encode(): "a.svm:1: '\u0662:1' is not 'index:value'",
        b"1 qid:x 1:2\n": "a.svm:1: 'qid:x' is not 'qid:nu",
        b"1 1:2\n1 2147483648:1\n": "a.svm:2: index 2147483648 is above 2147483647, the last",
        b"1 " + b"9" * 5000 + b":1\n": "is above 21474",
    },
}


@pytest.mark.parametrize("large", [0, 1 << 17])
@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_in_one_line(tmp_path, monkeypatch, name, large):
    monkeypatch.setattr(text_files, "LARGE_BLOCK", large)
    for content, message in BAD[name].items():
        (tmp_path / name).write_bytes(content)
        assert_refused(tmp_path / name, message)


def test_svm_keeps_queries_and_comments_out(tmp_path):
    (tmp_path / "a.svm").write_text("1 qid:3 1:2 # a_b\n2 qid:3 2:4\n")
    (block,) = open_reader(tmp_path / "a.svm").blocks(9, 9)
    assert block.X.toarray().tolist() == [[2, 0], [0, 4]]
    assert block.y.tolist() == [1, 2]


def test_labels_that_differ_stay_different(tmp_path):
    np.save(tmp_path / "y.npy", np.array([1e300, 2e300]))
    assert read_labels(tmp_path / "y.npy").tolist() == [1e300, 2e300]
    (tmp_path / "a.svm").write_text("1e300 1:2\n2e300 1:3\n")
    rows = LabelledRows(open_reader(tmp_path / "a.svm"))
    list(rows.blocks())
    assert rows.labels().tolist() == [1e300, 2e300]


def svm(*rows):
    """Return a svm file of rows of indices, each with its label."""
    return "".join(f"{k} {' '.join(f'{j}:1' for j in row)}\n" for k, row in enumerate(rows))


@pytest.mark.parametrize(
    ("rows", "n_features", "zero_based", "base", "certain", "width"),
    [
        ([(1, 3), (2,)], None, "auto", 1, False, 3),
        ([(1, 3), (0, 2)], None, "auto", 0, True, 4),
        ([(1, 3), (2,)], 4, "auto", 1, False, 4),
        ([(1, 3), (2,)], 3, "auto", 1, True, 3),
        ([(1, 3), (2,)], None, True, 0, True, 4),
        ([(1, 3), (2,)], None, False, 1, True, 3),
        ([(1, 3), (2,)], 9, True, 0, True, 9),
    ],
)
def test_indices_count_from_0_or_1(tmp_path, rows, n_features, zero_based, base, certain, width):
    (tmp_path / "a.svm").write_text(svm(*rows))
    reader = open_reader(tmp_path / "a.svm", n_features=n_features, zero_based=zero_based)
    assert (reader.index_base, reader.certain_base, reader.n_features) == (base, certain, width)
    (block,) = reader.blocks(9, 99)
    expected = np.zeros((2, width))
    for place, row in enumerate(rows):
        expected[place, np.array(row) - base] = 1
    np.testing.assert_array_equal(block.X.toarray(), expected)


TABLE = """name,a,"b, c",digit
"x, y",1,2.5,7
z,3,4,8
"""


def test_a_column_of_labels(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE.replace("digit", " digit "))
    with pytest.raises(InputError, match=r"column 'name' \(1\): 'x, y' is not a number"):
        list(open_reader(tmp_path / "t.csv").blocks(9, 9))
    reader = open_reader(tmp_path / "t.csv", label_column="name")
    assert reader.columns == ["a", "b, c", "digit"]
    found, labels, _ = read_whole(reader)
    np.testing.assert_array_equal(found, [[1, 2.5, 7], [3, 4, 8]])
    assert labels.tolist() == ["x, y", "z"]


def test_labels_of_a_column_are_numbers_if_all_are(tmp_path):
    # A header of numbers, as pandas writes the columns of an array.
    for labels, expected in {"7 8 7": [7, 8, 7], "0.5 1 2": [0.5, 1, 2]}.items():
        lines = [f"{place},{label}\n" for place, label in enumerate(labels.split())]
        (tmp_path / "t.csv").write_text("0,digit\n" + "".join(lines))
        rows = LabelledRows(open_reader(tmp_path / "t.csv", label_column="digit"), memory=1)
        assert [X.tolist() for X in rows.blocks()] == [[[0]], [[1]], [[2]]]
        assert rows.labels().tolist() == expected
        assert rows.labels(np.array(["7", "a"])).tolist() == labels.split()
    (tmp_path / "t.csv").write_text("0,digit\n5,1\n6,a\n7,1\n")
    rows = LabelledRows(open_reader(tmp_path / "t.csv", label_column="digit"), memory=1)
    list(rows.blocks())
    assert rows.labels().tolist() == ["1", "a", "1"]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        (TABLE, "nam", "t.csv: its header has no column 'nam', did you mean 'name'?"),
        (TABLE, "qqq", "t.csv: its header has no column 'qqq' (name, a, b, c, digit)"),
        ("a,a,b\n1,2,3\n", "a", "t.csv: its header has 2 columns 'a'"),
        ("1,2\n3,4\n", "y", "t.csv: has no header, which label_column=y needs"),
        ("y\n1\n", "y", "t.csv: has no column except the labels"),
        ("y,a\n1,2\n,3\n", "y", "t.csv:3: the label is '', expected a text or a finite number"),
        ("y,a\n1,2\nNaN,3\n", "y", "t.csv:3: the label is 'NaN', expected a text or a finite nu"),
        ("y,a\n1,2\nx,3,4\n", "y", "t.csv:3: has 3 columns, the first line has 2"),
        ("a,y\n1,2\n3\n", "y", "t.csv:3: has 1 columns, the first line has 2"),
        ("a,y\n1,2\nb,3\n", "y", "t.csv:3: column 'a' (1): 'b' is not a number; leave it out or"),
    ],
)
def test_a_column_of_labels_that_cannot_be_used(tmp_path, text, column, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError) as caught:
        list(open_reader(tmp_path / "t.csv", label_column=column, name="t.csv").blocks(9, 9))
    assert str(caught.value).startswith(message)
