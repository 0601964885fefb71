"""What readers decide on a table: its separator, its header, its row index, its labels' type."""

import bz2
import gzip
import lzma
import zipfile

import numpy as np
import pandas as pd
import pytest
from pandas import DataFrame

from kmaps.errors import FileNote, InputError
from kmaps.io import LabelledRows, open_reader, read_columns, read_labels, read_whole, typed_labels

RNG = np.random.default_rng(0)
X = np.round(RNG.gamma(1, 1, (6, 3)), 3) + 0.0625
KINDS = ["a", "b", "a", "b", "a", "b"]
FRAME = DataFrame(X, columns=["u", "v", "w"])


def rows_of(path, **options):
    """Return the rows of a file, and the notes on it."""
    with pytest.warns(FileNote) if options.pop("noted", True) else _silence():
        reader = open_reader(path, **options)
    return read_whole(reader)[0], reader.notes


class _silence:
    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


def refusal(path, **options):
    with pytest.raises(InputError) as caught:
        read_whole(open_reader(path, **options))
    assert "\n" not in str(caught.value)
    return str(caught.value)


# The row index


def saved_again(path):
    FRAME.to_csv(path)
    pd.read_csv(path).to_csv(path, index=False)


def saved_twice_again(path):
    FRAME.to_csv(path)
    pd.read_csv(path).to_csv(path)


WITH_INDEX = {
    "to_csv": lambda path: FRAME.to_csv(path),
    "saved again": saved_again,
    "saved twice again": saved_twice_again,
    "shuffled": lambda path: FRAME.set_index(pd.Index([4, 2, 0, 5, 1, 3])).to_csv(path),
    "from 1": lambda path: FRAME.set_index(pd.RangeIndex(1, 7)).to_csv(path),
    "of names": lambda path: FRAME.set_index(pd.Index(list("pqrstu"))).to_csv(path),
    "by R": lambda path: path.write_text(
        '"","u","v","w"\n'
        + "".join(f'"{i}",{a},{b},{c}\n' for i, (a, b, c) in enumerate(X.tolist(), 1))
    ),
    "semicolons": lambda path: FRAME.to_csv(path, sep=";"),
    "columns of numbers": lambda path: DataFrame(X).to_csv(path),
}


@pytest.mark.parametrize("case", WITH_INDEX)
def test_a_row_index_is_left_out_and_said(tmp_path, case):
    WITH_INDEX[case](tmp_path / "t.csv")
    read, notes = rows_of(tmp_path / "t.csv")
    np.testing.assert_array_equal(read, X)
    assert any("column 1 (" in note and "row index" in note for note in notes)


def test_a_row_index_in_parquet_is_left_out(tmp_path):
    table = FRAME.assign(**{"Unnamed: 0": range(6)})[["Unnamed: 0", "u", "v", "w"]]
    table.to_parquet(tmp_path / "t.parquet")
    read, notes = rows_of(tmp_path / "t.parquet")
    np.testing.assert_array_equal(read, X)
    assert "'Unnamed: 0'" in notes[0]
    table.assign(**{"Unnamed: 0": 0.5}).to_parquet(tmp_path / "t.parquet")
    assert "has no name ('Unnamed: 0')" in refusal(tmp_path / "t.parquet")


def test_an_index_that_parquet_states_is_left_out_and_said(tmp_path):
    for index in (
        pd.Index([9, 2, 5, 7, 1, 3], name="id"),
        pd.Index([4, 2, 0, 5, 1, 3]),
        pd.Index(X[:, 0]),
    ):
        FRAME.set_index(index).to_parquet(tmp_path / "t.parquet")
        read, notes = rows_of(tmp_path / "t.parquet")
        np.testing.assert_array_equal(read, X)
        assert len(notes) == 1
        assert "index of a data frame and left out" in notes[0]
    FRAME.to_parquet(tmp_path / "t.parquet")  # an index that counts is no column
    assert rows_of(tmp_path / "t.parquet", noted=False)[1] == []


def test_a_named_column_is_no_row_index(tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index_label="id")
    read, notes = rows_of(tmp_path / "t.csv", noted=False)
    assert (read.shape, notes) == ((6, 4), [])
    FRAME.to_csv(tmp_path / "t.csv")
    reader = open_reader(tmp_path / "t.csv", model_names=["", "u", "v", "w"])
    assert reader.columns == ["", "u", "v", "w"]
    reader = open_reader(tmp_path / "t.csv", label_column="")
    assert reader.columns == ["u", "v", "w"]


def test_an_index_of_fractions_is_refused(tmp_path):
    FRAME.set_index(pd.Index(X[:, 0])).to_csv(tmp_path / "t.csv")
    assert "column 1 has no name" in refusal(tmp_path / "t.csv")


def test_names_of_rows_without_a_name_of_their_own_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text('"u","v"\n"1",2.5,3\n"2",4,5\n')
    assert "its header has 2 columns, the rows have 3" in refusal(tmp_path / "t.csv")
    # R's write.table
    (tmp_path / "t.csv").write_text('"u" "v" "kind"\n"1" 2.5 3 "a"\n"2" 4 5 "b"\n')
    said = refusal(tmp_path / "t.csv", label_column="kind")
    assert "its header has 3 columns, the rows have 4" in said


def test_what_hides_a_separator_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("sep=;\nu;v\n1;2\n")  # as Excel wants it
    assert "t.csv:1: its first line, sep=;, is Excel's" in refusal(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("u|kind\n1|2\n(1 row)\n")  # as psql shows it
    said = refusal(tmp_path / "t.csv", label_column="kind")
    assert "separated by something else than commas" in said


# The header


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("0,1\n0.5,2\n3,4\n", [[0.5, 2], [3, 4]]),
        ("1,2\n5,2\n3,4.0\n", [[5, 2], [3, 4]]),
        ("0,1,2,3\n5,6,7,8\n", [[5, 6, 7, 8]]),
        ("1,2,3,4\n5,6,7,8\n", [[5, 6, 7, 8]]),
        ('"0","1","2","3"\n5,6,7,8\n', [[5, 6, 7, 8]]),
        ("0\n0.5\n", [[0.5]]),
    ],
)
def test_a_first_line_that_counts_the_columns_is_a_header(tmp_path, text, rows):
    (tmp_path / "t.csv").write_text(text)
    read, notes = rows_of(tmp_path / "t.csv")
    assert read.tolist() == rows
    assert "is a header, not a row" in notes[0]
    read, notes = rows_of(tmp_path / "t.csv", header=False, noted=False)
    assert len(read) == len(rows) + 1
    assert notes == []


@pytest.mark.parametrize(
    "text",
    [
        "3,1\n0.5,2\n",
        "0,2,1\n0.5,2,4\n",
        "400.5,500.5\n0.1,0.2\n",
        "0,2,4,6\n1,3,5,7\n",
        "0,1,1\n0,0.5,1\n",
        "1e0,2\n0.5,3\n",
        "5\n0.5\n",
    ],
)
def test_another_first_line_of_numbers_is_a_row(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    read, notes = rows_of(tmp_path / "t.csv", noted=False)
    assert read[0].tolist() == [float(field) for field in text.split("\n")[0].split(",")]
    assert notes == []


@pytest.mark.parametrize(
    "text",
    [
        "0,1\n5,6\n",
        "1,2,3\n5,6,7\n",
        "0\n1\n",
        "400,500,600\n1,2,3\n0.1,0.2,0.3\n",
        "-1,0,1\n0.1,0.2,0.3\n",
    ],
)
def test_a_first_line_that_may_be_either_is_refused(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    said = refusal(tmp_path / "t.csv")
    assert "may be a header or a row; pass header=True or header=False" in said
    n_rows = text.count("\n")
    for header in (True, False):
        reader = open_reader(tmp_path / "t.csv", header=header)
        assert len(read_whole(reader)[0]) == n_rows - header


def test_the_names_of_a_model_are_a_header(tmp_path):
    (tmp_path / "t.csv").write_text("0,1\n5,6\n")
    reader = open_reader(tmp_path / "t.csv", model_names=["0", "1"])
    assert (reader.columns, read_whole(reader)[0].tolist()) == (["0", "1"], [[5, 6]])
    (tmp_path / "t.csv").write_text("0,y,1\n5,cat,6\n")
    reader = open_reader(tmp_path / "t.csv", model_names=["0", "1"], label_column="y")
    assert reader.columns == ["0", "1"]


# The separator, and what is no table


@pytest.mark.parametrize("separator", [";", "\t", "|", " ", "   "])
@pytest.mark.parametrize("header", ["", "u v w\n"])
def test_separators_are_recognised(tmp_path, separator, header):
    lines = [separator.join(map(repr, row)) for row in X.tolist()]
    head = header.replace(" ", separator)
    (tmp_path / "t.csv").write_text(head + "\n".join(lines) + "\n")
    read, notes = rows_of(tmp_path / "t.csv")
    np.testing.assert_array_equal(read, X)
    assert "its fields are separated by" in notes[0]


def test_columns_of_labels_are_found_with_other_separators(tmp_path):
    FRAME.assign(kind=KINDS).to_csv(tmp_path / "t.csv", sep=";", index=False)
    with pytest.warns(FileNote):
        reader = open_reader(tmp_path / "t.csv", label_column="kind")
    assert read_whole(reader)[1].tolist() == KINDS
    assert read_labels(tmp_path / "t.csv", column="kind").tolist() == KINDS
    assert read_columns(tmp_path / "t.csv", ["kind"])["kind"].tolist() == KINDS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,5;2,5\n3,5;4,5\n", "decimals by commas"),
        ("a;b\n1,5;2,5\n3,5;4,5\n", "write decimals with a point"),
        ("a\n1;2\n", "separated by something else"),
        ("a,sex\n1,f\n", "column 'sex' (2): 'f' is not a number; leave it out or encode it"),
        ("a,b\n1,\n", "column 'b' (2): '' is not a number: fill missing values in"),
    ],
)
def test_a_bad_value_is_named_with_its_cause(tmp_path, text, message):
    (tmp_path / "t.csv").write_text(text)
    assert message in refusal(tmp_path / "t.csv")


PACKED = {
    "gzip": gzip.compress(b"1,2\n"),
    "bzip2": bz2.compress(b"1,2\n"),
    "xz": lzma.compress(b"1,2\n"),
    "UTF-16": "1,2\n".encode("utf-16"),
}


def test_other_packed_files_are_refused_by_name(tmp_path):
    first_bytes = {
        "zstd": b"\x28\xb5\x2f\xfd",
        "lz4": b"\x04\x22\x4d\x18",
        "7z": b"7z\xbc\xaf\x27\x1c",
        "UTF-32": "1,2\n".encode("utf-32"),
    }
    for what, content in first_bytes.items():
        (tmp_path / "t.csv").write_bytes(content + bytes(40))
        assert what in refusal(tmp_path / "t.csv")


def test_what_is_no_text_is_refused_by_name(tmp_path):
    for content in ("u,v\n1,2\n".encode("utf-16-le"), b"SQLite format 3\0" + bytes(80)):
        (tmp_path / "t.csv").write_bytes(content)
        assert "is no text" in refusal(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_bytes(b"u,v\r1,2\r3,4\r")
    assert "carriage returns" in refusal(tmp_path / "t.csv")


@pytest.mark.parametrize("n_lines", [2, 30_000])  # parsed line by line, and by pandas
def test_text_of_another_encoding_makes_no_two_labels_one(tmp_path, n_lines):
    lines = ["a,kind\n", *(f"{i}.5,{'éè'[i % 2]}\n" for i in range(n_lines))]
    (tmp_path / "t.csv").write_bytes("".join(lines).encode("cp1252"))
    for named in ({"label_column": "kind"}, {"aside": ["kind"]}):
        assert "t.csv:2: " in refusal(tmp_path / "t.csv", **named)
        assert "save the file in UTF-8" in refusal(tmp_path / "t.csv", **named)
    with pytest.raises(InputError, match="UTF-8"):
        read_labels(tmp_path / "t.csv", column="kind")


@pytest.mark.parametrize("name", ["t.csv.gz", "t.gz", "t.csv.bz2"])
def test_a_compressed_file_is_refused_by_that_name_whatever_its_own(tmp_path, name):
    packed = PACKED["bzip2" if name.endswith("bz2") else "gzip"]
    (tmp_path / name).write_bytes(packed)
    what = "bzip2" if name.endswith("bz2") else "gzip"
    assert f"is compressed ({what})" in refusal(tmp_path / name)
    with pytest.raises(InputError, match=what):
        read_labels(tmp_path / name)


@pytest.mark.parametrize("what", [*PACKED, "zip"])
@pytest.mark.parametrize("name", ["t.csv", "t.svm", "t.npy", "t.parquet"])
def test_compressed_files_are_refused_by_name(tmp_path, what, name):
    if what == "zip":
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("t.csv", "1,2\n")
    else:
        (tmp_path / name).write_bytes(PACKED[what])
    assert what in refusal(tmp_path / name)
    (tmp_path / "y.txt").write_bytes((tmp_path / name).read_bytes())
    with pytest.raises(InputError, match=what):
        read_labels(tmp_path / "y.txt")


# Labels


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1", "2", "-3"], [1, 2, -3]),
        (["01", "1"], ["01", "1"]),
        (["007", "008"], ["007", "008"]),
        (["1", "1.0"], ["1", "1.0"]),
        (["1.0", "2.0"], ["1.0", "2.0"]),
        (["+1", "-1"], ["+1", "-1"]),
        (["1e0", "2"], ["1e0", "2"]),
        (["0.5", "2"], [0.5, 2.0]),
        ([".5", "2"], [".5", "2"]),
        (["-0", "1"], ["-0", "1"]),
        (["True", "False"], ["True", "False"]),
        (["9007199254740993", "9007199254740992"], [9007199254740993, 9007199254740992]),
        (["9" * 25, "1"], ["9" * 25, "1"]),
        (["1", "x"], ["1", "x"]),
    ],
)
def test_labels_are_what_is_written(tmp_path, texts, expected):
    (tmp_path / "y.txt").write_text("\n".join(texts) + "\n")
    y = read_labels(tmp_path / "y.txt")
    assert y.tolist() == expected
    assert y.dtype.kind == np.array(expected).dtype.kind
    lines = [f"{i}.5,{text}\n" for i, text in enumerate(texts)]
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(lines))
    rows = LabelledRows(open_reader(tmp_path / "t.csv", label_column="y"), memory=1)
    list(rows.blocks())
    assert rows.labels().tolist() == expected


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.npz", "y.npy"])
def test_a_type_of_text_stays_text(tmp_path, name):
    texts = np.array(["1", "2", "1", "2", "1", "2"])
    write = {
        "t.parquet": lambda path: FRAME.assign(y=texts).to_parquet(path),
        "t.feather": lambda path: FRAME.assign(y=texts).to_feather(path),
        "t.npz": lambda path: np.savez(path, X=X, y=texts),
        "y.npy": lambda path: np.save(path, texts),
    }
    write[name](tmp_path / name)
    if name == "y.npy":
        assert read_labels(tmp_path / name).tolist() == texts.tolist()
        return
    rows = LabelledRows(open_reader(tmp_path / name, label_column="y"))
    list(rows.blocks())
    assert rows.labels().tolist() == texts.tolist()
    assert rows.labels(np.array([1, 2])).tolist() == texts.tolist()


@pytest.mark.parametrize(
    ("texts", "classes", "expected"),
    [
        (["1", "2"], np.array(["01", "1"]), ["1", "2"]),
        (["1.0", "2"], np.array([1, 2]), [1, 2]),
        (["1", "x"], np.array([1, 2]), ["1", "x"]),
        (["True", "False"], np.array([False, True]), [True, False]),
    ],
)
def test_labels_for_a_model_are_read_as_its_classes(texts, classes, expected):
    assert typed_labels(np.array(texts), classes).tolist() == expected


def test_labels_of_svm_files_are_numbers(tmp_path):
    (tmp_path / "a.svm").write_text("+1 1:1\n1.0 1:2\n1e0 1:3\n-1 1:4\n")
    rows = LabelledRows(open_reader(tmp_path / "a.svm", zero_based=False))
    list(rows.blocks())
    assert rows.labels().tolist() == [1, 1, 1, -1]
    (tmp_path / "a.svm").write_text("9007199254740993 1:1\n9007199254740992 1:2\n")
    said = refusal(tmp_path / "a.svm", zero_based=False)
    assert "a.svm:1: the label 9007199254740993" in said
