"""Text files of numbers, read block by block: ``.csv`` and svmlight/LIBSVM's format.

The numbers are parsed by compiled code (NumPy's and scikit-learn's). Only when that refuses a block
are its lines looked at one by one, to say which line and column is wrong.
"""

from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from itertools import chain, count
from math import isfinite
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kmaps.io.labels import check_label, find_column, is_number, split_fields
from kmaps.io.reader import LARGEST_WIDTH, Block, Reader

Lines = list[tuple[int, bytes]]
"""Line numbers, from 1, with the lines."""

_LONGEST_LINE = 2**24  # bytes: a million values; beyond, a file without line ends fills the memory
_LONGEST_INDEX = 20  # digits; int() takes no more than some thousand of them


class _TextReader(Reader):
    is_text = True
    dtype = np.dtype(np.float64)

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path, name)
        self.total = path.stat().st_size

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not blank, numbered from 1."""
        self.done = 0
        with open(self.path, "rb") as file:
            for number in count(1):
                line = file.readline(_LONGEST_LINE + 1)
                if not line:
                    return
                if len(line) > _LONGEST_LINE:
                    raise self._refuse(
                        f"a line of more than {_LONGEST_LINE:,} bytes, expected a row of numbers",
                        number,
                    )
                self.done += len(line)
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if line.strip():
                    yield number, line

    def _grouped(
        self, lines: Iterator[tuple[int, bytes]], rows: int, values: int, size: Callable
    ) -> Iterator[tuple[int, Lines]]:
        """Group lines into blocks; yield the number of the first row with each."""
        start, held = 0, 0
        group: Lines = []
        for line in lines:
            held += size(line[1])
            if group and (len(group) == rows or held > values):
                yield start, group
                start, held, group = start + len(group), size(line[1]), []
            group.append(line)
        if group:
            yield start, group


class CsvReader(_TextReader):
    """Comma-separated numbers; a first line without any number is a header.

    Parameters
    ----------
    path, name
        As :class:`Reader`.
    label_column : str, optional
        The column, by its name in the header, that has labels: text or numbers.
    aside : sequence of str
        Columns that are no features; blocks have them as text.

    Attributes
    ----------
    columns : list of str or None
        The names of the columns of numbers, where the file has a header.
    """

    def __init__(
        self, path: Path, name: str, label_column: str | None = None, aside: Sequence[str] = ()
    ) -> None:
        super().__init__(path, name)
        first = next(self._lines(), None)
        if first is None:
            raise self._refuse("empty, expected one row of numbers a line")
        fields = _fields(first[1])
        named = [*([] if label_column is None else [label_column]), *aside]
        titled = any(column in fields for column in named) or not any(map(is_number, fields))
        self._header_line = first[0] if titled else 0
        if named and not titled:
            what = f"label_column={label_column}" if label_column else f"the column {named[0]!r}"
            raise self._refuse(f"has no header, which {what} needs")
        self._width, self._label_column = len(fields), label_column
        self._texts = {column: find_column(fields, column, name) for column in named}
        self.has_labels = label_column is not None
        self._places = [place for place in range(len(fields)) if place not in self._texts.values()]
        if not self._places:
            raise self._refuse("has no column but that of the labels")
        self.columns = [fields[place] for place in self._places] if self._header_line else None
        self.n_features = len(self._places)
        self.row_bytes = 40 * self.n_features  # the text, and the numbers in float64

    def blocks(self, rows: int, values: int) -> Iterator[Block]:
        """Read rows."""
        lines = (line for line in self._lines() if line[0] != self._header_line)
        start = None
        for start, group in self._grouped(lines, rows, values, lambda line: 0):
            aside = self._text_columns(group)
            y = None if self._label_column is None else aside.pop(self._label_column)
            lines_of = [number for number, _ in group]
            yield Block(start, self._parse(group), y, lines=lines_of, aside=aside)
        if start is None:
            raise self._refuse("has a header but no row of numbers")

    def _parse(self, group: Lines) -> NDArray:
        try:
            text = [line.decode("utf-8") for _, line in group]
            X = np.loadtxt(
                text,
                np.float64,
                comments=None,
                delimiter=",",
                quotechar='"',
                ndmin=2,
                usecols=self._places if self._texts else None,
            )
            if X.shape == (len(group), self.n_features):
                return X
            reason = f"rows of {X.shape[1]} columns"
        except ValueError as error:
            reason = str(error)
        for number, line in group:
            self._check(number, _fields(line))
        raise self._refuse(f"cannot be read ({reason})", group[0][0])

    def _text_columns(self, group: Lines) -> dict[str, NDArray]:
        """Return the labels and what was set aside, as text: only all of a file tell its type."""
        if not self._texts:
            return {}
        rows = [(number, _fields(line)) for number, line in group]
        for number, fields in rows:
            # NumPy, told which columns to read, overlooks further ones.
            if len(fields) != self._width:
                self._check(number, fields)
        found = {}
        for column, place in self._texts.items():
            what = "the label" if column == self._label_column else f"column {column!r}"
            texts = [check_label(row[place], f"{self.name}:{n}", what) for n, row in rows]
            found[column] = np.array(texts)
        return found

    def _check(self, number: int, fields: list[str]) -> None:
        if len(fields) != self._width:
            raise self._refuse(f"{len(fields)} columns, the first line has {self._width}", number)
        for place in self._places:
            if not is_number(fields[place]):
                raise self._refuse(f"column {place + 1}: {fields[place]!r} is not a number", number)


def _fields(line: bytes) -> list[str]:
    return split_fields(line.decode("utf-8", errors="replace"))


class SvmReader(_TextReader):
    """svmlight/LIBSVM's format: ``label index:value …`` a line, indices ascending, from 0 or 1.

    Parameters
    ----------
    path, name
        As :class:`Reader`.
    n_features : int, optional
        Columns; by default as many as the largest index needs, for which the file is read once
        beforehand.
    zero_based : bool or "auto"
        Whether indices count from 0. The format does not say; "auto" takes 0 when it occurs and 1
        otherwise, for which the file is read once beforehand.

    Attributes
    ----------
    index_base : int
        0 or 1.
    certain_base : bool
        Whether ``zero_based`` said so, or index 0 occurs, or ``n_features`` itself: else the file
        may as well count from 0.
    """

    sparse = True
    has_labels = True

    def __init__(
        self,
        path: Path,
        name: str,
        n_features: int | None = None,
        zero_based: bool | Literal["auto"] = "auto",
    ) -> None:
        super().__init__(path, name)
        self._limit = LARGEST_WIDTH
        self.index_base, self.certain_base = int(zero_based is False), zero_based != "auto"
        smallest, largest = 1, -1
        if zero_based == "auto" or n_features is None:
            smallest, largest = self._extent()
        if zero_based == "auto":
            self.index_base = min(smallest, 1)
            self.certain_base = smallest == 0 or largest >= (n_features or LARGEST_WIDTH)
        if n_features is None and largest < 0:
            raise self._refuse("holds no sample with a feature, expected 'label index:value …'")
        self.n_features = n_features or largest + 1 - self.index_base
        self._limit = self.n_features - 1 + self.index_base

    def _extent(self) -> tuple[int, int]:
        """Return the smallest and the largest index, by the first and the last of each line.

        Of a file without any, a large number and -1.
        """
        smallest, largest = LARGEST_WIDTH, -1
        for number, line in self._samples():
            fields = [one for one in line.partition(b"#")[0].split()[1:] if one[:4] != b"qid:"]
            for field in fields[:1] + fields[-1:]:
                index = field.partition(b":")[0].decode(errors="replace")
                # A line that is not as it should be is named when it is parsed.
                if _is_whole(index):
                    found = self._check_index(number, index, -1)
                    smallest, largest = min(smallest, found), max(largest, found)
        return smallest, largest

    def _samples(self) -> Iterator[tuple[int, bytes]]:
        return (line for line in self._lines() if not line[1].lstrip().startswith(b"#"))

    def blocks(self, rows: int, values: int) -> Iterator[Block]:
        """Read rows and labels."""
        size = lambda line: line.count(b":")  # noqa: E731
        for start, group in self._grouped(self._samples(), rows, values, size):
            X, y = self._parse(group)
            yield Block(start, X, y, lines=[number for number, _ in group])

    def _parse(self, group: Lines) -> tuple[csr_matrix, NDArray]:
        from sklearn.datasets import load_svmlight_file

        content = b"".join(chain.from_iterable((line, b"\n") for _, line in group))
        problem = ""
        try:
            X, y = load_svmlight_file(
                BytesIO(content), n_features=self.n_features, zero_based=not self.index_base
            )
            if X.shape[0] != len(group) or not np.isfinite(y).all():
                problem = f"{X.shape[0]} samples in {len(group)} lines"
        except (ValueError, OverflowError) as error:
            problem = str(error)
        # Its parser takes 1_0 for 10, and reads over whatever begins with qid.
        if problem or b"_" in content or b"qid" in content:
            for number, line in group:
                self._check(number, line.partition(b"#")[0].decode(errors="replace").split())
        if problem:
            raise self._refuse(f"cannot be read ({problem})", group[0][0])
        return X, y

    def _check(self, number: int, fields: list[str]) -> None:
        if not is_number(fields[0]) or not isfinite(float(fields[0])):
            raise self._refuse(f"{fields[0]!r} is not a label, expected one number", number)
        previous = -1
        for place, field in enumerate(fields[1:], 1):
            index, _, value = field.partition(":")
            if index == "qid":
                if place > 1 or not _is_whole(value):
                    raise self._refuse(f"{field!r} is not 'qid:number' after the label", number)
                continue
            if not (_is_whole(index) and is_number(value)):
                raise self._refuse(f"{field!r} is not 'index:value'", number)
            previous = self._check_index(number, index, previous)

    def _check_index(self, number: int, index: str, previous: int) -> int:
        """Refuse an index that is before the first, does not ascend, or is beyond the last."""
        if len(index) > _LONGEST_INDEX or int(index) > self._limit:
            raise self._refuse(f"index {index} is beyond {self._limit}, the last", number)
        if int(index) == 0 and self.index_base:
            raise self._refuse("index 0, but these indices were said to count from 1", number)
        if int(index) <= previous:
            raise self._refuse(f"index {index} after {previous}: not ascending", number)
        return int(index)


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit()
