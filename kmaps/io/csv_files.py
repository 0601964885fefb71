"""Tables of text, ``.csv``, read block by block.

Large blocks are parsed by pandas. A block that it declines, or that is not worth its import, is
read line by line, which says which line and column is wrong.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError
from kmaps.io import tables, text_files
from kmaps.io.labels import NOT_DECODED, check_label, find_column
from kmaps.io.reader import Block
from kmaps.io.text_files import TextReader

_FIRST_LINES = 20  # by which separators and row indices are recognised


class CsvReader(TextReader):
    """Rows of numbers, and columns of text, between separators.

    The functions of `kmaps.io.tables` decide on the separator, on the header, and on columns that
    hold a row index.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        label_column: str | None = None,
        aside: Sequence[str] = (),
        *,
        header: bool | Literal["auto"] = "auto",
        model_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(path, name, label_column, aside)
        beginning = [*islice(self.lines(), _FIRST_LINES)]
        if not beginning:
            raise self._refuse("is empty, expected one row of numbers per line")
        if b"\r" in beginning[0][1].rstrip():
            raise self._refuse("its lines end with carriage returns; save it with line feeds")
        texts = [_decoded(line) for _, line in beginning]
        if texts[0].lower().startswith("sep=") and len(texts[0].strip()) <= len("sep=;"):
            raise self._refuse(
                f"its first line, {texts[0].strip()}, is Excel's and no row; delete it",
                beginning[0][0],
            )
        self._separator = tables.find_separator(texts)
        self._note(tables.separator_note(self._separator))
        if tables.has_open_quote(texts[0], self._separator):
            raise self._refuse(tables.OPEN_QUOTE, beginning[0][0])
        rows = [tables.split_fields(text, self._separator) for text in texts]
        first_number, first = beginning[0][0], rows[0]
        titled, note = tables.has_header(
            name,
            first,
            self._rows_below(),
            named=self._named,
            model_names=model_names,
            header=header,
        )
        self._note(note)
        self._header_line = first_number if titled else 0
        self._width = len(first)
        self._check_header(first, rows, titled)
        self._texts = {column: find_column(first, column, name) for column in self._named}
        self._index_places = self._places_of_index(first, rows) if titled else []
        if model_names is not None and titled:
            self._index_places = [
                place for place in self._index_places if first[place] not in model_names
            ]
        for place in self._index_places:
            values = [row[place] for row in rows[1:] if place < len(row)]
            self._note(tables.index_note(name, first[place], place, values))
        no_features = {*self._texts.values(), *self._index_places}
        self._places = [place for place in range(len(first)) if place not in no_features]
        if not self._places:
            raise self._refuse("has no column except the labels")
        self.columns = [first[place] for place in self._places] if titled else None
        self._names = first if titled else None
        self.n_features = len(self._places)
        self.row_bytes = 40 * self.n_features  # the text, and the numbers in float64

    def _rows_below(self) -> Iterator[list[str]]:
        for _, line in islice(self.lines(), 1, None):
            yield tables.split_fields(_decoded(line), self._separator)

    def _check_header(self, first: list[str], rows: list[list[str]], titled: bool) -> None:
        number = self._header_line
        if titled and NOT_DECODED in "".join(first):
            raise self._refuse("its header is not text in UTF-8; save the file in UTF-8", number)
        if self._named and not titled:
            column = self._named[0]
            is_label = column == self._label_column
            what = f"label_column={column}" if is_label else f"the column {column!r}"
            raise self._refuse(f"has no header, which {what} needs")
        if titled and len(rows) > 1 and {len(row) for row in rows[1:]} == {len(first) + 1}:
            raise self._refuse(
                f"its header has {len(first)} columns, the rows have {len(first) + 1}: R writes "
                "names of rows so; write the file with row.names = FALSE"
            )

    def _places_of_index(self, first: list[str], rows: list[list[str]]) -> list[int]:
        places = tables.index_columns(first)
        return [place for place in places if place not in self._texts.values()]

    def place_of(self, column: int) -> int:
        """Return the place in the file, from 0, of a feature's column."""
        return self._places[column]

    def _column_name(self, place: int) -> str:
        """Return what messages call the column at a place of the file."""
        if self._names is None:
            return f"column {place + 1}"
        return f"column {self._names[place]!r} ({place + 1})"

    def blocks(self, rows: int, values: int) -> Iterator[Block]:
        """Read from the start, at most ``rows`` rows a time."""
        start = 0
        text_places = [*self._texts.values(), *self._index_places]
        for numbers, lines in self.line_blocks(rows, header=self._header_line > 0):
            content = text_files.joined_lines(lines)
            parsed = None
            if len(content) >= text_files.LARGE_BLOCK:
                parsed = text_files.parse_table(content, text_places, self._separator)
            if parsed is None or parsed[0].shape != (len(lines), self.n_features):
                parsed = self._read_lines(numbers, lines)
            X, columns = parsed
            aside = {
                column: self._checked(column, columns[place], numbers)
                for column, place in self._texts.items()
            }
            y = None if self._label_column is None else aside.pop(self._label_column)
            yield Block(start, X, y, lines=numbers, aside=aside)
            start += len(lines)
        if start == 0:
            raise self._refuse("has a header but no row of numbers")

    def _read_lines(self, numbers: Sequence[int], lines: Sequence[bytes]) -> text_files.Table:
        """Return the rows of any lines; refuse wrong ones."""
        X = np.empty((len(lines), self.n_features))
        columns: dict[int, list[str]] = {
            place: [] for place in (*self._texts.values(), *self._index_places)
        }
        for row, (number, line) in enumerate(zip(numbers, lines, strict=True)):
            text = _decoded(line)
            if tables.has_open_quote(text, self._separator):
                raise self._refuse(tables.OPEN_QUOTE, number)
            fields = tables.split_fields(text, self._separator)
            if len(fields) != self._width:
                raise self._refuse(
                    f"has {len(fields)} columns, the first line has {self._width}", number
                )
            for place in self._places:
                if not tables.is_number(fields[place]):
                    raise self._refuse(self._no_number(place, fields[place]), number)
            X[row] = [float(fields[place]) for place in self._places]
            for place, texts in columns.items():
                texts.append(fields[place])
        return X, columns

    def _no_number(self, place: int, field: str) -> str:
        text = f"{self._column_name(place)}: {shown_text(field)} is not a number"
        if not field:
            return f"{text}: fill missing values in, or leave the row out"
        return text + (tables.separator_hint(field) or "; leave it out or encode it")

    def _checked(self, column: str, texts: Sequence[str], numbers: Sequence[int]) -> NDArray:
        """Return a column as text (its type depends on the whole file); refuse missing values."""
        stripped = {text: text.strip(tables.BLANKS) for text in dict.fromkeys(texts)}
        for text, label in stripped.items():
            try:
                check_label(label, self.name, self._called(column))
            except InputError:
                number = numbers[texts.index(text)]
                check_label(label, f"{self.name}:{number}", self._called(column))
        return np.array([*map(stripped.__getitem__, texts)])


def shown_text(text: str) -> str:
    """Return a text of a file in quotation marks, of at most 60 characters."""
    return repr(text[:60]) + "…" * (len(text) > 60)


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", errors="replace")
