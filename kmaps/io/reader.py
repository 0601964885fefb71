"""The base of readers of array files: rows in blocks of bounded size; the ``.npy`` header."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import IO

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError
from kmaps.matrices import AnyMatrix, issparse

LARGEST_WIDTH = 2**31 - 1  # columns of sparse rows; larger indices are no int32
LARGEST_DENSE_WIDTH = 2**24
"""Columns of dense rows: one takes 128 MB, and a row is the least that is read at a time."""
_LONGEST_HEADER = 10_000  # bytes; NumPy has this limit too, but reads longer headers first


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a file, from number ``start`` on; X may be overwritten by the next block.

    Where the file has them: the labels, the line of each row (from 1), and the columns that were
    set aside, as text.
    """

    start: int
    X: AnyMatrix
    y: NDArray | None = None
    lines: Sequence[int] | None = None
    aside: dict[str, NDArray] = field(default_factory=dict)


class Reader(ABC):
    """An array file that can be read block by block, any number of times.

    Parameters
    ----------
    path : Path
        The file to read.
    name : str
        The name in messages.
    label_column : str, optional
        The column that has the labels.
    aside : sequence of str
        Columns that are no features.

    Attributes
    ----------
    path : Path
        The file that is read.
    name : str
        The name in messages.
    n_features : int
        Columns d.
    n_rows : int or None
        Rows, when the format says it before all of them are read.
    sparse, is_text, has_labels : bool
        Whether blocks are CSR; whether the file has lines, and numbers of no certain precision;
        whether the format has labels.
    columns : list of str or None
        The names of the columns, where the file has them.
    index_base : int or None
        The first index, 0 or 1, where the format has indices.
    certain_base : bool
        Whether the file, or the caller, states the first index.
    labels_typed : bool
        Whether the file gives the type of its labels: text in it is no number.
    notes : list of str
        What was decided on the file where it does not say it, and what is left out, a line each.
    dtype : dtype
        Type of the values.
    row_bytes : int
        Memory that reading one row takes, roughly; of dense files only.
    total, done : int
        Progress of the current reading, in rows or bytes.
    """

    sparse = False
    is_text = False
    has_labels = False
    n_features: int
    n_rows: int | None = None
    row_bytes = 0
    columns: list[str] | None = None
    index_base: int | None = None
    certain_base = True
    labels_typed = True

    def __init__(
        self, path: Path, name: str, label_column: str | None = None, aside: Sequence[str] = ()
    ) -> None:
        self.path = path
        self.name = name
        self.notes: list[str] = []
        self.done = self.total = 0
        self._label_column = label_column
        # Labels and columns set aside are no features.
        self._named = [*([] if label_column is None else [label_column]), *aside]
        self.has_labels = self.has_labels or label_column is not None

    @abstractmethod
    def blocks(self, rows: int, values: int) -> Iterator[Block]:
        """Read from the start, at most ``rows`` rows (and, if sparse, ``values`` values) a time.

        Parameters
        ----------
        rows : int
            Most rows of a block.
        values : int
            Most stored values of a block of sparse rows; one row may have more.

        Yields
        ------
        Block
        """

    def place_of(self, column: int) -> int:
        """Return the place in the file, from 0, of a feature's column.

        Parameters
        ----------
        column : int
            The column of a feature, from 0.

        Returns
        -------
        int
            Labels, row indices and columns set aside count too.
        """
        return column

    def _note(self, line: str | None) -> None:
        if line is not None:
            self.notes.append(f"{self.name}: {line}")

    def _called(self, column: str) -> str:
        return "the label" if column == self._label_column else f"column {column!r}"

    def _refuse(self, reason: str, line: int | None = None) -> InputError:
        place = self.name if line is None else f"{self.name}:{line}"
        return InputError(f"{place}: {reason}")

    def _take_shape(self, dtype: np.dtype, shape: tuple[int, ...]) -> None:
        """Keep the type and the shape of the rows; refuse all but a matrix of real numbers."""
        if dtype.kind not in "biuf":
            raise self._refuse(f"holds values of type {dtype}, expected real numbers")
        if len(shape) != 2:
            raise self._refuse(
                f"holds an array of shape {shape}, expected two dimensions (samples, features)"
            )
        if min(shape) < 1:
            raise self._refuse(f"holds an empty array of shape {shape}")
        widest = LARGEST_WIDTH if self.sparse else LARGEST_DENSE_WIDTH
        if shape[1] > widest:
            raise self._refuse(f"has {shape[1]:,} columns, more than {widest:,}; is it transposed?")
        self.dtype, (self.n_rows, self.n_features) = dtype.newbyteorder("="), shape
        self.total = shape[0]


def finite_block(reader: Reader, block: Block, dtype: np.dtype | None) -> AnyMatrix:
    """Return a block's values as ``dtype`` (None: as they are); refuse one that is not finite.

    Parameters
    ----------
    reader : Reader
        The file, which messages name.
    block : Block
        Rows of the file.
    dtype : dtype or None
        Type to which the values are converted.

    Returns
    -------
    ndarray or CSR matrix, shape (n, d)

    Raises
    ------
    InputError
        When a value is not finite, or too large for the type; it names the place.
    """
    X = block.X
    if dtype is not None and X.dtype != dtype:
        with np.errstate(over="ignore"):
            X = X.astype(dtype)
    stored = X.data if issparse(X) else X
    if stored.dtype.kind != "f" or np.isfinite(stored).all():
        return X
    if issparse(X):
        position = int(np.argmin(np.isfinite(stored)))
        row = int(np.searchsorted(X.indptr, position, side="right")) - 1
        column = int(X.indices[position])
        value = block.X.data[position]
    else:
        row, column = (int(place) for place in np.argwhere(~np.isfinite(stored))[0])
        value = block.X[row, column]
    problem = f"is {value}, expected a finite number"
    if np.isfinite(value):
        problem = f"is {value}, too large for {X.dtype}; pass dtype=float64"
    if block.lines:
        place = reader.place_of(column) + 1
        named = f" in {reader.columns[column]!r}" if reader.columns else ""
        problem = f"column {place} {problem}{named}"
        raise InputError(f"{reader.name}:{block.lines[row]}: {problem}")
    raise InputError(f"{reader.name}: X[{block.start + row}, {column}] {problem}")


@dataclass(frozen=True)
class Header:
    """The header of a ``.npy`` file, whose first value comes after ``offset`` bytes.

    No side of the shape is negative, and the dtype may be in the other byte order.
    """

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype
    offset: int

    def check_size(self, size: int, name: str) -> None:
        """Refuse a file of another size in bytes than the header promises."""
        expected = self.offset + prod(self.shape) * self.dtype.itemsize
        if size < expected:
            raise InputError(f"{name}: truncated: {size:,} bytes, its header promises {expected:,}")
        if size > expected:
            raise InputError(
                f"{name}: {size:,} bytes, its header promises {expected:,}: the file is damaged or "
                "has several arrays"
            )


def read_header(file: IO[bytes], name: str) -> Header:
    """Read the header of a ``.npy`` file that is open at its beginning."""
    try:
        version = np.lib.format.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"version {version} of the format is not for plain numbers")
        size_bytes = 2 if version == (1, 0) else 4
        size = file.read(size_bytes)
        length = int.from_bytes(size, "little")
        if length > _LONGEST_HEADER:
            raise ValueError(f"its header has {length:,} bytes, not at most {_LONGEST_HEADER:,}")
        text = BytesIO(size + file.read(length))
        if version == (1, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(text)
        else:
            shape, fortran, dtype = np.lib.format.read_array_header_2_0(text)
        if any(isinstance(side, bool) or side < 0 for side in shape):
            raise ValueError(f"its header promises the shape {shape}")
    # The header is a Python literal: its reader raises the errors of Python's reader.
    except (ValueError, SyntaxError, TypeError, TokenError, RecursionError, MemoryError) as error:
        raise InputError(f"{name}: is not a whole .npy file ({reason(error)})") from None
    offset = np.lib.format.MAGIC_LEN + size_bytes + length
    return Header(shape, fortran, dtype, offset)


def reason(error: Exception) -> str:
    """Return the message of another library's exception, in one line."""
    said = error.args[0] if error.args else type(error).__name__
    return " ".join(str(said).split())
