"""Labels, and columns that are no features, next to the rows of every format that has names."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

from kmaps.errors import InputError
from kmaps.io import LabelledRows, open_reader, open_writer, read_columns, read_whole

X = np.arange(12, dtype=np.float32).reshape(4, 3)
WHO = ["p1", "p1", "p2", "p3"]
KINDS = ["cat", "dog, big", "cat", "cat"]
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(who=WHO, kind=KINDS)
FRAME = FRAME[["a", "who", "b", "kind", "c"]]


def write_stream(frame, path):
    table = pa.Table.from_pandas(frame)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)


WRITE = {
    "t.csv": lambda frame, path: frame.to_csv(path, index=False),
    "t.npz": lambda frame, path: np.savez(path, rows=X, who=WHO, kind=KINDS),
    "whole.parquet": lambda frame, path: frame.to_parquet(path),
    "groups.parquet": lambda frame, path: frame.to_parquet(path, row_group_size=3),
    "t.feather": lambda frame, path: frame.to_feather(path),
    "t.arrow": write_stream,
}


@pytest.fixture
def table(tmp_path):
    WRITE["t.csv"](FRAME, tmp_path / "t.csv")
    return tmp_path / "t.csv"


@pytest.mark.parametrize("name", WRITE)
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_what_is_named_is_no_feature(tmp_path, name, rows):
    WRITE[name](FRAME, tmp_path / name)
    reader = open_reader(tmp_path / name, label_column="kind", aside=["who"])
    assert reader.has_labels
    assert reader.columns == (None if name.endswith("npz") else ["a", "b", "c"])
    for _ in range(2):
        blocks = [*reader.blocks(rows, 1)]
        sizes = [len(block.X) for block in blocks]
        assert max(sizes) <= rows
        assert [block.start for block in blocks] == np.cumsum([0, *sizes[:-1]]).tolist()
        assert [text for block in blocks for text in block.aside["who"]] == WHO
        assert reader.done == reader.total
    found, y, aside = read_whole(reader, dtype=np.dtype(np.float32))
    np.testing.assert_array_equal(found, X)
    assert found.dtype == np.float32
    assert (y.tolist(), aside["who"].tolist(), list(aside)) == (KINDS, WHO, ["who"])
    labels = LabelledRows(reader)
    assert sum(len(block) for block in labels.blocks()) == 4
    assert labels.labels().tolist() == KINDS


def test_a_value_that_is_missing_next_to_the_rows(table):
    table.write_text(table.read_text().replace("p2", ""))
    message = "t.csv:4: column 'who' is '', expected a text or a finite number"
    with pytest.raises(InputError, match=message):
        read_whole(open_reader(table, label_column="kind", aside=["who"]))


def test_names_that_there_are_not(tmp_path):
    (tmp_path / "t.csv").write_text("1,2\n3,4\n")
    with pytest.raises(InputError, match=r"t.csv: has no header, which the column 'who' needs"):
        open_reader(tmp_path / "t.csv", aside=["who"])
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(InputError, match="npy has no columns with names; leave who out"):
        open_reader(tmp_path / "X.npy", aside=["who"])
    with pytest.raises(InputError, match="npy has no columns with names; leave label_column=y out"):
        open_reader(tmp_path / "X.npy", label_column="y")


@pytest.mark.parametrize("y", [np.arange(4) % 3, np.array(["a", "bcd", "e", "f"])])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_labels_are_written_to_an_archive_and_found_there(tmp_path, convert, y):
    rows = convert(X)
    with open_writer(tmp_path / "a.npz") as writer:
        writer.write(rows[:1], y[:1])
        writer.write(rows[1:], y[1:])
    reader = open_reader(tmp_path / "a.npz")
    assert reader.has_labels
    found, labels, _ = read_whole(reader)
    np.testing.assert_array_equal(found.toarray() if reader.sparse else found, X)
    assert labels.tolist() == y.tolist()
    if reader.sparse:
        assert (sp.load_npz(tmp_path / "a.npz") != rows).nnz == 0


def test_an_archive_without_labels_has_none(tmp_path):
    np.savez(tmp_path / "a.npz", X=X)
    np.savez(tmp_path / "b.npz", X=X, w=np.arange(4))
    sp.save_npz(tmp_path / "c.npz", sp.csr_matrix(X))
    for name in ("a.npz", "b.npz", "c.npz"):
        assert not open_reader(tmp_path / name).has_labels


@pytest.mark.parametrize(
    ("arrays", "column", "message"),
    [
        ({"y": [1, 2]}, None, r"y has the shape \(2,\), expected one value for each of the 4 rows"),
        ({"y": [0, 1, np.nan, 1]}, None, "y: label 2 is nan, expected a finite number"),
        ({"kinds": [0, 1, 0, 1]}, "kind", "holds no array 'kind', did you mean 'kinds'"),
        ({"y": [0, 1, 0, 1j]}, None, "y holds values of type complex128"),
    ],
)
def test_what_are_no_labels_of_an_archive(tmp_path, arrays, column, message):
    np.savez(tmp_path / "a.npz", X=X, **arrays)
    with pytest.raises(InputError, match=f"a.npz: {message}"):
        read_whole(open_reader(tmp_path / "a.npz", label_column=column))


def test_columns_of_text(table):
    assert read_columns(table, ["kind"])["kind"].tolist() == KINDS
    for text, message in {
        "a,b\n": "expected a header and a row per line",
        "a,b\n1,2\n3\n": "t.csv:3: column 'b' is ''",
        "a,c\n1,2\n": "its header has no column 'b'",
    }.items():
        table.write_text(text)
        with pytest.raises(InputError, match=message):
            read_columns(table, ["b"])
