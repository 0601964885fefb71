"""Readers: the same matrix from every format, however it is cut; every damage named."""

import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from kmaps.errors import InputError
from kmaps.io import open_reader, read_blocks, read_labels, sample_rows

RNG = np.random.default_rng(0)
X = RNG.random((23, 5)).astype(np.float32)
X[X < 0.4] = 0
X[7] = 0
Y = np.arange(23) % 3


def write_npz(path, **members):
    """Write an archive with some members as given bytes or arrays."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            if not isinstance(content, bytes):
                buffer = io.BytesIO()
                np.save(buffer, content)
                content = buffer.getvalue()
            archive.writestr(f"{name}.npy", content)


def csv(values, header=""):
    return header + "".join(",".join(f"{v:.9g}" for v in row) + "\n" for row in values)


WRITE = {
    "c.npy": lambda path: np.save(path, X),
    "fortran.npy": lambda path: np.save(path, np.asfortranarray(X)),
    "big_endian.npy": lambda path: np.save(path, X.astype(">f4")),
    "stored.npz": lambda path: np.savez(path, X),
    "deflated.npz": lambda path: np.savez_compressed(path, X=X, y=Y),
    "csr.npz": lambda path: sp.save_npz(path, sp.csr_matrix(X)),
    "csr_array.npz": lambda path: sp.save_npz(path, sp.csr_array(X), compressed=False),
    "plain.csv": lambda path: path.write_text(csv(X)),
    "header.csv": lambda path: path.write_text("\ufeff" + csv(X, '"a",b,c,d,e\n')),
    "bom.csv": lambda path: path.write_text("\ufeff" + csv(X)),
    "crlf.csv": lambda path: path.write_bytes(csv(X).replace("\n", "\r\n").encode()),
    "blank.csv": lambda path: path.write_text(csv(X).replace("\n", "\n\n")),
    "a.svm": lambda path: dump_svmlight_file(X, Y, str(path), zero_based=False),
    "a.libsvm": lambda path: dump_svmlight_file(X, Y, str(path), zero_based=False, comment="hello"),
}


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else np.array(matrix)


@pytest.mark.parametrize("name", WRITE)
@pytest.mark.parametrize(("rows", "values"), [(1, 1), (4, 6), (100, 10_000)])
def test_every_format_gives_the_same_rows_in_blocks_of_any_size(tmp_path, name, rows, values):
    WRITE[name](tmp_path / name)
    reader = open_reader(tmp_path / name)
    assert reader.n_features == 5
    starts, parts, labels = [], [], []
    for block in reader.blocks(rows, values):
        assert block.X.shape[0] <= rows
        if reader.sparse:
            assert block.X.nnz <= values or block.X.shape[0] == 1
        starts.append(block.start)
        parts.append(dense(block.X))
        labels.append(block.y)
    assert starts == list(np.cumsum([0, *map(len, parts)])[:-1])
    assert reader.sparse or set(map(len, parts[:-1])) <= {rows}  # as large as asked
    np.testing.assert_allclose(np.concatenate(parts), X, rtol=1e-7)
    assert reader.done == reader.total > 0
    if name.endswith("svm"):
        np.testing.assert_array_equal(np.concatenate(labels), Y)


def wrong_checksum(path):
    np.savez_compressed(path, X)
    with zipfile.ZipFile(path) as archive:
        checksum = archive.infolist()[0].CRC.to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(checksum, b"\0" * 4))


def npy(header, values=b""):
    text = header.encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + values


def header_of_shape(shape):
    return npy(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}")


def long_header(path):
    """Write a member whose header claims 3 GB, which packs to 3 MB."""
    write_npz(path, X=b"\x93NUMPY\x02\x00" + (3 * 2**30).to_bytes(4, "little") + b" " * 99)


def unknown_packing(path):
    np.savez(path, X)
    content = path.read_bytes()
    directory = content.rindex(b"PK\x01\x02")
    for place in (8, directory + 10):  # the method, at the member and in the directory
        content = content[:place] + b"\x63\x00" + content[place + 2 :]
    path.write_bytes(content)


def broken_lzma(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("X.npy", b"\x93NUMPY" * 99)
    content = bytearray(path.read_bytes())
    content[45:60] = bytes(15)
    path.write_bytes(content)


def csr(**parts):
    """Return what writes a CSR matrix of 2 rows and 3 values, some parts replaced or left out."""
    good = {
        "format": np.array(b"csr"),
        "shape": np.array([2, 3]),
        "data": np.ones(3, np.float32),
        "indices": np.array([0, 1, 2]),
        "indptr": np.array([0, 1, 3]),
    }
    members = {name: part for name, part in (good | parts).items() if part is not None}
    return lambda path: write_npz(path, **members)


def promising(shape):
    return lambda path: path.write_bytes(header_of_shape(shape) + bytes(24))


def cut_member(path):
    np.save(content := io.BytesIO(), X)
    write_npz(path, X=content.getvalue()[:-4])


def cut(path):
    np.save(path, X)
    path.write_bytes(path.read_bytes()[:-1])


def fewer_rows(path):
    np.save(path, X)
    path.write_bytes(path.read_bytes().replace(b"(23, 5)", b"(22, 5)"))


BAD_NPY = {
    "is a folder": lambda p: p.mkdir(),
    "no such file": lambda p: None,
    "not a whole .npy file": lambda p: p.touch(),
    "not a whole .npy file (the magic": lambda p: p.write_text("1,2\n3,4\n" * 9),
    "truncated: 587 bytes, its header promises 588": cut,
    "shape (5,), expected two dimensions": lambda p: np.save(p, X[0]),
    "an empty array of shape (0, 5)": lambda p: np.save(p, X[:0]),
    "type <U1, expected real numbers": lambda p: np.save(p, np.array([["a"]])),
    "type complex64, expected real numbers": lambda p: np.save(p, X * 1j),
    "type object, expected real": lambda p: np.save(p, np.array([[None]])),
    "a.npy: is not a whole .npy file (": lambda p: p.write_bytes(
        npy("{'descr': '<f4', 'shape': (2, ")
    ),
    "not a whole .npy file (": lambda p: p.write_bytes(npy("(" * 9000)),
    "promises the shape (-2, -3)": promising("(-2, -3)"),
    "not a whole .npy file (shape is not valid": promising("(2, 3.0)"),
    "588 bytes, its header promises 568: the file is damaged": fewer_rows,
}
BAD_NPZ = {
    "not a whole .npz file (File is not a zip file)": lambda p: p.write_text("hello"),
    "not a whole .npz file (Bad CRC-32": wrong_checksum,
    "holds a, b; expected one array, or one named X": lambda p: np.savez(p, a=X, b=X),
    r"holds 'a\nb', c; expected one array": lambda p: np.savez(p, **{"a\nb": X, "c": X}),
    r"'a\nb' holds values of type <U": lambda p: np.savez(p, **{"a\nb": X[0].astype(str)}),
    "in Fortran order": lambda p: np.savez(p, np.asfortranarray(X)),
    "a.npz: X: truncated": cut_member,
    "has 16,777,217 columns, more than 16,777,216; is it transposed?": lambda p: (
        np.savez_compressed(p, np.zeros((1, 2**24 + 1), np.uint8))
    ),
    "its header has 3,221,225,472 bytes, not at most 10,000": long_header,
    "not a whole .npz file (That compression method": unknown_packing,
    "not a whole .npz file (": broken_lzma,
    "shape holds values of type float": csr(shape=np.array([2.0, np.nan])),
    "expected two dimensions": csr(shape=np.array([2, 3, 1])),
    "an empty array of shape (2, -3)": csr(shape=np.array([2, -3])),
    "columns, more than 2,147,483,647": csr(shape=np.array([2, 2**62])),
    "row pointers that start at 1, expected 0": csr(indptr=np.array([1, 2, 3])),
    "row pointers that end at 2, before the 3 values": csr(indptr=np.array([0, 1, 2])),
    "row pointers beyond the 3 values": csr(indptr=np.array([0, 1, 2**62])),
    "row pointers of shape (4,), expected 3 for 2 rows": csr(indptr=np.array([0, 1, 2, 3])),
    "values of shape (3,) and indices of shape (4,), expected as": csr(indices=np.arange(4)),
    "csc format, expected csr": lambda p: sp.save_npz(p, sp.csc_matrix(X)),
    "(There is no item named 'indices.npy'": csr(indices=None),
    "not a CSR matrix": csr(indices=np.array([0, 3, 1])),
    "indptr holds values of type <U1": csr(indptr=np.array(["a"])),
    "pointers that decrease": csr(indptr=np.array([0, -1, 3])),
    "row pointers that decrease": csr(indptr=np.array([0, 2, 1])),
}
BAD = {
    **{message: ("a.npy", write) for message, write in BAD_NPY.items()},
    **{message: ("a.npz", write) for message, write in BAD_NPZ.items()},
    "unknown format 'txt' (npy, npz, csv, svm": ("a.txt", lambda p: p.touch()),
    "has no extension for a format": ("a", lambda p: p.touch()),
}


def assert_refused(path, message, read=lambda path: list(open_reader(path).blocks(2, 10))):
    with pytest.raises(InputError) as caught:
        read(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("message", BAD)
def test_a_bad_file_is_refused_in_one_line(tmp_path, message):
    name, write = BAD[message]
    write(tmp_path / name)
    assert_refused(tmp_path / name, message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.array([1, np.nan]), "label 1 is nan, expected a finite number"),
        (np.array([[1, 2]]), "of shape (1, 2), expected labels of shape (n,)"),
        (np.array([None]), "holds Python objects, expected plain labels"),
        (np.array([0x110000], np.uint32).view("<U1"), "words with invalid characters"),
        (b"hello", "not a whole .npy file"),
        (header_of_shape(f"({2**40},)"), "truncated"),
    ],
)
def test_labels_that_are_none_are_refused(tmp_path, content, message):
    if isinstance(content, bytes):
        (tmp_path / "y.npy").write_bytes(content)
    else:
        np.save(tmp_path / "y.npy", content)
    assert_refused(tmp_path / "y.npy", message, read_labels)


def test_a_number_that_is_not_finite_is_named_with_its_place(tmp_path):
    bad = X.copy()
    bad[20, 3] = np.nan
    bad[22, 0] = np.inf
    np.save(tmp_path / "a.npy", bad)
    sp.save_npz(tmp_path / "a.npz", sp.csr_matrix(bad))
    (tmp_path / "a.csv").write_text(csv(bad, "a,b,c,d,e\n"))
    for name, place in (
        ("a.npy", "a.npy: X[20, 3]"),
        ("a.npz", "a.npz: X[20, 3]"),
        ("a.csv", "a.csv:22: column 4"),
    ):
        told = f"{place} is nan, expected a finite number"
        assert_refused(tmp_path / name, told, lambda path: sample_rows(open_reader(path)))


@pytest.mark.parametrize("name", ["a.npy", "csr.npz", "a.csv", "a.svm"])
def test_a_sample_is_part_of_the_file_and_depends_on_the_seed_alone(tmp_path, name, monkeypatch):
    WRITE[{"a.npy": "c.npy", "a.csv": "plain.csv"}.get(name, name)](tmp_path / name)
    reader = open_reader(tmp_path / name)
    whole = dense(sample_rows(reader))
    np.testing.assert_allclose(whole, X, rtol=1e-7)
    sample = dense(sample_rows(reader, rows=6))
    assert sample.shape == (6, 5)
    rows = [int(np.flatnonzero((whole == row).all(1))[0]) for row in sample]
    assert rows == sorted(rows)
    assert dense(sample_rows(reader, rows=6, seed=1)).tolist() != sample.tolist()
    monkeypatch.setattr("kmaps.io.stream.MEMORY", 200)  # small blocks
    assert dense(sample_rows(reader, rows=6)).tolist() == sample.tolist()


def test_memory_of_a_row(tmp_path):
    """Blocks are as large as the memory allows, for what reading a row of each format takes."""
    X = np.arange(600.0).reshape(100, 6)
    np.save(tmp_path / "c.npy", X)
    np.save(tmp_path / "f.npy", np.asfortranarray(X))  # columns are gathered, then turned
    np.savez(tmp_path / "a.npz", X=X)  # bytes of the archive, and numbers
    np.savetxt(tmp_path / "a.csv", X, delimiter=",")  # 40 bytes of text and number per value
    copies = {"c.npy": 1, "f.npy": 2, "a.npz": 2, "a.csv": 5}
    for name, number in copies.items():
        reader = open_reader(tmp_path / name)
        assert reader.row_bytes == number * 6 * 8, name
        # What is read, and the row in double precision that is made of it.
        sizes = [len(block) for block, _ in read_blocks(reader, memory=10 * (number + 1) * 6 * 8)]
        assert sizes == [10] * 10, name


def test_comments_of_svm_files_prove_nothing(tmp_path):
    (tmp_path / "a.svm").write_text("# 0:1\n1 1:2 3:1 # 0:5 9:9\n2 2:1\n")
    reader = open_reader(tmp_path / "a.svm")
    assert (reader.index_base, reader.certain_base, reader.n_features) == (1, False, 3)
    (tmp_path / "a.svm").write_text("1 0:2 # 1:5\n2 2:1\n")
    reader = open_reader(tmp_path / "a.svm")
    assert (reader.index_base, reader.certain_base, reader.n_features) == (0, True, 3)
