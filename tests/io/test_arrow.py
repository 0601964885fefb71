"""Parquet and Arrow: the same rows as pandas reads, block by block; whatever else is named."""

import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from kmaps.errors import InputError
from kmaps.io import LabelledRows, open_reader

RNG = np.random.default_rng(0)
X = RNG.random((23, 3)).astype(np.float32)
KINDS = np.array(["cat", "dog", "owl, too"])[np.arange(23) % 3]
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=KINDS)[["a", "kind", "b", "c"]]


def stream(frame, path):
    table = pa.Table.from_pandas(frame)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=5)


WRITE = {
    "whole.parquet": lambda frame, path: frame.to_parquet(path),
    "groups.parquet": lambda frame, path: frame.to_parquet(path, row_group_size=5),
    "a.feather": lambda frame, path: frame.to_feather(path),
    "a.arrow": stream,
}


@pytest.mark.parametrize("name", WRITE)
@pytest.mark.parametrize("rows", [1, 4, 100])
def test_rows_and_labels_in_blocks_of_any_size(tmp_path, name, rows):
    WRITE[name](FRAME, tmp_path / name)
    reader = open_reader(tmp_path / name, label_column="kind")
    assert (reader.n_rows, reader.n_features, reader.dtype) == (23, 3, np.float32)
    assert reader.columns == ["a", "b", "c"]
    for _ in range(2):
        blocks = list(reader.blocks(rows, 1))
        assert max(len(block.X) for block in blocks) <= rows
        assert [block.start for block in blocks] == list(
            np.cumsum([0, *(len(block.X) for block in blocks)])[:-1]
        )
        np.testing.assert_array_equal(np.concatenate([block.X for block in blocks]), X)
        assert np.concatenate([block.y for block in blocks]).tolist() == KINDS.tolist()
    assert reader.done == reader.total == 23


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.arange(23) % 3, [0, 1, 2]),
        (np.arange(23) % 2 == 0, [1, 0, 1]),
        (pd.Categorical(KINDS), ["cat", "dog", "owl, too"]),
        (np.arange(23) % 3 * 1.0, [0, 1, 2]),
    ],
)
def test_labels_of_any_type(tmp_path, given, expected):
    FRAME.assign(kind=given).to_parquet(tmp_path / "a.parquet")
    rows = LabelledRows(open_reader(tmp_path / "a.parquet", label_column="kind"))
    list(rows.blocks())
    labels = rows.labels()
    assert labels[:3].tolist() == expected
    assert labels.dtype.kind in "iU"


def test_columns_set_aside_are_text_and_no_features(tmp_path):
    FRAME.assign(row=range(23)).to_parquet(tmp_path / "a.parquet")
    reader = open_reader(tmp_path / "a.parquet", aside=["row", "kind"])
    (block,) = reader.blocks(100, 1)
    assert block.aside["row"].tolist() == [str(i) for i in range(23)]
    assert block.aside["kind"].tolist() == KINDS.tolist()
    assert block.y is None
    np.testing.assert_array_equal(block.X, X)


def test_values_keep_a_type_that_holds_all(tmp_path):
    frame = pd.DataFrame({"a": np.array([1, 200], np.uint8), "b": np.array([3, 4], np.uint8)})
    frame.to_parquet(tmp_path / "a.parquet")
    assert open_reader(tmp_path / "a.parquet").dtype == np.uint8
    frame.assign(c=[0.5, 1.5]).to_parquet(tmp_path / "b.parquet")
    (block,) = open_reader(tmp_path / "b.parquet").blocks(9, 9)
    assert block.X.tolist() == [[1, 3, 0.5], [200, 4, 1.5]]


def test_the_index_of_pandas_is_no_feature(tmp_path):
    FRAME.iloc[[5, 3, 9]].to_parquet(tmp_path / "a.parquet")
    assert "__index_level_0__" in parquet.read_schema(tmp_path / "a.parquet").names
    reader = open_reader(tmp_path / "a.parquet", label_column="kind")
    assert reader.columns == ["a", "b", "c"]
    (block,) = reader.blocks(100, 1)
    np.testing.assert_array_equal(block.X, X[[5, 3, 9]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": ["x"] * 23}, "column 'a' holds (large_)?string, expected numbers; leave it out of"),
        ({"b": [1.0, None] + [2] * 21}, None),
        ({"b": pd.array([1, None] + [2] * 21)}, "column 'b' has no value in row 1, expected a num"),
        ({"kind": ["x", None] + ["y"] * 21}, "column 'kind' has no value in row 1, expected a tex"),
        ({"kind": ["x", ""] + ["y"] * 21}, "the label is '', expected a text or a finite number"),
        ({"kind": [1, np.inf] + [1] * 21}, "kind: label 1 is inf, expected a finite number"),
    ],
)
def test_what_is_no_row_or_label(tmp_path, change, message):
    FRAME.assign(**change).to_parquet(tmp_path / "a.parquet")
    message = message or r"column 'b' has no value in row 1, expected a number"
    with pytest.raises(InputError, match=message):
        list(open_reader(tmp_path / "a.parquet", label_column="kind").blocks(100, 1))


def test_columns_that_there_are_not(tmp_path):
    FRAME.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="its header has no column 'knd', did you mean 'kind'"):
        open_reader(tmp_path / "a.parquet", label_column="knd")
    FRAME[["kind"]].to_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match="has no column of numbers"):
        open_reader(tmp_path / "b.parquet", label_column="kind")


@pytest.mark.parametrize("name", WRITE)
def test_half_a_file_is_refused(tmp_path, name):
    WRITE[name](FRAME, tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    for size in (0, 3, len(whole) // 2):
        (tmp_path / name).write_bytes(whole[:size])
        with pytest.raises(InputError, match=rf"{name}: not a whole Parquet or Arrow file \("):
            list(open_reader(tmp_path / name, label_column="kind").blocks(100, 1))


def test_without_pyarrow_the_message_says_how_to_install_it(tmp_path, monkeypatch):
    FRAME.to_parquet(tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = r"a.parquet: needs pyarrow, which is not installed: pip install pyarrow$"
    with pytest.raises(InputError, match=message):
        open_reader(tmp_path / "a.parquet")
