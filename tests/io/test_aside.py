"""Labels, and columns that are no features, next to the rows of every format that has names."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from kmaps.errors import InputError
from kmaps.io import LabelledRows, open_reader, read_columns, read_whole

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


@pytest.mark.parametrize(
    ("arrays", "column", "message"),
    [
        ({"y": [1, 2]}, None, r"y has the shape \(2,\), expected one value for each of the 4 rows"),
        ({"y": [0, 1, np.nan, 1]}, None, "y: label 2 is nan, expected a finite number"),
        ({"kinds": [0, 1, 0, 1]}, "kind", "holds no array 'kind', did you mean 'kinds'"),
        ({"y": [0, 1, 0, 1j]}, None, "y holds values of type complex128"),
        ({"y": [0, 1, 0, None]}, None, "y holds values of type object"),
    ],
)
def test_what_are_no_labels_of_an_archive(tmp_path, arrays, column, message):
    np.savez(tmp_path / "a.npz", X=X, **arrays)
    with pytest.raises(InputError, match=f"a.npz: {message}"):
        read_whole(open_reader(tmp_path / "a.npz", label_column=column))


def test_columns_of_text(table):
    assert read_columns(table, ["kind"])["kind"].tolist() == KINDS
    for text, message in {
        "a,b\n": "expected a header and one row per line",
        "a,b\n1,2\n3\n": "t.csv:3: column 'b' is ''",
        "a,c\n1,2\n": "its header has no column 'b'",
        'a,b\n1,"2\n3"\n': "t.csv:2: a field in quotation marks does not end",
    }.items():
        table.write_text(text)
        with pytest.raises(InputError, match=message):
            read_columns(table, ["b"])


# Parquet and Arrow: types, what is no row or label, half a file.
TABLE = FRAME.drop(columns="who")


def test_the_index_of_pandas_is_no_feature(tmp_path):
    TABLE.iloc[[2, 0, 3]].to_parquet(tmp_path / "a.parquet")
    assert "__index_level_0__" in parquet.read_schema(tmp_path / "a.parquet").names
    reader = open_reader(tmp_path / "a.parquet", label_column="kind")
    assert reader.columns == ["a", "b", "c"]
    (block,) = reader.blocks(100, 1)
    np.testing.assert_array_equal(block.X, X[[2, 0, 3]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": ["x"] * 4}, "column 'a' holds (large_)?string, expected numbers; leave it out of"),
        ({"b": [1.0, None, 2, 2]}, "column 'b' has no value in row 1, expected a number"),
        ({"b": pd.array([1, None, 2, 2])}, "column 'b' has no value in row 1, expected a number"),
        ({"kind": ["x", None, "y", "y"]}, "column 'kind' has no value in row 1, expected a text"),
        ({"kind": ["x", "", "y", "y"]}, "the label is '', expected a text or a finite number"),
        ({"kind": [1, np.inf, 1, 1]}, "kind: label 1 is inf, expected a finite number"),
    ],
)
def test_what_is_no_row_or_label(tmp_path, change, message):
    TABLE.assign(**change).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=message):
        list(open_reader(tmp_path / "a.parquet", label_column="kind").blocks(100, 1))
