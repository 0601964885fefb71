"""Parquet and Arrow: types, what is no row or label, half a file (rows: ``test_aside.py``)."""

import sys

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

from kmaps.errors import InputError
from kmaps.io import LabelledRows, open_reader
from tests.io.test_aside import FRAME, KINDS, WRITE, X

FRAME = FRAME.drop(columns="who")
NAMES = [name for name in WRITE if not name.endswith((".csv", ".npz"))]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.arange(4) % 3, [0, 1, 2]),
        (np.arange(4) % 2 == 0, [1, 0, 1]),
        (pd.Categorical(KINDS), KINDS[:3]),
        (np.arange(4) % 3 * 1.0, [0, 1, 2]),
    ],
)
def test_labels_of_any_type(tmp_path, given, expected):
    FRAME.assign(kind=given).to_parquet(tmp_path / "a.parquet")
    rows = LabelledRows(open_reader(tmp_path / "a.parquet", label_column="kind"))
    list(rows.blocks())
    labels = rows.labels()
    assert labels[:3].tolist() == expected
    assert labels.dtype.kind in "iU"


def test_values_keep_a_type_that_holds_all(tmp_path):
    frame = pd.DataFrame({"a": np.array([1, 200], np.uint8), "b": np.array([3, 4], np.uint8)})
    frame.to_parquet(tmp_path / "a.parquet")
    assert open_reader(tmp_path / "a.parquet").dtype == np.uint8
    frame.assign(c=[0.5, 1.5]).to_parquet(tmp_path / "b.parquet")
    (block,) = open_reader(tmp_path / "b.parquet").blocks(9, 9)
    assert block.X.tolist() == [[1, 3, 0.5], [200, 4, 1.5]]


def test_the_index_of_pandas_is_no_feature(tmp_path):
    FRAME.iloc[[2, 0, 3]].to_parquet(tmp_path / "a.parquet")
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
    FRAME.assign(**change).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=message):
        list(open_reader(tmp_path / "a.parquet", label_column="kind").blocks(100, 1))


def test_columns_that_there_are_not(tmp_path):
    FRAME.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="its header has no column 'knd', did you mean 'kind'"):
        open_reader(tmp_path / "a.parquet", label_column="knd")
    FRAME[["kind"]].to_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match="has no column of numbers"):
        open_reader(tmp_path / "b.parquet", label_column="kind")


@pytest.mark.parametrize("name", NAMES)
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
