"""Array files, written block by block: NumPy's, svmlight's text, and tables of named columns."""

import csv
import io
import os
import shutil
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kmaps.errors import InputError
from kmaps.io.labels import (
    few_labels,
    is_formula,
    joined_labels,
    label_line,
    label_text,
    typed_labels,
)
from kmaps.matrices import AnyMatrix, issparse

Rows: TypeAlias = AnyMatrix | None
Labels: TypeAlias = NDArray | None
Names: TypeAlias = Sequence[str] | None


class Writer(ABC):
    """Rows and labels, written to a file block by block.

    The file is seekable unless the format ``streams``, from beginning to end; it will be at
    ``target``, which has the space for it, with ``n_rows`` rows, if known.
    """

    keeps_sparse = False  # whether zeros are left out
    keeps_labels = True
    streams = False
    labels_typed = False  # whether labels that are text stay text

    def __init__(self, file: BinaryIO, target: Path, n_rows: int | None = None) -> None:
        self._file, self._target, self._n_rows = file, target, n_rows

    @abstractmethod
    def write(self, Z: Rows, y: Labels, names: Names = None) -> None:
        """Append rows, labels, or both; tables have ``names`` for the columns of the rows."""

    def finish(self) -> None:  # noqa: B027 (most formats need no end)
        """Complete the file."""


def _dense(Z: AnyMatrix) -> NDArray:
    return Z.toarray() if issparse(Z) else Z


class _NpyStream:
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


def _stream(file: BinaryIO, values: NDArray, dtype: DTypeLike | None = None) -> _NpyStream:
    """Return a stream for arrays like the first one."""
    return _NpyStream(file, dtype or values.dtype, values.shape[1] if values.ndim == 2 else None)


class NpyWriter(Writer):
    """A ``.npy`` file: of sparse rows with their zeros; of labels only where there are no rows."""

    keeps_labels = False
    _stream: _NpyStream | None = None

    def write(self, Z: Rows, y: Labels, names: Names = None) -> None:
        """Append rows with their zeros, or labels."""
        values: Any = y if Z is None else Z
        if self._stream is None:
            self._check_space(values)
            self._stream = _stream(self._file, values)
        self._stream.append(_dense(values))

    def _check_space(self, values: Any) -> None:
        """Refuse a disk without the space for the rows to come."""
        row = values.dtype.itemsize * (values.shape[1] if values.ndim == 2 else 1)
        needed = (self._n_rows or 0) * row
        free = shutil.disk_usage(self._target.parent).free
        if needed > free:
            hint = "; .npz leaves the zeros out" if issparse(values) else ""
            raise InputError(
                f"{self._target}: needs {needed / 1e9:.1f} GB, but {free / 1e9:.1f} GB are free "
                f"in {self._target.parent}{hint}"
            )

    def finish(self) -> None:
        """Write the number of rows into the header."""
        if self._stream:
            self._stream.finish()


class NpzWriter(Writer):
    """A ``.npz`` file: an array named X, or a CSR matrix as SciPy loads it; labels named y.

    The parts of an archive are written one after the other but grow together, so they are first
    collected in nameless files in the target's folder.
    """

    keeps_sparse = True

    def __init__(self, file: BinaryIO, target: Path, n_rows: int | None = None) -> None:
        super().__init__(file, target, n_rows)
        self._parts: dict[str, tuple[BinaryIO, _NpyStream]] = {}
        self._files = ExitStack()
        self._shape = (0, 0)
        self._stored = 0
        self._labels: list[NDArray] = []
        self.whole: dict[str, NDArray] = {}
        """Arrays that are added at the end."""

    def append(self, name: str, values: NDArray, dtype: DTypeLike | None = None) -> None:
        """Append rows to an array; the first ones settle its type and width."""
        if name not in self._parts:
            nameless = tempfile.TemporaryFile(dir=self._target.parent)  # noqa: SIM115
            file = self._files.enter_context(nameless)
            self._parts[name] = file, _stream(file, values, dtype)
        self._parts[name][1].append(values)

    def write(self, Z: Rows, y: Labels, names: Names = None) -> None:
        """Append rows, labels, or both."""
        if y is not None:
            self._labels.append(y)
        if Z is None:
            return
        if issparse(Z):
            self.append("data", Z.data)
            self.append("indices", Z.indices, np.int32 if Z.shape[1] < 2**31 else np.int64)
            ends = Z.indptr.astype(np.int64) + self._stored
            # The first pointer of a later block is the last of the one before.
            self.append("indptr", ends[1:] if self._shape[0] else ends)
            self._stored += Z.nnz
        else:
            self.append("X", Z)
        self._shape = (self._shape[0] + Z.shape[0], Z.shape[1])

    def finish(self) -> None:
        """Collect the parts in the archive."""
        if "data" in self._parts:
            self.whole |= {"shape": np.array(self._shape, np.int64), "format": np.array(b"csr")}
        if self._labels:
            self.whole["y"] = joined_labels(self._labels, typed=self.labels_typed)
        with self._files, zipfile.ZipFile(self._file, "w", zipfile.ZIP_STORED) as archive:
            for name, (part, stream) in self._parts.items():
                stream.finish()
                part.seek(0)
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    shutil.copyfileobj(part, member, 1 << 20)
            for name, array in self.whole.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.save(member, array)


class SvmWriter(Writer):
    """svmlight's format, with the labels of the input, or 0 where it had none."""

    keeps_sparse = True
    streams = True

    def write(self, Z: Rows, y: Labels, names: Names = None) -> None:
        """Append lines of rows; without labels each has the label 0."""
        if Z is None:
            raise InputError("svm files need rows: got labels alone")
        labels = np.zeros(Z.shape[0], int) if y is None else y
        if labels.dtype.kind == "U":
            labels = typed_labels(labels, typed=self.labels_typed)
        if labels.dtype.kind == "U":
            raise InputError(f"svm files need numbers as labels, got text ({few_labels(labels)})")
        self._file.write(_svm_lines(Z, labels).encode())


def _svm_lines(Z: AnyMatrix, labels: NDArray) -> str:
    """Return rows in svmlight's format, with as many digits as are needed to read them back."""
    if not issparse(Z):
        from scipy.sparse import csr_matrix

        Z = csr_matrix(Z)
    if not Z.has_sorted_indices:
        Z = Z.sorted_indices()
    digits = _digits(Z.dtype)
    pairs = [
        f"{index}:{digits % value}"
        for index, value in zip((Z.indices + 1).tolist(), Z.data.tolist(), strict=True)
    ]
    ends = Z.indptr.tolist()
    return "".join(
        " ".join([label_text(label), *pairs[first:last]]) + "\n"
        for label, first, last in zip(labels.tolist(), ends[:-1], ends[1:], strict=True)
    )


def _digits(dtype: np.dtype) -> str:
    """Return the format of numbers of a type that is read back as the same number."""
    if dtype.kind in "biu":
        return "%d"
    return "%r" if dtype.itemsize > 4 else "%.9g"


def _titles(Z: Rows, y: Labels, names: Names) -> list[str]:
    """Return the names of the columns of a table.

    Rows come first, as ``x0``, ``x1``, …, which scikit-learn calls columns without names; then
    ``label``. Where the columns have names, the label comes first.
    """
    label = [] if y is None else ["label"]
    if Z is None:
        return label
    return [*label, *names] if names else [*(f"x{j}" for j in range(Z.shape[1])), *label]


class CsvWriter(Writer):
    """Rows as text, with as many digits as their type needs to be read back the same.

    Labels alone have no header.
    """

    streams = True
    _has_header = False

    def write(self, Z: Rows, y: Labels, names: Names = None) -> None:
        """Append lines, after a header where there are rows."""
        columns = [] if y is None else [[_field(label) for label in y.tolist()]]
        if Z is not None:
            numbers = ",".join([_digits(Z.dtype)] * Z.shape[1])
            columns.insert(
                len(columns) if names else 0, [numbers % (*row,) for row in _dense(Z).tolist()]
            )
        lines = [",".join(fields) for fields in zip(*columns, strict=True)]
        if Z is not None and not self._has_header:
            lines.insert(0, ",".join(map(_field, _titles(Z, y, names))))
            self._has_header = True
        self._file.write("".join(f"{line}\n" for line in lines).encode())


def csv_line(values: Sequence[object]) -> str:
    """Return values as a line of a ``.csv``, with its end.

    Parameters
    ----------
    values : sequence
        Numbers and texts; None is an empty field.

    Returns
    -------
    str
        The fields, texts as `label_line` has them, in quotes where they need them or may be taken
        for a formula.
    """
    return ",".join(map(_field, values)) + "\n"


def _field(value: object) -> str:
    """Return a value as a field of a ``.csv`` in one line, in quotes where it needs them.

    A text that a spreadsheet may take for a formula is in quotes too, but otherwise as it is.
    """
    if value is None:
        return ""
    line = label_line(value) if isinstance(value, str) and value else str(value)
    text = io.StringIO()
    if is_formula(line):
        csv.writer(text, lineterminator="", quoting=csv.QUOTE_ALL).writerow([line])
    else:
        csv.writer(text, lineterminator="").writerow([line])
    return text.getvalue()


class TxtWriter(Writer):
    """A label per line."""

    streams = True

    def write(self, Z: Rows, y: Labels, names: Names = None) -> None:
        """Append a line per label."""
        if y is None:
            raise InputError("txt files need labels: got none, expected one per row")
        self._file.write("".join(f"{label_line(label)}\n" for label in y.tolist()).encode())


class ArrowWriter(Writer):
    """Columns in an Arrow (Feather) file; needs pyarrow."""

    _writer: Any = None

    def __init__(self, file: BinaryIO, target: Path, n_rows: int | None = None) -> None:
        from kmaps.io.arrow_files import pyarrow

        super().__init__(file, target, n_rows)
        self._pa = pyarrow(str(target))

    def _open(self, schema: Any) -> Any:
        return self._pa.ipc.new_file(self._file, schema)

    def write(self, Z: Rows, y: Labels, names: Names = None) -> None:
        """Append columns as a record batch or row group."""
        columns = [] if y is None else [y]
        if Z is not None:
            place = len(columns) if names else 0
            columns[place:place] = [np.ascontiguousarray(column) for column in _dense(Z).T]
        table = self._pa.table([*map(self._pa.array, columns)], names=_titles(Z, y, names))
        self._writer = self._writer or self._open(table.schema)
        self._writer.write_table(table)

    def finish(self) -> None:
        """Write the footer of the file."""
        if self._writer is not None:
            self._writer.close()


class ParquetWriter(ArrowWriter):
    """Columns in a Parquet file, a row group per block."""

    def _open(self, schema: Any) -> Any:
        from pyarrow import parquet

        class Abandonable(parquet.ParquetWriter):
            def __del__(self) -> None:
                """Do not complete a file that was closed meanwhile."""

        return Abandonable(self._file, schema)


WRITERS: dict[str, type[Writer]] = {
    "npy": NpyWriter,
    "npz": NpzWriter,
    "csv": CsvWriter,
    "svm": SvmWriter,
    "libsvm": SvmWriter,
    "parquet": ParquetWriter,
    "arrow": ArrowWriter,
    "feather": ArrowWriter,
}
