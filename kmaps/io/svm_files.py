"""svmlight's and LIBSVM's format, read block by block.

Large blocks are parsed by pandas. A block that it declines, or that is not worth its import, is
read line by line, which says which line and column is wrong.
"""

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.io import text_files
from kmaps.io.reader import LARGEST_WIDTH, Block
from kmaps.io.tables import is_number, is_whole
from kmaps.io.text_files import Lines, TextReader
from kmaps.matrices import AnyMatrix

_Sparse = tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]
"""The labels, how many values each row has, their columns, and they themselves."""

_LONGEST_INDEX = 20  # digits; int() refuses some thousands of them
_LARGEST_LABEL = 2**53  # beyond, floating point skips whole numbers


def first_index(
    smallest: int, largest: int, n_features: int | None, zero_based: bool | Literal["auto"]
) -> tuple[int, bool]:
    """Decide whether the indices of a file count from 0 or from 1.

    Parameters
    ----------
    smallest, largest : int
        The smallest and the largest index of the file.
    n_features : int or None
        The number of columns, where it is known from elsewhere: of a model, or from the caller.
    zero_based : bool or "auto"
        What the caller says.

    Returns
    -------
    base : int
        The first index, 0 or 1.
    certain : bool
        Whether the caller or the file says so: only index 0 proves 0, and only the index
        ``n_features`` proves 1.
    """
    if zero_based != "auto":
        return int(not zero_based), True
    if smallest == 0:
        return 0, True
    return 1, n_features is not None and largest >= n_features


class SvmReader(TextReader):
    """svmlight/LIBSVM's format: ``label index:value …`` per line, indices ascending, from 0 or 1.

    The format does not say which: `first_index` decides. For this, or without ``n_features``, the
    file is read once beforehand.
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
        first_sample = next(self._samples(), (0, b""))[1]
        if b" qid:" in first_sample.partition(b"#")[0]:
            self._note("its query numbers (qid) are left out")
        self._limit = LARGEST_WIDTH
        self.index_base = 0
        smallest, largest = 1, -1
        if zero_based == "auto" or n_features is None:
            smallest, largest = self._extent(allows_zero=zero_based is not False)
        base, self.certain_base = first_index(smallest, largest, n_features, zero_based)
        self.index_base = base
        if n_features is None and largest < 0:
            raise self._refuse("holds no sample with a feature, expected 'label index:value …'")
        self.n_features = n_features or largest + 1 - base
        self._limit = self.n_features - 1 + base
        if n_features is None and not self.certain_base:
            self._note(
                "its indices count from 1, as index 0 does not occur (pass zero_based=True if they "
                "count from 0)"
            )

    def _extent(self, *, allows_zero: bool) -> tuple[int, int]:
        """Return the smallest and the largest index, by the first and the last of each line.

        Without any index these are a large number and -1.
        """
        smallest, largest = LARGEST_WIDTH, -1
        for number, line in self._samples():
            if b"#" in line or b"qid:" in line:
                fields = line.partition(b"#")[0].split()[1:]
                fields = [field for field in fields if field[:4] != b"qid:"]
            else:  # the middle of a line needs no cut
                fields = [*line.split(None, 2)[1:2], *line.rsplit(None, 1)[1:]]
            for field in fields[:1] + fields[-1:]:
                text = field.partition(b":")[0].decode(errors="replace")
                # The parser names a malformed line.
                if is_whole(text):
                    index = self._check_index(number, text, -1, 0 if allows_zero else 1)
                    smallest = min(smallest, index)
                    largest = max(largest, index)
        return smallest, largest

    def _samples(self) -> Iterator[tuple[int, bytes]]:
        return (line for line in self.lines() if not line[1].lstrip().startswith(b"#"))

    def blocks(self, rows: int, values: int) -> Iterator[Block]:
        """Read from the start, at most ``rows`` rows and ``values`` values a time."""
        start = 0
        for group in self._grouped(rows, values):
            X, y = self._parse(group)
            yield Block(start, X, y, lines=[number for number, _ in group])
            start += len(group)

    def _grouped(self, rows: int, values: int) -> Iterator[Lines]:
        """Group lines into blocks of so many rows and values."""
        n_values = 0
        group: Lines = []
        for number, line in self._samples():
            n_pairs = line.count(b":")
            if group and (len(group) == rows or n_values + n_pairs > values):
                yield group
                group = []
                n_values = 0
            group.append((number, line))
            n_values += n_pairs
        if group:
            yield group

    def _parse(self, group: Lines) -> tuple[AnyMatrix, NDArray]:
        content = text_files.joined_lines([line for _, line in group])
        parsed = None
        if len(content) >= text_files.LARGE_BLOCK:
            parsed = self._read_plain(content)
        labels, pairs, indices, values = parsed or self._read_lines(group)
        indptr = np.concatenate([[0], np.cumsum(pairs)])
        columns = np.asarray(indices, np.int32)
        from scipy.sparse import csr_matrix  # tables do not need it

        X = csr_matrix((np.asarray(values, float), columns, indptr), (len(group), self.n_features))
        return X, np.asarray(labels, float)

    def _read_plain(self, content: bytes) -> _Sparse | None:
        """Return the rows of a text; None where not all of it is plain."""
        content = content.replace(b" \n", b"\n")
        if b'"' in content:
            return None
        # Without digits, each pair is a blank, a colon, and what its value has besides digits.
        rest = content.translate(None, b"0123456789")
        dropped = len(rest) - len(rest.translate(None, b"\t\v\f"))  # by pandas, before a number
        if dropped or not rest.count(b" :") == rest.count(b":") == rest.count(b" "):
            return None
        table = text_files.parse_table(content.translate(bytes.maketrans(b": ", b"\n\n")))
        if table is None or table[0].shape[1] != 1:
            return None
        numbers = table[0][:, 0]
        pairs = np.array([line.count(b":") for line in content.splitlines()])
        label_places = np.cumsum(1 + 2 * pairs) - 1 - 2 * pairs
        labels = numbers[label_places]
        indices, values = np.delete(numbers, label_places).reshape(-1, 2).T
        starts = np.repeat(label_places, pairs)
        ascend = (np.diff(indices) > 0) | (np.diff(starts) > 0)
        first = int(self.index_base or 0)
        within = (indices >= first) & (indices <= self._limit)
        if not (ascend.all() and within.all()) or (np.abs(labels) >= _LARGEST_LABEL).any():
            return None
        return labels, pairs, indices - first, values

    def _read_lines(self, group: Lines) -> _Sparse:
        """Return the rows of any lines; refuse wrong ones."""
        labels: list[float] = []
        pairs: list[int] = []
        indices: list[int] = []
        values: list[float] = []
        for number, line in group:
            # Blanks in the sense of bytes; text has more.
            fields = [field.decode(errors="replace") for field in line.partition(b"#")[0].split()]
            labels.append(self._label(number, fields[0]))
            before = len(indices)
            for index, value in self._pairs(number, fields[1:]):
                indices.append(index)
                values.append(value)
            pairs.append(len(indices) - before)
        return labels, pairs, indices, values

    def _label(self, number: int, text: str) -> float:
        if not is_number(text) or not isfinite(float(text)):
            raise self._refuse(f"{text!r} is not a label, expected one number", number)
        digits = text.removeprefix("+").removeprefix("-")
        if is_whole(digits) and int(float(digits)) != int(digits):
            raise self._refuse(
                f"the label {text} is a whole number with too many digits for floating point, so "
                "that two classes may become one; number the classes, or keep them as text in a "
                "csv",
                number,
            )
        return float(text)

    def _pairs(self, number: int, fields: list[str]) -> Iterator[tuple[int, float]]:
        """Yield the columns and the values of a line."""
        previous = -1
        first = int(self.index_base or 0)
        for place, field in enumerate(fields):
            index, _, value = field.partition(":")
            if index == "qid":
                if place or not is_whole(value):
                    raise self._refuse(f"{field!r} is not 'qid:number' after the label", number)
                continue
            if is_whole(index.removeprefix("-")) and index[:1] == "-":
                raise self._refuse(
                    f"index {index} is below 0, expected 0 or 1 for the first", number
                )
            if not (is_whole(index) and is_number(value)):
                raise self._refuse(f"{field!r} is not 'index:value'", number)
            previous = self._check_index(number, index, previous, first)
            yield previous - first, float(value)

    def _check_index(self, number: int, index: str, previous: int, first: int) -> int:
        """Refuse an index that is before the first, does not ascend, or is beyond the last."""
        if len(index) > _LONGEST_INDEX or int(index) > self._limit:
            raise self._refuse(f"index {index} is above {self._limit}, the last index", number)
        if int(index) < first:
            raise self._refuse("index 0 occurs, but the indices must count from 1 here", number)
        if int(index) <= previous:
            raise self._refuse(f"index {index} comes after {previous}: must ascend", number)
        return int(index)
