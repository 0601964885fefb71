"""NumPy's files, read block by block.

``.npy`` in C or Fortran order; ``.npz`` with one dense array, next to which labels may stand, or
with a CSR matrix as ``scipy.sparse.save_npz`` writes it, compressed or not. The members of an
archive are streamed; they are never unpacked to the disk nor held in memory.
"""

import errno
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import FileIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError, KmapsError, suggest
from kmaps.io.labels import check_label, check_labels
from kmaps.io.reader import Block, Reader, read_header, reason
from kmaps.matrices import AnyMatrix

_POINTERS = 1 << 16  # row pointers of a CSR matrix read at a time
_DAMAGE = (  # zipfile raises these for a damaged archive
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    KeyError,
    ValueError,
    OverflowError,
    struct.error,
    RuntimeError,  # encryption, or compression that Python lacks
)


def _native(values: NDArray) -> NDArray:
    return values.astype(values.dtype.newbyteorder("="), copy=False)


class NpyReader(Reader):
    """A ``.npy`` file."""

    n_rows: int

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path, name)
        with open(path, "rb") as file:
            header = read_header(file, name)
        self._take_shape(header.dtype, header.shape)
        header.check_size(path.stat().st_size, name)
        self._fortran = header.fortran
        self._stored = header.dtype
        self._offset = header.offset
        self.row_bytes = (1 + header.fortran) * self.n_features * header.dtype.itemsize

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
    except KmapsError:
        raise
    except _DAMAGE as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # an error of the disk, not of the file
        raise InputError(f"{name}: is not a whole .npz file ({reason(error)})") from None


def _shown(member: str) -> str:
    """Return a member's name in one line, whatever its letters."""
    return member if member.isprintable() else repr(member)


class _Member:
    """A one-dimensional stream of the values of one array in an archive."""

    def __init__(
        self, archive: zipfile.ZipFile, member: str, name: str, kinds: str = "biuf"
    ) -> None:
        self.name = f"{name}: {_shown(member)}"
        self._file = archive.open(f"{member}.npy")
        header = read_header(self._file, self.name)
        self.shape = header.shape
        self.fortran = header.fortran
        self.dtype = header.dtype
        if self.dtype.kind not in kinds:
            raise InputError(f"{self.name} holds values of type {self.dtype}")
        header.check_size(archive.getinfo(f"{member}.npy").file_size, self.name)

    def read(self, count: int) -> NDArray:
        content = self._file.read(count * self.dtype.itemsize)
        if len(content) < count * self.dtype.itemsize:
            raise InputError(f"{self.name}: truncated")
        return _native(np.frombuffer(content, self.dtype))


class _NpzReader(Reader):
    """An archive with rows, and with labels and set-aside columns in other arrays."""

    n_rows: int

    def _next_to_rows(self, archive: zipfile.ZipFile) -> dict[str, _Member]:
        """Return the arrays next to the rows; refuse one without a value for each of these."""
        members = {}
        for column in self._named:
            member = _Member(archive, column, self.name, "biufU")
            members[column] = member
            if member.shape != (self.n_rows,):
                raise self._refuse(
                    f"{_shown(column)} has the shape {member.shape}, expected one value for each "
                    f"of the {self.n_rows} rows"
                )
        return members

    def blocks(self, rows: int, values: int) -> Iterator[Block]:
        with _archive(self.path, self.name) as archive:
            members = self._next_to_rows(archive)
            for block in self._stream(archive, rows, values):
                n_rows = block.X.shape[0]
                self.done = block.start + n_rows
                columns = {name: member.read(n_rows) for name, member in members.items()}
                for name, column in columns.items():
                    check_labels(column, f"{self.name}: {_shown(name)}")
                y = None if self._label_column is None else columns.pop(self._label_column)
                aside = {name: self._texts(name, column) for name, column in columns.items()}
                yield replace(block, y=y, aside=aside)

    def _texts(self, name: str, values: NDArray) -> NDArray:
        what = f"column {name!r}"
        return np.array([check_label(str(value), self.name, what) for value in values])

    def _stream(self, archive: zipfile.ZipFile, rows: int, values: int) -> Iterator[Block]:
        raise NotImplementedError


class DenseNpzReader(_NpzReader):
    """The rows of one array, ``member``, of a ``.npz`` file that is open as ``archive``."""

    def __init__(
        self,
        path: Path,
        name: str,
        archive: zipfile.ZipFile,
        member: str,
        labels: str | None = None,
        aside: Sequence[str] = (),
    ) -> None:
        super().__init__(path, name, labels, aside)
        self._member = member
        array = _Member(archive, member, name)
        self._take_shape(array.dtype, array.shape)
        if array.fortran:
            raise self._refuse(
                f"{_shown(member)} is in Fortran order, which an archive cannot give row by row; "
                "save it in C order or as .npy"
            )
        self._next_to_rows(archive)
        self.row_bytes = 2 * self.n_features * self.dtype.itemsize

    def _stream(self, archive: zipfile.ZipFile, rows: int, values: int) -> Iterator[Block]:
        array = _Member(archive, self._member, self.name)
        for start in range(0, self.n_rows, rows):
            count = min(rows, self.n_rows - start)
            yield Block(start, array.read(count * self.n_features).reshape(count, -1))


class CsrNpzReader(_NpzReader):
    """A CSR matrix as ``scipy.sparse.save_npz`` writes it, with other arrays next to it."""

    sparse = True

    def __init__(
        self,
        path: Path,
        name: str,
        archive: zipfile.ZipFile,
        labels: str | None = None,
        aside: Sequence[str] = (),
    ) -> None:
        super().__init__(path, name, labels, aside)
        sides = _Member(archive, "shape", name, "iu")
        if sides.shape != (2,):
            raise self._refuse(
                f"states a shape of {sides.shape} numbers, expected two dimensions (samples, "
                "features)"
            )
        shape = tuple(int(side) for side in sides.read(2))
        self._take_shape(_Member(archive, "data", name).dtype, shape)
        self._next_to_rows(archive)
        self._check_lengths(archive)

    def _check_lengths(self, archive: zipfile.ZipFile) -> None:
        """Refuse arrays whose lengths do not belong together."""
        lengths = {
            member: _Member(archive, member, self.name, kinds).shape
            for member, kinds in (("indptr", "iu"), ("indices", "iu"), ("data", "biuf"))
        }
        if lengths["indptr"] != (self.n_rows + 1,):
            raise self._refuse(
                f"row pointers of shape {lengths['indptr']}, expected {self.n_rows + 1} for "
                f"{self.n_rows} rows"
            )
        if len(lengths["data"]) != 1 or lengths["data"] != lengths["indices"]:
            raise self._refuse(
                f"values of shape {lengths['data']} and indices of shape {lengths['indices']}, "
                "expected as many of each"
            )
        self._stored = lengths["data"][0]

    def _stream(self, archive: zipfile.ZipFile, rows: int, values: int) -> Iterator[Block]:
        pointers = _Member(archive, "indptr", self.name, "iu")
        indices = _Member(archive, "indices", self.name, "iu")
        data = _Member(archive, "data", self.name)
        last = int(pointers.read(1)[0])
        if last != 0:
            raise self._refuse(f"row pointers that start at {last}, expected 0")
        for first in range(0, self.n_rows, _POINTERS):
            ends = pointers.read(min(_POINTERS, self.n_rows - first)).astype(np.int64)
            if (np.diff(ends, prepend=last) < 0).any():
                raise self._refuse("row pointers that decrease")
            if ends[-1] > self._stored:
                raise self._refuse(f"row pointers beyond the {self._stored} values")
            start = 0
            while start < len(ends):
                fitting = int(np.searchsorted(ends, last + values, side="right"))
                stop = max(start + 1, min(start + rows, fitting))
                count = int(ends[stop - 1]) - last
                indptr = np.concatenate([[0], ends[start:stop] - last])
                arrays = data.read(count), indices.read(count), indptr
                yield Block(first + start, self._matrix(arrays, stop - start))
                start = stop
                last = int(ends[stop - 1])
        if last != self._stored:
            raise self._refuse(f"row pointers that end at {last}, before the {self._stored} values")

    def _matrix(self, arrays: tuple, rows: int) -> AnyMatrix:
        from scipy.sparse import csr_matrix  # dense files do not need it

        try:
            X = csr_matrix(arrays, shape=(rows, self.n_features))
            X.check_format(full_check=True)
        except ValueError as error:
            raise self._refuse(f"not a CSR matrix ({error})") from None
        return X


def open_npz(
    path: Path, name: str, label_column: str | None = None, aside: Sequence[str] = ()
) -> Reader:
    """Open a ``.npz`` file, dense or CSR, whichever it holds.

    The rows are a CSR matrix, the only array, or the array named X, next to the labels and the
    arrays set aside. The labels are the array that ``label_column`` names, or else the array y.
    """
    with _archive(path, name) as archive:
        members = [
            member.removesuffix(".npy") for member in archive.namelist() if member.endswith(".npy")
        ]
        named = list(aside) if label_column is None else [label_column, *aside]
        for column in named:
            if column not in members:
                listed = ", ".join(map(_shown, members))
                hint = suggest(column, members) or f" (there are: {listed})"
                raise InputError(f"{name}: holds no array {column!r}{hint}")
        if "format" in members:
            form = _Member(archive, "format", name, "SU").read(1).astype(str)[0]
            if form != "csr":
                raise InputError(
                    f"{name}: a sparse matrix in {form} format, expected csr; convert it with "
                    ".tocsr()"
                )
            labels = "y" if label_column is None and "y" in members else label_column
            return CsrNpzReader(path, name, archive, labels, aside)
        others = [member for member in members if member not in named]
        chosen = others
        if len(others) != 1:
            chosen = [member for member in others if member == "X"]
        if len(chosen) != 1:
            holds = ", ".join(map(_shown, members)) or "no array"
            raise InputError(f"{name}: holds {holds}; expected one array, or one named X")
        if label_column is None and chosen == ["X"] and "y" in others:
            label_column = "y"
        return DenseNpzReader(path, name, archive, chosen[0], label_column, aside)
