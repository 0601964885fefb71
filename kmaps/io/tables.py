"""What the first lines of a table of text mean: the separator, the header, the row index.

Each function decides one thing for all readers. Where a file can be read in two ways, it takes the
one that the file proves, or refuses and names both readings and the argument that decides.
"""

import csv
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import isfinite

from kmaps.errors import InputError

BLANKS = " \t\n\r\v\f"  # blanks in the sense of bytes; text has more
SEPARATORS = (",", ";", "\t", "|", " ")
"""The separators of fields that are recognised; of blanks several may stand together."""

_NAMED = {";": "a semicolon", "\t": "a tab", "|": "a bar", " ": "a blank"}
_INDEX_NAME = re.compile(r"|Unnamed: \d+(\.\d+)?|__index_level_\d+__")
_FEW_COLUMNS = 4  # below, a first line of 0, 1, … may be a row by chance


def split_fields(line: str, separator: str = ",") -> list[str]:
    """Return the fields of a line, without quotes and blanks around."""
    try:
        fields, closed = _parsed(line, separator)
    except csv.Error:  # a field longer than csv's limit, or with a line end
        closed = False
    return [field.strip(BLANKS) for field in (fields if closed else line.split(separator))]


def _parsed(line: str, separator: str) -> tuple[list[str], bool]:
    """Return the fields of a line, and whether its quotation marks are closed there."""
    text = line.strip(BLANKS) if separator == " " else line.strip("\r\n")
    lines = iter([text, ""])
    fields = next(csv.reader(lines, delimiter=separator, skipinitialspace=True), [])
    return fields, next(lines, None) is not None  # otherwise csv looked for the end of a quote


OPEN_QUOTE = (
    "a field in quotation marks does not end on its line; a row is one line: replace line breaks "
    "within fields, as by a blank"
)


def has_open_quote(line: str, separator: str = ",") -> bool:
    """Return whether a field in quotation marks does not end on its line."""
    try:
        return '"' in line and not _parsed(line, separator)[1]
    except csv.Error:
        return False


def is_number(text: str) -> bool:
    """Return whether a text is a number, as files have it (Python's 1_0 and ١ are none)."""
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def is_whole(text: str) -> bool:
    """Return whether a text consists of digits alone."""
    return text.isascii() and text.isdigit()


def find_separator(lines: Sequence[str], *, blanks: bool = True) -> str:
    """Return the separator of the fields of a table, by its first lines.

    A comma in the first line, outside quotation marks, decides for commas. Otherwise it is the
    first of semicolon, tab, bar and blank that cuts each of the lines into the same number of
    fields, at least two, or the first line into one less, as R does where rows have names; and
    where none does, the comma: the table has one column. Without ``blanks`` a blank is no
    separator.
    """
    if not lines or len(split_fields(lines[0])) > 1:
        return ","
    for separator in SEPARATORS[1:] if blanks else SEPARATORS[1:-1]:
        width, *below = [len(split_fields(line, separator)) for line in lines]
        if width > 1 and set(below) in (set(), {width}, {width + 1}):
            return separator
    return ","


def separator_note(separator: str) -> str | None:
    """Return the line that says which separator a table has; None for a comma."""
    if separator == ",":
        return None
    return f"its fields are separated by {_NAMED[separator]}"


def separator_hint(field: str) -> str:
    """Return what a field that is no number suggests about separators and decimals, or nothing."""
    text = field.strip()
    if any(separator in text for separator in ";\t|"):
        return "; are the fields separated by something else than commas, or decimals by commas?"
    if re.fullmatch(r"[+-]?\d*,\d+([eE][+-]?\d+)?", text):
        return "; write decimals with a point"
    return ""


def has_header(
    name: str,
    first: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    named: Sequence[str] = (),
    model_names: Sequence[str] | None = None,
    header: bool | str = "auto",
) -> tuple[bool, str | None]:
    """Decide whether the first line of a table is a header.

    Parameters
    ----------
    name : str
        What messages call the file.
    first : sequence of str
        The fields of the first line.
    rows : iterable of sequences of str
        The fields of the lines below; they are read only where they decide.
    named : sequence of str
        Columns that the caller names.
    model_names : sequence of str, optional
        The names of the columns that a model was trained on.
    header : bool or "auto"
        What the caller says.

    Returns
    -------
    titled : bool
    note : str or None
        The line that says so where numbers were taken for a header.

    Raises
    ------
    InputError
        Where the first line may be either.
    """
    if header != "auto":
        return bool(header), None
    without_named = [field for field in first if field not in named]
    if model_names is not None and without_named == list(model_names):
        return True, None
    if any(column in first for column in named):
        return True, None
    values = [field for field in first if is_number(field) or field.lower() in ("true", "false")]
    if not values:
        return True, None
    if named:
        return False, None
    below = iter(rows)
    index_places = index_columns(first)
    if index_places:
        # As a row, the line would lack the value that the lines below have in this place.
        second = next(below, None)
        titled = second is not None and all(
            place < len(second) and second[place] for place in index_places
        )
        return titled, None
    if not all(is_whole(field.removeprefix("-")) for field in first):
        return False, None
    return _header_of_numbers(name, [int(field) for field in first], below)


def _header_of_numbers(
    name: str, first: list[int], below: Iterable[Sequence[str]]
) -> tuple[bool, str | None]:
    """Decide on a first line of whole numbers, which pandas and instruments write as a header."""
    shown = ", ".join(map(str, first[:3])) + ", …" * (len(first) > 3)
    counts = first in (list(range(len(first))), list(range(1, len(first) + 1)))
    if counts and (len(first) >= _FEW_COLUMNS or any(_has_point(row) for row in below)):
        note = f"its first line, {shown}, is a header, not a row (header=False makes it a row)"
        return True, note
    ascending = len(first) > 1 and all(lower < upper for lower, upper in pairwise(first))
    if counts or (ascending and any(_has_fraction(row) for row in below)):
        raise InputError(
            f"{name}: its first line, {shown}, may be a header or a row; pass header=True or "
            "header=False"
        )
    return False, None


def _has_point(row: Sequence[str]) -> bool:
    return any("." in field and is_number(field) for field in row)


def _has_fraction(row: Sequence[str]) -> bool:
    return any(is_fraction(field) for field in row)


def is_fraction(text: str) -> bool:
    """Return whether a text is a finite number that is not whole."""
    return is_number(text) and isfinite(float(text)) and float(text) % 1 != 0


def index_columns(names: Sequence[str]) -> list[int]:
    """Return the places of the columns that hold a row index, by their names.

    These are the first columns without a name (``DataFrame.to_csv`` and R write the index so) or
    with the name that pandas gives such a column when it reads and saves it again
    (``Unnamed: 0``), and columns with pandas' name for an index in Parquet
    (``__index_level_0__``), wherever they stand.
    """
    places: list[int] = []
    for place, column in enumerate(names):
        is_first = len(places) == place
        if _INDEX_NAME.fullmatch(column) and (is_first or column.startswith("__index_level_")):
            places.append(place)
    return places if len(places) < len(names) else []


def index_note(name: str, column: str, place: int, values: Sequence[str]) -> str:
    """Return the line that says that a row index is left out.

    Parameters
    ----------
    name : str
        What messages call the file.
    column : str
        The name of the column.
    place : int
        Its place, from 0.
    values : sequence of str
        The column's first values, which must not be fractions: an index counts or names rows.

    Returns
    -------
    str

    Raises
    ------
    InputError
        When a value is a fraction.
    """
    for value in values:
        if is_fraction(value):
            raise InputError(
                f"{name}: column {place + 1} has no name ({column!r}), as a row index has, but "
                f"holds {value}: give the column a name to keep it, or delete it"
            )
    return (
        f"column {place + 1} ({column!r}) is a row index and left out (give the column a name to "
        "keep it)"
    )
