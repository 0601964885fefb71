"""Writers: what NumPy, SciPy and scikit-learn read back, whole or not at all."""

import os
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from kmaps.errors import InputError
from kmaps.io import atomic_file, encode_file, open_reader, open_writer

RNG = np.random.default_rng(1)
X = RNG.random((11, 4)).astype(np.float32)
X[X < 0.4] = 0
Y = np.arange(11)


def write(path, matrix, pieces=(0, 4, 5, 11), **options):
    with open_writer(path, **options) as writer:
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


def test_dense_npz(tmp_path):
    write(tmp_path / "a.npz", X)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npz")["X"], X)


def test_sparse_npz(tmp_path):
    write(tmp_path / "a.npz", sp.csr_matrix(X))
    loaded = sp.load_npz(tmp_path / "a.npz")
    assert loaded.has_canonical_format
    assert (loaded.format, loaded.dtype, loaded.nnz) == ("csr", np.float32, np.count_nonzero(X))
    np.testing.assert_array_equal(loaded.toarray(), X)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_svm_keeps_the_labels(tmp_path, convert):
    write(tmp_path / "a.svm", convert(X))
    loaded, y = load_svmlight_file(str(tmp_path / "a.svm"), n_features=4, zero_based=False)
    np.testing.assert_allclose(loaded.toarray(), X, rtol=1e-7)
    np.testing.assert_array_equal(y, Y)


def test_svm_without_labels_has_zeros(tmp_path):
    with open_writer(tmp_path / "a.svm") as writer:
        writer.write(X, None)
    assert [line.split()[0] for line in (tmp_path / "a.svm").read_text().splitlines()] == ["0"] * 11


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.svm"])
def test_a_failure_leaves_nothing(tmp_path, name):
    def fail():
        with open_writer(tmp_path / name) as writer:
            writer.write(X, Y)
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert os.listdir(tmp_path) == []


def test_a_failure_keeps_what_was_there(tmp_path):
    (tmp_path / "a.npy").write_text("old")

    def fail():
        with open_writer(tmp_path / "a.npy", force=True) as writer:
            writer.write(X, Y)
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert os.listdir(tmp_path) == ["a.npy"]
    assert (tmp_path / "a.npy").read_text() == "old"


def test_targets_that_are_refused(tmp_path):
    (tmp_path / "a.npy").touch()
    (tmp_path / "folder.npy").mkdir()
    for name, message in {
        "a.npy": "exists already; choose another name, or pass force=True",
        "folder.npy": "not a regular file",
        "none/a.npy": "there is no folder",
        "a.txt": "unknown format 'txt'",
        "a.csv": "(npy, npz, svm, libsvm)",
    }.items():
        with pytest.raises(InputError) as caught:
            write(tmp_path / name, X)
        assert message in str(caught.value)


def test_a_device_is_never_replaced():
    with pytest.raises(InputError, match="/dev/null: not a regular file"):
        write("/dev/null", X, form="npy", force=True)


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    def race():
        with atomic_file(tmp_path / "a") as file:
            file.write(b"ours")
            (tmp_path / "a").write_text("theirs")

    with pytest.raises(InputError, match="exists already"):
        race()
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "theirs"


def test_force_follows_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic_file(tmp_path / "link", force=True) as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_the_file_is_readable_as_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    with atomic_file(tmp_path / "a"):
        pass
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_disk_without_the_space_is_refused_at_once(tmp_path):
    with (
        pytest.raises(
            InputError, match=r"needs 16000000.0 GB, but .* GB are free in .*; .npz keeps"
        ),
        open_writer(tmp_path / "a.npy", n_rows=10**15) as writer,
    ):
        writer.write(sp.csr_matrix(X), None)


@pytest.mark.parametrize("target", ["b.npy", "b.npz", "b.svm"])
def test_blocks_stay_within_the_memory_asked_for(tmp_path, target):
    """The bytes of the blocks given to the map, in and out, are at most those asked for."""
    values = RNG.random((500, 8))
    np.save(tmp_path / "a.npy", values)
    seen = []

    def encode(block):
        out = np.repeat(block, 3, axis=1)
        seen.append(block.nbytes + out.nbytes)
        return out

    with open_writer(tmp_path / target) as writer:
        encode_file(open_reader(tmp_path / "a.npy"), writer, encode, memory=8192)
    assert max(seen) <= 8192
    assert max(seen) > 4096
    assert sum(seen[1:]) == 4 * values.nbytes  # the first call is for the shape


def test_sparse_blocks_are_small_where_their_zeros_will_be_written(tmp_path):
    values = sp.random(500, 1000, density=0.002, format="csr", random_state=0)
    sp.save_npz(tmp_path / "a.npz", values)
    rows = {}
    for target in ("b.npy", "b.npz"):
        seen = []
        with open_writer(tmp_path / target) as writer:
            encode = lambda block, seen=seen: (seen.append(block.shape[0]), block)[1]  # noqa: E731
            encode_file(open_reader(tmp_path / "a.npz"), writer, encode, memory=80_000)
        rows[target] = max(seen)
    assert rows == {"b.npy": 10, "b.npz": 500}
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), values.toarray())
