"""NumPy's own files, read block by block.

``.npy`` in C or Fortran order; ``.npz`` with one dense array or with a CSR matrix as
``scipy.sparse.save_npz`` writes it, compressed or not. The members of an archive are streamed; they
are never unpacked to the disk nor held in memory.
"""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kmaps.errors import InputError
from kmaps.io.reader import Block, Reader

_HEADER_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_POINTERS = 1 << 16  # row pointers of a CSR matrix read at a time


def _read_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Return shape, whether the order is Fortran's, and dtype."""
    try:
        version = np.lib.format.read_magic(file)
        if version not in _HEADER_READERS:
            raise ValueError(f"version {version} of the format holds no plain numbers")
        return _HEADER_READERS[version](file)
    except (ValueError, SyntaxError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{name}: not a whole .npy file ({reason})") from None


def _native(values: NDArray) -> NDArray:
    return values.astype(values.dtype.newbyteorder("="), copy=False)


class NpyReader(Reader):
    """A ``.npy`` file."""

    n_rows: int

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path, name)
        with open(path, "rb") as file:
            self.shape, self._fortran, stored = _read_header(file, name)
            self._offset = file.tell()
        self.check_type(stored, self.shape)
        self._stored = stored
        self.dtype = stored.newbyteorder("=")
        self.n_rows, self.n_features = self.shape
        self.total = self.n_rows
        stored_row = self.n_features * stored.itemsize
        self.row_bytes = (1 + self._fortran) * stored_row
        size, expected = path.stat().st_size, self._offset + self.n_rows * stored_row
        if size < expected:
            raise self._refuse(f"truncated: {size:,} bytes, its header promises {expected:,}")

    def blocks(self, rows: int, values: int) -> Iterator[Block]:
        """Read rows; plain reads, because pages of a mapped file count as memory once touched."""
        read = self._column_major if self._fortran else self._row_major
        for start, X in read(min(rows, self.n_rows)):
            self.done = start + len(X)
            yield Block(start, _native(X))

    def _row_major(self, rows: int) -> Iterator[tuple[int, NDArray]]:
        buffer = np.empty((rows, self.n_features), self._stored)
        with open(self.path, "rb", buffering=0) as file:
            for start in range(0, self.n_rows, rows):
                X = buffer[: self.n_rows - start]
                self._fill(X.reshape(-1), file, start * self.n_features)
                yield start, X

    def _column_major(self, rows: int) -> Iterator[tuple[int, NDArray]]:
        buffer = np.empty((self.n_features, rows), self._stored)
        with open(self.path, "rb", buffering=0) as file:
            for start in range(0, self.n_rows, rows):
                columns = buffer[:, : self.n_rows - start]
                for j in range(self.n_features):
                    self._fill(columns[j], file, j * self.n_rows + start)
                yield start, np.ascontiguousarray(columns.T)

    def _fill(self, values: NDArray, file: FileIO, position: int) -> None:
        """Read consecutive values that start ``position`` values into the array."""
        file.seek(self._offset + position * self._stored.itemsize)
        view = values.view(np.uint8).data
        while view:
            count = file.readinto(view)
            if not count:
                raise self._refuse("ended early: it became shorter while it was read")
            view = view[count:]


@contextmanager
def _archive(path: Path, name: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive; whatever is wrong with it is one line."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError) as error:
        raise InputError(f"{name}: not a whole .npz file ({error.args[0]})") from None


class _Member:
    """A one-dimensional stream of the values of one array in an archive."""

    def __init__(
        self, archive: zipfile.ZipFile, member: str, name: str, kinds: str = "biuf"
    ) -> None:
        self.name = f"{name}: {member}"
        self._file = archive.open(f"{member}.npy")
        self.shape, self.fortran, self.dtype = _read_header(self._file, self.name)
        if self.dtype.kind not in kinds:
            raise InputError(f"{self.name} holds values of type {self.dtype}")

    def read(self, count: int) -> NDArray:
        content = self._file.read(count * self.dtype.itemsize)
        if len(content) < count * self.dtype.itemsize:
            raise InputError(f"{self.name}: truncated")
        return _native(np.frombuffer(content, self.dtype))


class _NpzReader(Reader):
    def blocks(self, rows: int, values: int) -> Iterator[Block]:
        """Stream the members of the archive."""
        with _archive(self.path, self.name) as archive:
            for block in self._stream(archive, rows, values):
                self.done = block.start + block.X.shape[0]
                yield block

    def _stream(self, archive: zipfile.ZipFile, rows: int, values: int) -> Iterator[Block]:
        raise NotImplementedError


class DenseNpzReader(_NpzReader):
    """The single array of a ``.npz`` file, or the one named X."""

    n_rows: int

    def __init__(self, path: Path, name: str, archive: zipfile.ZipFile, member: str) -> None:
        super().__init__(path, name)
        self._member = member
        array = _Member(archive, member, name)
        self.check_type(array.dtype, array.shape)
        if array.fortran:
            raise self._refuse(
                f"{member} is in Fortran order, which an archive cannot give row by row; "
                "save it in C order or as .npy"
            )
        self.n_rows, self.n_features = array.shape
        self.total = self.n_rows
        self.dtype = array.dtype.newbyteorder("=")
        self.row_bytes = 2 * self.n_features * self.dtype.itemsize

    def _stream(self, archive: zipfile.ZipFile, rows: int, values: int) -> Iterator[Block]:
        array = _Member(archive, self._member, self.name)
        for start in range(0, self.n_rows, rows):
            count = min(rows, self.n_rows - start)
            yield Block(start, array.read(count * self.n_features).reshape(count, -1))


class CsrNpzReader(_NpzReader):
    """A CSR matrix as ``scipy.sparse.save_npz`` writes it."""

    n_rows: int

    sparse = True

    def __init__(self, path: Path, name: str, archive: zipfile.ZipFile) -> None:
        super().__init__(path, name)
        shape = tuple(int(n) for n in _Member(archive, "shape", name).read(2))
        self.dtype = _Member(archive, "data", name).dtype.newbyteorder("=")
        self.check_type(self.dtype, shape)
        self.n_rows, self.n_features = shape
        self.total = self.n_rows

    def _stream(self, archive: zipfile.ZipFile, rows: int, values: int) -> Iterator[Block]:
        pointers, indices = (
            _Member(archive, member, self.name, "iu") for member in ("indptr", "indices")
        )
        data = _Member(archive, "data", self.name)
        last = int(pointers.read(1)[0])
        for first in range(0, self.n_rows, _POINTERS):
            ends = pointers.read(min(_POINTERS, self.n_rows - first)).astype(np.int64)
            if (np.diff(ends, prepend=last) < 0).any():
                raise self._refuse("row pointers that decrease")
            i = 0
            while i < len(ends):
                fitting = int(np.searchsorted(ends, last + values, side="right"))
                j = max(i + 1, min(i + rows, fitting))
                count = int(ends[j - 1]) - last
                indptr = np.concatenate([[0], ends[i:j] - last])
                arrays = data.read(count), indices.read(count), indptr
                yield Block(first + i, self._matrix(arrays, j - i))
                i, last = j, int(ends[j - 1])

    def _matrix(self, arrays: tuple, rows: int) -> csr_matrix:
        try:
            X = csr_matrix(arrays, shape=(rows, self.n_features))
            X.check_format(full_check=True)
        except ValueError as error:
            raise self._refuse(f"not a CSR matrix ({error})") from None
        return X


def open_npz(path: Path, name: str) -> Reader:
    """Open a ``.npz`` file, dense or CSR, whichever it holds."""
    with _archive(path, name) as archive:
        members = [m.removesuffix(".npy") for m in archive.namelist() if m.endswith(".npy")]
        if "format" in members:
            form = _Member(archive, "format", name, "SU").read(1).astype(str)[0]
            if form != "csr":
                raise InputError(
                    f"{name}: a sparse matrix in {form} format, expected csr; convert it with "
                    ".tocsr()"
                )
            return CsrNpzReader(path, name, archive)
        chosen = members if len(members) == 1 else [m for m in members if m == "X"]
        if not chosen:
            holds = ", ".join(members) or "no array"
            raise InputError(f"{name}: holds {holds}; expected one array, or one named X")
        return DenseNpzReader(path, name, archive, chosen[0])
