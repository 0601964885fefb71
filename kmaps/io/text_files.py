"""The base of readers of text files: their lines, one by one and in blocks, and pandas' parser."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from io import BytesIO
from itertools import compress, islice

import numpy as np
from numpy.typing import NDArray

from kmaps.io.reader import Reader

Lines = list[tuple[int, bytes]]
"""Line numbers, from 1, with the lines."""

Table = tuple[NDArray, dict[int, list[str]]]
"""The numbers, and the columns of text by their places."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LONGEST_LINE = 2**24  # bytes: a million values; beyond, a file without line ends fills the memory
LARGE_BLOCK = 2**17  # bytes of a block: for larger blocks pandas is worth its import
_BUFFER = 2**20  # bytes
_ONE_PASS = 1024  # lines


class TextReader(Reader):
    """A file of lines."""

    is_text = True
    labels_typed = False
    dtype = np.dtype(np.float64)

    def line_blocks(
        self, rows: int, *, header: bool = False
    ) -> Iterator[tuple[list[int], list[bytes]]]:
        """Yield the lines that are not blank and their numbers from 1, as many as ``rows``.

        With ``header`` the first of them is left out. No statement of Python runs per line, which
        would take longer than parsing.
        """
        self.done, self.total = 0, self.path.stat().st_size
        numbers: list[int] = []
        lines: list[bytes] = []
        with open(self.path, "rb", _BUFFER) as file:
            following = iter(partial(file.readline, LONGEST_LINE + 1), b"")
            first = 1
            while block := list(islice(following, rows - len(lines))):
                self._check_lengths(block, first)
                if first == 1:
                    block[0] = block[0].removeprefix(BYTE_ORDER_MARK)
                blank = [*map(bytes.isspace, block)]
                places: Iterable[int] = range(first, first + len(block))
                first += len(block)
                if any(blank):
                    filled = [not is_blank for is_blank in blank]
                    places = compress(places, filled)
                    block = [*compress(block, filled)]
                numbers += places
                lines += block
                if header and lines:
                    del numbers[0], lines[0]
                    header = False
                self.done = file.tell()
                if len(lines) == rows:
                    yield numbers, lines
                    numbers, lines = [], []
        if lines:
            yield numbers, lines

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not blank, numbered from 1."""
        for numbers, lines in self.line_blocks(_ONE_PASS):
            yield from zip(numbers, lines, strict=True)

    def _check_lengths(self, lines: Sequence[bytes], first: int) -> None:
        lengths = [*map(len, lines)]
        if max(lengths) > LONGEST_LINE:
            number = first + lengths.index(max(lengths))
            reason = f"has more than {LONGEST_LINE:,} bytes, expected a row of numbers"
            raise self._refuse(reason, number)


def joined_lines(lines: Sequence[bytes]) -> bytes:
    """Return lines as one text, each with its end, which is one byte."""
    content = b"".join(lines)
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n")
    return content if content.endswith(b"\n") else content + b"\n"


def parse_table(content: bytes, texts: Sequence[int] = (), separator: str = ",") -> Table | None:
    """Return the numbers in lines of fields, and the columns of text, by pandas.

    Parameters
    ----------
    content : bytes
        Lines, none of which is blank, and each of which ends with a line feed.
    texts : sequence of int
        The places of the columns that are text.
    separator : str
        What stands between fields; a blank stands for several.

    Returns
    -------
    numbers : ndarray, shape (n, columns)
        In float64, each value Python's float of its text.
    texts : dict of int to list of str
        The columns of text by their places.
        None instead of both when a number is missing, not finite or no number, or without pandas.
    """
    try:
        import pandas
    except ImportError:
        return None
    # pandas drops a byte-order mark, which below the first line is an error.
    if any(byte in content for byte in (b"\r", b"\0", BYTE_ORDER_MARK)):
        return None
    # Later versions of pandas always round correctly, and deprecate this option.
    precision = "round_trip" if int(pandas.__version__.partition(".")[0]) < 3 else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = pandas.read_csv(
                BytesIO(content),
                sep=r"\s+" if separator == " " else separator,
                header=None,
                dtype=dict.fromkeys(texts, object),
                na_filter=False,
                skip_blank_lines=False,
                skipinitialspace=True,
                low_memory=False,
                float_precision=precision,
                encoding_errors="replace",
            )
    except (ValueError, OverflowError):
        return None
    if not set(texts) <= set(table):  # all lines have too few fields
        return None
    columns = {place: table.pop(place).tolist() for place in texts}
    if not all(dtype.kind in "iuf" for dtype in table.dtypes):
        return None
    numbers = table.to_numpy(np.float64)
    return (numbers, columns) if np.isfinite(numbers).all() else None
