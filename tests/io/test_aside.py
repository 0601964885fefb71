"""Labels, and columns that are no features, beside the rows of text files and archives."""

import numpy as np
import pytest
import scipy.sparse as sp

from kmaps.errors import InputError
from kmaps.io import open_reader, open_writer, read_columns, read_whole

X = np.arange(12, dtype=np.float32).reshape(4, 3)
TEXT = 'a,who,b,kind,c\n0,p1,1,cat,2\n3,p1,4,"dog, big",5\n6,p2,7,cat,8\n9,p3,10,cat,11\n'


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    return path


def test_csv_columns_set_aside(table):
    reader = open_reader(table, label_column="kind", aside=["who"])
    assert reader.columns == ["a", "b", "c"]
    blocks = list(reader.blocks(3, 1))
    assert [block.X.shape for block in blocks] == [(3, 3), (1, 3)]
    assert blocks[0].aside["who"].tolist() == ["p1", "p1", "p2"]
    found, y, aside = read_whole(reader, dtype=np.dtype(np.float32))
    np.testing.assert_array_equal(found, X)
    assert found.dtype == np.float32
    assert y.tolist() == ["cat", "dog, big", "cat", "cat"]
    assert {name: texts.tolist() for name, texts in aside.items()} == {
        "who": ["p1", "p1", "p2", "p3"]
    }


def test_a_value_that_is_missing_beside_the_rows(table):
    table.write_text(TEXT.replace("p2", ""))
    message = "t.csv:4: column 'who' is '', expected a text or a finite number"
    with pytest.raises(InputError, match=message):
        read_whole(open_reader(table, label_column="kind", aside=["who"]))


def test_aside_needs_a_header(tmp_path):
    (tmp_path / "t.csv").write_text("1,2\n3,4\n")
    with pytest.raises(InputError, match=r"t.csv: has no header, which the column 'who' needs"):
        open_reader(tmp_path / "t.csv", aside=["who"])
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(InputError, match="npy has no columns with names; leave who out"):
        open_reader(tmp_path / "X.npy", aside=["who"])


@pytest.mark.parametrize("y", [np.array([0, 1, 0, 1]), np.array(["a", "b", "a", "b"])])
def test_labels_in_an_archive(tmp_path, y):
    np.savez(tmp_path / "a.npz", X=X, y=y)
    reader = open_reader(tmp_path / "a.npz")
    assert reader.has_labels
    assert [block.y.tolist() for block in reader.blocks(3, 1)] == [y[:3].tolist(), y[3:].tolist()]
    np.savez(tmp_path / "b.npz", rows=X, kinds=y, who=[1, 1, 2, 3])
    reader = open_reader(tmp_path / "b.npz", label_column="kinds", aside=["who"])
    found, labels, aside = read_whole(reader)
    np.testing.assert_array_equal(found, X)
    assert (labels.tolist(), aside["who"].tolist()) == (y.tolist(), ["1", "1", "2", "3"])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("y", [np.arange(4) % 3, np.array(["a", "bcd", "e", "f"])])
def test_labels_are_written_beside_the_rows(tmp_path, sparse, y):
    rows = sp.csr_matrix(X) if sparse else X
    with open_writer(tmp_path / "a.npz") as writer:
        writer.write(rows[:1], y[:1])
        writer.write(rows[1:], y[1:])
    reader = open_reader(tmp_path / "a.npz")
    found, labels, _ = read_whole(reader)
    np.testing.assert_array_equal(found.toarray() if sparse else found, X)
    assert labels.tolist() == y.tolist()
    if sparse:
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
    assert read_columns(table, ["kind"])["kind"].tolist() == ["cat", "dog, big", "cat", "cat"]
    for text, message in {
        "a,b\n": "expected a header and a row per line",
        "a,b\n1,2\n3\n": "t.csv:3: column 'b' is ''",
        "a,c\n1,2\n": "its header has no column 'b'",
    }.items():
        table.write_text(text)
        with pytest.raises(InputError, match=message):
            read_columns(table, ["b"])
