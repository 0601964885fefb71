"""Array files, written block by block: ``.npy``, ``.npz`` (dense or CSR) and svmlight's text."""

import os
import shutil
import tempfile
import zipfile
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import issparse

from kmaps.errors import InputError
from kmaps.io.labels import few_labels, joined_labels, typed_labels
from kmaps.samples import AnyMatrix

Rows: TypeAlias = AnyMatrix


class NpyStream:
    """A ``.npy`` file of unknown length: the header is written first and completed at the end."""

    def __init__(self, file: BinaryIO, dtype: DTypeLike, columns: int | None) -> None:
        self._file = file
        self._dtype = np.dtype(dtype)
        self._columns = columns
        self._rows = 0
        self._write_header()
        self._header_bytes = file.tell()

    def _write_header(self) -> None:
        # NumPy pads headers so that the first number of the shape can grow in place.
        shape = (self._rows,) if self._columns is None else (self._rows, self._columns)
        descr = np.lib.format.dtype_to_descr(self._dtype)
        header = {"descr": descr, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)

    def append(self, values: NDArray) -> None:
        self._file.write(np.ascontiguousarray(values, self._dtype).data)
        self._rows += len(values)

    def finish(self) -> None:
        self._file.seek(0)
        self._write_header()
        if self._file.tell() != self._header_bytes:
            raise AssertionError("the header changed its length")
        self._file.seek(0, os.SEEK_END)


class NpyWriter:
    """Rows into a ``.npy`` file; sparse rows are written with their zeros.

    Parameters
    ----------
    file : binary file, seekable
    target : Path
        Where the file will be, for messages and for the space left there.
    n_rows : int or None
        Rows to come, when known; then a disk without the space for them is refused at once.
    """

    keeps_sparse = False
    keeps_labels = False

    def __init__(self, file: BinaryIO, target: Path, n_rows: int | None) -> None:
        self._file, self._target, self._n_rows = file, target, n_rows
        self._stream: NpyStream | None = None

    def write(self, Z: Rows, y: NDArray | None) -> None:
        """Append rows; labels have no place in this format."""
        if self._stream is None:
            self._check_space(Z)
            self._stream = NpyStream(self._file, Z.dtype, Z.shape[1])
        self._stream.append(Z.toarray() if issparse(Z) else Z)

    def _check_space(self, Z: Rows) -> None:
        needed = (self._n_rows or 0) * Z.shape[1] * Z.dtype.itemsize
        free = shutil.disk_usage(self._target.parent).free
        if needed > free:
            hint = "; .npz keeps the zeros out" if issparse(Z) else ""
            raise InputError(
                f"{self._target}: needs {needed / 1e9:.1f} GB, but {free / 1e9:.1f} GB are free "
                f"in {self._target.parent}{hint}"
            )

    def finish(self) -> None:
        """Complete the header."""
        if self._stream:
            self._stream.finish()


class Archive:
    """A ``.npz`` file whose arrays grow row by row, in nameless files in the target's folder.

    The parts of an archive are written one after the other but grow together, so they are first
    collected apart.

    Parameters
    ----------
    file : binary file
    target : Path
        Where the file will be.
    """

    def __init__(self, file: BinaryIO, target: Path) -> None:
        self._file, self._folder = file, target.parent
        self._parts: dict[str, tuple[BinaryIO, NpyStream]] = {}
        self._files = ExitStack()

    def __contains__(self, name: str) -> bool:
        return name in self._parts

    def append(self, name: str, values: NDArray, dtype: DTypeLike | None = None) -> None:
        """Append rows to an array; the first ones settle its type and width."""
        if name not in self._parts:
            nameless = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
            file = self._files.enter_context(nameless)
            columns = values.shape[1] if values.ndim == 2 else None
            self._parts[name] = file, NpyStream(file, dtype or values.dtype, columns)
        self._parts[name][1].append(values)

    def finish(self, **whole: NDArray) -> None:
        """Put the parts into the archive, and after them some arrays that are whole."""
        with self._files, zipfile.ZipFile(self._file, "w", zipfile.ZIP_STORED) as archive:
            for name, (part, stream) in self._parts.items():
                stream.finish()
                part.seek(0)
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    shutil.copyfileobj(part, member, 1 << 20)
            for name, array in whole.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.save(member, array)


class NpzWriter:
    """Rows into a ``.npz`` file: an array named X, or a CSR matrix as SciPy loads it.

    Labels, where there are some, are beside them in an array named y, as readers look for them.
    """

    keeps_sparse = True
    keeps_labels = True

    def __init__(self, file: BinaryIO, target: Path, n_rows: int | None) -> None:
        self._archive = Archive(file, target)
        self._shape = (0, 0)
        self._stored = 0
        self._labels: list[NDArray] = []

    def write(self, Z: Rows, y: NDArray | None) -> None:
        """Append rows and labels."""
        if y is not None:
            self._labels.append(y)
        if issparse(Z):
            self._archive.append("data", Z.data)
            index = np.int32 if Z.shape[1] < 2**31 else np.int64
            self._archive.append("indices", Z.indices, index)
            ends = Z.indptr.astype(np.int64) + self._stored
            # The first pointer of a later block is the last of the one before.
            self._archive.append("indptr", ends[1:] if self._shape[0] else ends)
            self._stored += Z.nnz
        else:
            self._archive.append("X", Z)
        self._shape = (self._shape[0] + Z.shape[0], Z.shape[1])

    def finish(self) -> None:
        """Put the parts into the archive."""
        whole: dict[str, NDArray] = {}
        if "data" in self._archive:
            whole |= {"shape": np.array(self._shape, np.int64), "format": np.array(b"csr")}
        if self._labels:
            whole["y"] = joined_labels(self._labels)
        self._archive.finish(**whole)


class SvmWriter:
    """Rows into svmlight's format, with the labels of the input, or 0 where it had none."""

    keeps_sparse = True
    keeps_labels = True

    def __init__(self, file: BinaryIO, target: Path, n_rows: int | None) -> None:
        self._file = file

    def write(self, Z: Rows, y: NDArray | None) -> None:
        """Append rows and labels."""
        from sklearn.datasets import dump_svmlight_file

        labels = np.zeros(Z.shape[0], int) if y is None else y
        if labels.dtype.kind == "U":
            labels = typed_labels(labels)
        if labels.dtype.kind == "U":
            raise InputError(f"svm files have numbers for labels, not text ({few_labels(labels)})")
        dump_svmlight_file(Z, labels, self._file, zero_based=False)

    def finish(self) -> None:
        """Nothing is left to write."""
