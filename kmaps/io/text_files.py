"""Text files of numbers, read block by block: ``.csv`` and svmlight/LIBSVM's format.

Large blocks are parsed by pandas. A block that it declines, or that is not worth its import, is
read line by line, which says which line and column is wrong.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from itertools import count
from math import isfinite
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.io.labels import BLANKS, check_label, find_column, is_number, split_fields
from kmaps.io.reader import LARGEST_WIDTH, Block, Reader
from kmaps.matrices import AnyMatrix

Lines = list[tuple[int, bytes]]  # line numbers, from 1, with the lines
_Table = tuple[NDArray, dict[int, list[str]]]
"""The numbers, and the columns of text by their places."""

_Sparse = tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]
"""The labels, how many values each row has, their columns, and they themselves."""

_MARK = b"\xef\xbb\xbf"
_LONGEST_LINE = 2**24  # bytes: a million values; beyond, a file without line ends fills the memory
_BUFFER = 2**20  # bytes
_LARGE = 2**17  # bytes of a block: for larger blocks pandas is worth its import
_LONGEST_INDEX = 20  # digits; int() refuses some thousands of them


def _table(content: bytes, texts: Sequence[int] = ()) -> _Table | None:
    """Return the numbers in lines of fields between commas, and the columns of text, by pandas.

    None when a number is missing, not finite or no number, when there is a quote, or without
    pandas. No line is blank, and each has a line feed.
    """
    try:
        import pandas
    except ImportError:
        return None
    # pandas drops a byte-order mark, which below the first line is an error.
    if any(byte in content for byte in (b'"', b"\r", b"\0", _MARK)):
        return None
    # Later versions of pandas always round correctly, and deprecate this option.
    precision = "round_trip" if int(pandas.__version__.partition(".")[0]) < 3 else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = pandas.read_csv(
                BytesIO(content),
                header=None,
                dtype=dict.fromkeys(texts, object),
                na_filter=False,
                skip_blank_lines=False,
                low_memory=False,
                float_precision=precision,
                encoding_errors="replace",
            )
    except (ValueError, OverflowError):
        return None
    if not set(texts) <= set(table):  # all lines have too few fields
        return None
    found = {place: table.pop(place).tolist() for place in texts}
    if not all(dtype.kind in "iuf" for dtype in table.dtypes):
        return None
    numbers = table.to_numpy(np.float64)
    return (numbers, found) if np.isfinite(numbers).all() else None


class _TextReader(Reader):
    is_text = True
    dtype = np.dtype(np.float64)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not blank, numbered from 1."""
        self.done, self.total = 0, self.path.stat().st_size
        with open(self.path, "rb", _BUFFER) as file:
            for number in count(1):
                line = file.readline(_LONGEST_LINE + 1)
                if not line:
                    return
                if len(line) > _LONGEST_LINE:
                    raise self._refuse(
                        f"has more than {_LONGEST_LINE:,} bytes, expected a row of numbers", number
                    )
                self.done += len(line)
                if number == 1:
                    line = line.removeprefix(_MARK)
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
    """Comma-separated numbers; a first line without a number or truth value is a header."""

    def __init__(
        self, path: Path, name: str, label_column: str | None = None, aside: Sequence[str] = ()
    ) -> None:
        super().__init__(path, name, label_column, aside)
        first = next(self._lines(), None)
        if first is None:
            raise self._refuse("is empty, expected one row of numbers per line")
        fields = _fields(first[1])
        values = [one for one in fields if is_number(one) or one.lower() in ("true", "false")]
        titled = any(column in fields for column in self._named) or not values
        self._header_line = first[0] if titled else 0
        if titled and "\ufffd" in "".join(fields):
            raise self._refuse("its header is not text in UTF-8; save the file in UTF-8", first[0])
        if self._named and not titled:
            what = f"label_column={label_column}" if label_column else f"the column {aside[0]!r}"
            raise self._refuse(f"has no header, which {what} needs")
        self._width = len(fields)
        self._texts = {column: find_column(fields, column, name) for column in self._named}
        self._places = [place for place in range(len(fields)) if place not in self._texts.values()]
        if not self._places:
            raise self._refuse("has no column except the labels")
        self.columns = [fields[place] for place in self._places] if self._header_line else None
        self.n_features = len(self._places)
        self.row_bytes = 40 * self.n_features  # the text, and the numbers in float64

    def blocks(self, rows: int, values: int) -> Iterator[Block]:
        lines = (line for line in self._lines() if line[0] != self._header_line)
        start = None
        for start, group in self._grouped(lines, rows, values, lambda line: 0):
            content = _joined(group)
            found = _table(content, [*self._texts.values()]) if len(content) >= _LARGE else None
            if found is None or found[0].shape != (len(group), self.n_features):
                found = self._read_lines(group)
            aside = {
                column: self._checked(column, found[1][place], group)
                for column, place in self._texts.items()
            }
            y = None if self._label_column is None else aside.pop(self._label_column)
            yield Block(start, found[0], y, lines=[number for number, _ in group], aside=aside)
        if start is None:
            raise self._refuse("has a header but no row of numbers")

    def _read_lines(self, group: Lines) -> _Table:
        """Return the rows of any lines; refuse wrong ones."""
        X = np.empty((len(group), self.n_features))
        texts: dict[int, list[str]] = {place: [] for place in self._texts.values()}
        for row, (number, line) in enumerate(group):
            fields = _fields(line)
            if len(fields) != self._width:
                expected = f"the first line has {self._width}"
                raise self._refuse(f"has {len(fields)} columns, {expected}", number)
            for place in self._places:
                if not is_number(fields[place]):
                    found = f"column {place + 1}: {fields[place]!r}"
                    raise self._refuse(f"{found} is not a number", number)
            X[row] = [float(fields[place]) for place in self._places]
            for place, of_column in texts.items():
                of_column.append(fields[place])
        return X, texts

    def _checked(self, column: str, texts: Sequence[str], group: Lines) -> NDArray:
        """Return a column as text (its type depends on the whole file); refuse missing values."""
        texts = [text.strip(BLANKS) for text in texts]
        checked = set()
        for (number, _), text in zip(group, texts, strict=True):
            if text not in checked:
                checked.add(check_label(text, f"{self.name}:{number}", self._called(column)))
        return np.array(texts)


def _joined(group: Lines) -> bytes:
    """Return lines as one text, each with its end, which is one byte."""
    content = b"".join([line for _, line in group])
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n")
    return content if content.endswith(b"\n") else content + b"\n"


def _fields(line: bytes) -> list[str]:
    return split_fields(line.decode("utf-8", errors="replace"))


class SvmReader(_TextReader):
    """svmlight/LIBSVM's format: ``label index:value …`` per line, indices ascending, from 0 or 1.

    The format does not say which: "auto" takes 0 when it occurs and 1 otherwise. For this, or
    without ``n_features``, the file is read once beforehand. The base is certain when it was given,
    when index 0 occurs, or ``n_features`` itself.
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

        Without any index these are a large number and -1.
        """
        smallest, largest = LARGEST_WIDTH, -1
        for number, line in self._samples():
            if b"#" in line or b"qid:" in line:
                fields = [one for one in line.partition(b"#")[0].split()[1:] if one[:4] != b"qid:"]
            else:  # the middle of a line needs no cut
                fields = [*line.split(None, 2)[1:2], *line.rsplit(None, 1)[1:]]
            for field in fields[:1] + fields[-1:]:
                index = field.partition(b":")[0].decode(errors="replace")
                # The parser names a malformed line.
                if _is_whole(index):
                    found = self._check_index(number, index, -1)
                    smallest, largest = min(smallest, found), max(largest, found)
        return smallest, largest

    def _samples(self) -> Iterator[tuple[int, bytes]]:
        return (line for line in self._lines() if not line[1].lstrip().startswith(b"#"))

    def blocks(self, rows: int, values: int) -> Iterator[Block]:
        size = lambda line: line.count(b":")  # noqa: E731
        for start, group in self._grouped(self._samples(), rows, values, size):
            X, y = self._parse(group)
            yield Block(start, X, y, lines=[number for number, _ in group])

    def _parse(self, group: Lines) -> tuple[AnyMatrix, NDArray]:
        content = _joined(group)
        found = self._read_plain(content) if len(content) >= _LARGE else None
        labels, pairs, indices, values = found or self._read_lines(group)
        indptr = np.concatenate([[0], np.cumsum(pairs)])
        columns = np.asarray(indices, np.int32)
        from scipy.sparse import csr_matrix  # tables do not need it

        X = csr_matrix((np.asarray(values, float), columns, indptr), (len(group), self.n_features))
        return X, np.asarray(labels, float)

    def _read_plain(self, content: bytes) -> _Sparse | None:
        """Return the rows of a text; None where not all of it is plain."""
        content = content.replace(b" \n", b"\n")
        # Without digits, each pair is a blank, a colon, and what its value has besides digits.
        rest = content.translate(None, b"0123456789")
        dropped = len(rest) - len(rest.translate(None, b"\t\v\f"))  # by pandas, before a number
        if dropped or not rest.count(b" :") == rest.count(b":") == rest.count(b" "):
            return None
        found = _table(content.translate(bytes.maketrans(b": ", b"\n\n")))
        if found is None or found[0].shape[1] != 1:
            return None
        numbers = found[0][:, 0]
        pairs = np.array([line.count(b":") for line in content.splitlines()])
        places = np.cumsum(1 + 2 * pairs) - 1 - 2 * pairs  # of the labels
        indices, values = np.delete(numbers, places).reshape(-1, 2).T
        starts = np.repeat(places, pairs)
        ascend = (np.diff(indices) > 0) | (np.diff(starts) > 0)
        first = int(self.index_base or 0)
        within = (indices >= first) & (indices <= self._limit)
        if not (ascend.all() and within.all()):
            return None
        return numbers[places], pairs, indices - first, values

    def _read_lines(self, group: Lines) -> _Sparse:
        """Return the rows of any lines; refuse wrong ones."""
        labels, pairs = [], []
        indices: list[int] = []
        values: list[float] = []
        for number, line in group:
            # Blanks in the sense of bytes; text has more.
            fields = [one.decode(errors="replace") for one in line.partition(b"#")[0].split()]
            if not is_number(fields[0]) or not isfinite(float(fields[0])):
                raise self._refuse(f"{fields[0]!r} is not a label, expected one number", number)
            labels.append(float(fields[0]))
            found = [*self._pairs(number, fields[1:])]
            pairs.append(len(found))
            indices += [index for index, _ in found]
            values += [value for _, value in found]
        return labels, pairs, indices, values

    def _pairs(self, number: int, fields: list[str]) -> Iterator[tuple[int, float]]:
        """Yield the columns and the values of a line."""
        previous, first = -1, int(self.index_base or 0)
        for place, field in enumerate(fields):
            index, _, value = field.partition(":")
            if index == "qid":
                if place or not _is_whole(value):
                    raise self._refuse(f"{field!r} is not 'qid:number' after the label", number)
                continue
            if not (_is_whole(index) and is_number(value)):
                raise self._refuse(f"{field!r} is not 'index:value'", number)
            previous = self._check_index(number, index, previous)
            yield previous - first, float(value)

    def _check_index(self, number: int, index: str, previous: int) -> int:
        """Refuse an index that is before the first, does not ascend, or is beyond the last."""
        if len(index) > _LONGEST_INDEX or int(index) > self._limit:
            raise self._refuse(f"index {index} is above {self._limit}, the last index", number)
        if int(index) == 0 and self.index_base:
            raise self._refuse("index 0 occurs, but the indices must count from 1 here", number)
        if int(index) <= previous:
            raise self._refuse(f"index {index} comes after {previous}: must ascend", number)
        return int(index)


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit()
