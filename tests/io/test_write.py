"""Writers: what NumPy, SciPy and scikit-learn read back, whole or not at all."""

import errno
import os
import platform
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from commands import python
from sklearn.datasets import load_svmlight_file

from kmaps import io
from kmaps.errors import InputError
from tests.faults.injected import Calls

RNG = np.random.default_rng(1)
X = RNG.random((11, 4)).astype(np.float32)
X[X < 0.4] = 0
Y = np.arange(11)


def write(path, matrix, pieces=(0, 4, 5, 11), **options):
    with io.open_writer(path, **options) as writer:
        for start, stop in pairwise(pieces):
            writer.write(matrix[start:stop], Y[start:stop])


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_npy(tmp_path, convert, dtype):
    values = (100 * X).astype(dtype)
    write(tmp_path / "a.npy", convert(values), n_rows=11)
    loaded = np.load(tmp_path / "a.npy")
    assert loaded.dtype == dtype
    np.testing.assert_array_equal(loaded, values)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_svm_keeps_the_labels(tmp_path, convert):
    write(tmp_path / "a.svm", convert(X))
    loaded, y = load_svmlight_file(str(tmp_path / "a.svm"), n_features=4, zero_based=False)
    np.testing.assert_allclose(loaded.toarray(), X, rtol=1e-7)
    np.testing.assert_array_equal(y, Y)


def test_svm_without_labels_has_zeros_and_without_rows_is_refused(tmp_path):
    with pytest.raises(InputError, match="need rows"), io.open_writer(tmp_path / "z.svm") as writer:
        writer.write(None, Y)
    with io.open_writer(tmp_path / "a.svm") as writer:
        writer.write(X, None)
    assert [line.split()[0] for line in (tmp_path / "a.svm").read_text().splitlines()] == ["0"] * 11


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
@pytest.mark.parametrize("labels", [Y / 4, np.array([f"{k}, so" for k in Y]), None])
@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.arrow"])
def test_tables(tmp_path, name, labels, dtype, convert):
    values = (100 * X / 3).astype(dtype)
    with io.open_writer(tmp_path / name) as writer:
        for rows in (slice(0, 4), slice(4, 11)):
            writer.write(convert(values)[rows], None if labels is None else labels[rows])
    reader = io.open_reader(tmp_path / name, label_column=None if labels is None else "label")
    loaded, y, _ = io.read_whole(reader)
    assert reader.columns == ["x0", "x1", "x2", "x3"]
    assert loaded.dtype == ("float64" if name == "a.csv" else dtype)
    np.testing.assert_array_equal(loaded.astype(dtype), values)
    if labels is not None:
        np.testing.assert_array_equal(y.astype(labels.dtype), labels)


@pytest.mark.parametrize("old", [None, "old"])
@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.svm", "a.csv", "a.parquet"])
def test_a_failure_leaves_what_was_there(tmp_path, name, old):
    def fail():
        with io.open_writer(tmp_path / name, force=True) as writer:
            writer.write(X, Y)
            raise RuntimeError("stop")

    if old:
        (tmp_path / name).write_text(old)
    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert os.listdir(tmp_path) == [name] * bool(old)
    assert not old or (tmp_path / name).read_text() == old


def test_targets_that_are_refused(tmp_path):
    (tmp_path / "a.npy").touch()
    (tmp_path / "folder.npy").mkdir()
    for name, message in {
        "a.npy": "exists already; choose another name, or pass force=True",
        "folder.npy": "not a regular file",
        "none/a.npy": "does not exist; make it",
        "a.txt": "unknown format 'txt'",
        "a.xls": "(npy, npz, csv, svm, libsvm, parquet, arrow, feather)",
    }.items():
        with pytest.raises(InputError) as caught:
            write(tmp_path / name, X)
        assert message in str(caught.value)


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    def race():
        with io.atomic_file(tmp_path / "a") as file:
            file.write(b"ours")
            (tmp_path / "a").write_text("theirs")

    with pytest.raises(InputError, match="exists already"):
        race()
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "theirs"


def test_a_file_is_replaced_where_a_link_leads_and_keeps_its_permissions(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with io.atomic_file(tmp_path / "link", force=True) as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o600
    (tmp_path / "plain").touch()
    with io.atomic_file(tmp_path / "a"):
        pass
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("target", ["b.npy", "b.npz", "b.svm", "b.csv"])
def test_blocks_stay_within_the_memory_asked_for(tmp_path, target):
    """The bytes of the blocks given to the map, in and out, are at most those asked for."""
    values = RNG.random((500, 8))
    np.save(tmp_path / "a.npy", values)
    seen = []

    def encode(block):
        out = np.repeat(block, 3, axis=1)
        seen.append(block.nbytes + out.nbytes)
        return out

    with io.open_writer(tmp_path / target) as writer:
        io.encode_file(io.open_reader(tmp_path / "a.npy"), writer, encode, memory=8192)
    assert max(seen) <= 8192
    assert max(seen) > 4096
    assert sum(seen[1:]) == 4 * values.nbytes  # the first call is for the shape


def test_sparse_blocks_are_small_where_their_zeros_will_be_written(tmp_path):
    values = sp.random(500, 1000, density=0.002, format="csr", random_state=0)
    sp.save_npz(tmp_path / "a.npz", values)
    rows = {}
    for target in ("b.npy", "b.npz"):
        seen = []
        with io.open_writer(tmp_path / target) as writer:
            encode = lambda block, seen=seen: (seen.append(block.shape[0]), block)[1]  # noqa: E731
            io.encode_file(io.open_reader(tmp_path / "a.npz"), writer, encode, memory=80_000)
        rows[target] = max(seen)
    assert rows == {"b.npy": 10, "b.npz": 500}
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), values.toarray())


def test_unfinished_files_of_a_folder_are_deleted_if_their_processes_have_ended(tmp_path):
    ended = subprocess.Popen(["true"])
    ended.wait()
    token = "0123456789abcdef"
    dead = f".any.npz.{platform.node()}.{ended.pid}.{token}.part"
    others = [
        f".any.npz.{platform.node()}.{os.getpid()}.{token}.part",
        f".any.npz.elsewhere.{ended.pid}.{token}.part",
        f".{platform.node()}.{ended.pid}.part",
        "any.npz",
    ]
    for name in (dead, *others):
        (tmp_path / name).touch()
    io.remove_unfinished(tmp_path)
    io.remove_unfinished(tmp_path / "none")
    assert sorted(os.listdir(tmp_path)) == sorted(others)


def test_a_file_is_on_the_disk_before_it_takes_its_name(tmp_path, monkeypatch):
    calls = Calls(monkeypatch.setattr, ("fsync", "replace"))
    with io.atomic_file(tmp_path / "a") as file:
        file.write(b"whole")
        assert not calls.counted
    assert list(calls.counted) == ["fsync", "replace"]
    calls.at(0, "input/output error")
    with pytest.raises(OSError, match="Input/output"), io.atomic_file(tmp_path / "a", force=True):
        pass
    assert (tmp_path / "a").read_bytes() == b"whole"


def test_a_planted_link_is_not_followed(tmp_path):
    """Names of before had the process alone, so that a link could wait there."""
    (tmp_path / "victim").write_text("precious")
    for name in (f".a.{os.getpid()}.part", f".a.{platform.node()}.{os.getpid()}.part"):
        (tmp_path / name).symlink_to(tmp_path / "victim")
    with io.atomic_file(tmp_path / "a") as file:
        file.write(b"ours")
    assert (tmp_path / "victim").read_text() == "precious"
    assert (tmp_path / "a").read_bytes() == b"ours"


def test_folders_appear_whole_or_not_at_all(tmp_path):
    ended = subprocess.Popen(["true"])
    ended.wait()
    left = tmp_path / f".rows.zarr.{platform.node()}.{ended.pid}.{'0' * 16}.part"
    left.mkdir()
    (left / "0").write_text("of the dead")
    with io.atomic_folder(tmp_path / "rows.zarr") as folder:
        (folder / "0").write_text("whole")
        assert not left.exists()
        assert not (tmp_path / "rows.zarr").exists()
    assert os.listdir(tmp_path) == ["rows.zarr"]
    with pytest.raises(FileNotFoundError), io.atomic_folder(tmp_path / "other") as folder:
        (folder / "nowhere" / "0").touch()
    assert os.listdir(tmp_path) == ["rows.zarr"]
    with (
        pytest.raises(InputError, match="exists already"),
        io.atomic_folder(tmp_path / "rows.zarr"),
    ):
        pass


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_svm_files_are_read_back_bit_by_bit(tmp_path, convert):
    rng = np.random.default_rng(0)
    X = rng.random((300, 7)) / 3 * (rng.random((300, 7)) < 0.7)
    X[0] = [0, np.finfo(float).max, -np.finfo(float).max, 5e-324, 1e22, 1 / 3, -0.1]
    y = np.where(np.arange(300) % 2, 0.1 + 0.2, -3)
    with io.open_writer(tmp_path / "a.svm") as writer:
        writer.write(convert(X[:1]), y[:1])
        writer.write(convert(X[1:]), y[1:])
    read, labels, _ = io.read_whole(
        io.open_reader(tmp_path / "a.svm", n_features=7, zero_based=False)
    )
    assert read.toarray().tobytes() == (X + 0.0).tobytes()
    assert labels.tolist() == y.tolist()
    for dtype in ("float32", "uint8", "int64", "bool"):
        with io.open_writer(tmp_path / "b.svm", force=True) as writer:
            writer.write(convert((9 * X[1:]).astype(dtype)), None)
        read, _, _ = io.read_whole(
            io.open_reader(tmp_path / "b.svm", n_features=7, zero_based=False)
        )
        np.testing.assert_array_equal(read.toarray().astype(dtype), (9 * X[1:]).astype(dtype))


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_names_the_file(tmp_path, monkeypatch):
    """The system names none; a file whose writing fails inside another's block keeps its name."""
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError) as failed, io.atomic_file(tmp_path / "a.npy") as file:
        file.write(b"1")
    assert failed.value.filename == str(tmp_path / "a.npy")
    with (
        pytest.raises(OSError) as failed,
        io.atomic_folder(tmp_path / "b"),
        io.atomic_file(tmp_path / "c.npy") as file,
    ):
        file.write(b"1")
    assert failed.value.filename == str(tmp_path / "c.npy")
    assert list(tmp_path.iterdir()) == []


WRITE_A_NAME = """
import sys
from kmaps.io import atomic_file
with atomic_file(sys.argv[1]) as file:
    file.write(b"rows")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are Unicode")
def test_names_beyond_the_encoding_of_the_system(tmp_path):
    ascii_names = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    python("-c", WRITE_A_NAME, "größe.npz", folder=tmp_path, **ascii_names)
    assert [path.name for path in tmp_path.iterdir()] == ["größe.npz"]
