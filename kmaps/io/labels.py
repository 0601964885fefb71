"""Labels in separate files, ``.npy``, ``.txt`` or ``.csv``; text or numbers."""

import os
from collections.abc import Sequence
from math import isfinite
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError, one_line, printable, suggest
from kmaps.io.atomic import check_source, read_text
from kmaps.io.content import check_content
from kmaps.io.reader import read_header
from kmaps.io.tables import (
    BLANKS,
    OPEN_QUOTE,
    find_separator,
    has_open_quote,
    is_number,
    separator_hint,
    split_fields,
)

NOT_DECODED = "\ufffd"
"""The character that stands for bytes that are no text in UTF-8."""

_LONGEST = 1 << 12  # characters of a label
_FORMULAS = ("=", "+", "-", "@")  # beginnings that spreadsheets take for a formula
_FIRST_LINES = 20  # by which separators are recognised
_EXACT = 2**53  # beyond, floating point skips whole numbers


def read_labels(
    path: str | Path, *, column: str | None = None, classes: NDArray | None = None
) -> NDArray:
    """Read labels, numbers or text, one for each row of samples.

    Parameters
    ----------
    path : str or Path
        A ``.npy`` array (n,); a ``.txt`` with a label per line; or a ``.csv``: of one column, whose
        first line is a header when it is no number but all others are, or with a header that has
        ``column``.
    column : str, optional
        The column of a ``.csv`` that has the labels.
    classes : ndarray, optional
        The labels of a model that these are for; see :func:`typed_labels`.

    Returns
    -------
    ndarray, shape (n,)
        Whole numbers as integers. From text files numbers, if each is written as numbers are
        (:func:`typed_labels`).

    Raises
    ------
    InputError
        When the file is missing, damaged, or holds something else; for a label that is missing or
        no finite number; for a column that there is not.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/y.npy", np.array(["cat", "dog"]))
    ...     read_labels(f"{folder}/y.npy").tolist()
    ['cat', 'dog']
    """
    form = Path(path).suffix.lower()
    if os.path.isfile(path):
        check_content(path, str(path), "text" if form in (".txt", ".csv") else "array")
    if form not in (".npy", ".txt", ".csv"):
        raise InputError(
            f"{path}: labels come in .npy, .txt or .csv (or within a .svm or .npz file, or in a "
            "column of a .csv, .parquet or .arrow file, label_column=NAME)"
        )
    if column is not None and form != ".csv":
        raise InputError(f"{path}: has no columns with names; leave label_column={column} out")
    if form == ".npy":
        return typed_labels(_read_npy(path), classes, typed=True)
    return typed_labels(_read_text(path, form, column, classes), classes)


def _read_npy(path: str | Path) -> NDArray:
    check_source(path)
    try:
        with open(path, "rb") as file:
            header = read_header(file, str(path))
            if header.dtype.hasobject:
                raise InputError(f"{path}: holds Python objects, expected plain labels")
            header.check_size(os.fstat(file.fileno()).st_size, str(path))
            file.seek(0)
            labels = np.load(file, allow_pickle=False)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if labels.ndim != 1 or labels.dtype.kind not in "biufU":
        raise InputError(
            f"{path}: holds {labels.dtype} of shape {labels.shape}, expected labels of shape (n,), "
            "numbers or words"
        )
    check_labels(labels, path)
    return labels


def check_labels(labels: NDArray, path: str | Path) -> None:
    """Refuse labels that are no numbers or texts: NaN, infinity, code points Unicode lacks."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        place = int(np.argmin(np.isfinite(labels)))
        raise InputError(f"{path}: label {place} is {labels[place]}, expected a finite number")
    if labels.dtype.kind == "U":
        points = np.frombuffer(labels.astype(labels.dtype.newbyteorder("=")).tobytes(), np.uint32)
        # A number beyond Unicode, or a surrogate, which UTF-8 cannot write.
        if ((points > 0x10FFFF) | ((points >= 0xD800) & (points < 0xE000))).any():
            raise InputError(f"{path}: holds words with invalid characters, expected plain labels")


def read_columns(path: str | Path, columns: Sequence[str]) -> dict[str, NDArray]:
    """Return some columns of a ``.csv`` with a header, as text.

    Parameters
    ----------
    path : str or Path
        The file.
    columns : sequence of str
        Names in its header.

    Returns
    -------
    dict of str to ndarray of str, shape (n,)
        By the names of the columns.

    Raises
    ------
    InputError
        When the file cannot be read, has no such column, or a row has no value in one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.csv").write_text("file,kind\\na.png,cat\\n")
    ...     read_columns(f"{folder}/a.csv", ["kind"])["kind"].tolist()
    ['cat']
    """
    rows = _rows(path)
    if len(rows) < 2:
        raise InputError(f"{path}: expected a header and one row per line")
    header = rows[0][1]
    texts_of = {}
    for column in columns:
        place = find_column(header, column, str(path))
        texts = []
        for number, row in rows[1:]:
            text = row[place] if place < len(row) else ""
            texts.append(check_label(text, f"{path}:{number}", f"column {column!r}"))
        texts_of[column] = np.array(texts)
    return texts_of


def _rows(path: str | Path, *, blanks: bool = True) -> list[tuple[int, list[str]]]:
    """Return the fields of the lines of a ``.csv`` that are not blank, numbered from 1.

    ``blanks`` says whether blanks may separate fields.
    """
    lines = _lines(path)
    separator = find_separator([line for _, line in lines[:_FIRST_LINES]], blanks=blanks)
    for number, line in lines:
        if has_open_quote(line, separator):
            raise InputError(f"{path}:{number}: {OPEN_QUOTE}")
    return [(number, split_fields(line, separator)) for number, line in lines]


def _lines(path: str | Path) -> list[tuple[int, str]]:
    """Return the lines of a text file that are not blank, numbered from 1."""
    check_source(path)
    lines = enumerate(read_text(path).split("\n"), 1)
    return [(number, line) for number, line in lines if line.strip(BLANKS)]


def _read_text(path: str | Path, form: str, column: str | None, classes: NDArray | None) -> NDArray:
    """Return the labels of a text file as text."""
    if form == ".csv":
        # A text of several words is one label, unless a column is named.
        rows = _rows(path, blanks=column is not None)
        place, rows = _label_place(path, rows, column, classes)
        lines = [(number, row[place] if place < len(row) else "") for number, row in rows]
    else:
        lines = _lines(path)
    labels = [check_label(line.strip(BLANKS), f"{path}:{number}") for number, line in lines]
    if not labels:
        raise InputError(f"{path}: holds no labels, expected one per line")
    return np.array(labels)


def _label_place(
    path: str | Path,
    rows: list[tuple[int, list[str]]],
    column: str | None,
    classes: NDArray | None,
) -> tuple[int, list[tuple[int, list[str]]]]:
    """Return which field of the rows of a ``.csv`` is the label, and the rows without a header."""
    if not rows:
        return 0, []
    header = rows[0][1]
    if column is not None:
        return find_column(header, column, str(path)), rows[1:]
    if len(header) > 1:
        raise InputError(
            f"{path}: has {len(header)} columns; name the column of labels, label_column=NAME"
        )
    if classes is not None and header[0] in label_texts(classes):
        return 0, rows
    titled = not is_number(header[0]) and all(is_number(row[0]) for _, row in rows[1:])
    return 0, rows[int(titled and len(rows) > 1) :]


def find_column(header: list[str], name: str, path: str) -> int:
    """Return the place of the column with a name."""
    if header.count(name) != 1:
        many = f"{header.count(name)} columns" if name in header else "no column"
        there = one_line(", ".join(header[:5])) + ", …" * (len(header) > 5)
        hint = suggest(name, header) or f" ({there})"
        if len(header) == 1:
            hint += separator_hint(header[0])
        raise InputError(
            f"{path}: its header has {many} {name!r}{hint if name not in header else ''}"
        )
    return header.index(name)


def check_label(text: str, place: str, what: str = "the label") -> str:
    """Return a label, or another text that ``what`` names, from a file; refuse a missing one."""
    is_text = text and len(text) <= _LONGEST and "\0" not in text  # NumPy's arrays drop it
    if not is_text or (is_number(text) and not isfinite(float(text))):
        shown = repr(text[:20]) + "…" * (len(text) > 20)
        raise InputError(f"{place}: {what} is {shown}, expected a text or a finite number")
    if NOT_DECODED in text:  # two texts may have become one
        raise InputError(f"{place}: {what} is no text in UTF-8; save the file in UTF-8")
    return text


def typed_labels(
    labels: NDArray, classes: NDArray | None = None, *, typed: bool = False
) -> NDArray:
    """Return labels in their type: what every reader of labels decides, it decides here.

    Numbers stay numbers; whole ones become integers. Text stays text where its file says that it is
    text (``typed``). Otherwise, without ``classes``, it becomes numbers only if each number,
    written again, is the same text, so that ``01`` and ``1``, or ``1`` and ``1.0``, stay two
    classes. With the ``classes`` of a model, labels are read as these are: for classes of text they
    stay text, of which a class as :func:`label_texts` writes it becomes the class again, also True
    and False; for classes of numbers they become numbers if each is one.

    Parameters
    ----------
    labels : ndarray, shape (n,)
        Labels as a file has them.
    classes : ndarray, optional
        The labels of a model that these are for.
    typed : bool
        Whether the file gives the type of its labels, as ``.npy``, ``.npz``, Parquet and Arrow do.

    Returns
    -------
    ndarray, shape (n,)
        Text, integers, floating-point numbers or truth values.

    Examples
    --------
    >>> typed_labels(np.array(["1", "2"])), typed_labels(np.array(["01", "1"]))
    (array([1, 2]), array(['01', '1'], dtype='<U2'))
    >>> typed_labels(np.array(["1", "1"]), classes=np.array(["1", "a"]))
    array(['1', '1'], dtype='<U1')
    >>> typed_labels(np.array(["1.0"]), classes=np.array([1, 2]))
    array([1])
    >>> typed_labels(np.array(["1", "2"]), typed=True)
    array(['1', '2'], dtype='<U1')
    """
    if labels.dtype.kind != "U":
        return whole_labels(labels)
    if typed:
        return labels
    if classes is not None and classes.dtype.kind in "Ub":
        by_text = dict(zip(label_texts(classes), classes.tolist(), strict=True))
        if classes.dtype.kind == "U":
            return np.array([by_text.get(label, label) for label in labels.tolist()], str)
        if by_text.keys() >= set(labels.tolist()):
            return np.array([by_text[label] for label in labels.tolist()], bool)
    distinct, places = np.unique(labels, return_inverse=True)
    texts = distinct.tolist()
    if not all(is_number(text) for text in texts):
        return labels
    numbers = [_number_of(text) for text in texts]
    whole = all(isinstance(number, int) and abs(number) < 2**63 for number in numbers)
    values = np.array(numbers, np.int64 if whole else np.float64)
    written = [label_text(value) for value in values.tolist()]
    if classes is None and written != texts:
        return labels
    # Two numbers that floating point cannot tell apart are two classes.
    if len(np.unique(values)) < len(set(numbers)):
        return labels
    return values[places]


def _number_of(text: str) -> int | float:
    """Return a text as a number, a whole one exactly."""
    try:
        return int(text)
    except ValueError:
        number = float(text)
        return int(number) if abs(number) <= _EXACT and number % 1 == 0 else number


def label_text(label: object) -> str:
    """Return the text of a label: whole numbers without a point.

    Examples
    --------
    >>> label_text(2.0), label_text(0.5), label_text("007")
    ('2', '0.5', '007')
    """
    if isinstance(label, float) and abs(label) <= _EXACT and label % 1 == 0:
        return str(int(label))
    return str(label)


def joined_labels(
    parts: Sequence[NDArray], classes: NDArray | None = None, *, typed: bool = False
) -> NDArray:
    """Return the labels of some blocks as one array, in their type (`typed_labels`)."""
    return typed_labels(np.concatenate(parts), classes, typed=typed)


def target_numbers(labels: NDArray, name: str, *, typed: bool = False) -> NDArray[np.float64]:
    """Return the labels of a file as the numbers of a regression.

    Parameters
    ----------
    labels : ndarray, shape (n,)
        Labels as a file has them, text or numbers.
    name : str
        What messages call the file.
    typed : bool
        Whether the file gives the type of its labels (:func:`typed_labels`).

    Returns
    -------
    ndarray of float64, shape (n,)

    Raises
    ------
    InputError
        When a label is no number.

    Examples
    --------
    >>> target_numbers(np.array(["1", "2.50"]), "y.txt")
    array([1. , 2.5])
    """
    numbers = typed_labels(labels, np.zeros(1), typed=typed)
    if numbers.dtype.kind == "U":
        raise InputError(f"{name}: its labels are text ({few_labels(labels)}), expected numbers")
    return numbers.astype(np.float64)


def check_label_kind(y: NDArray, classes: NDArray) -> None:
    """Refuse labels that are text where the classes are numbers, or the other way round.

    Parameters
    ----------
    y : ndarray, shape (n,)
        Labels.
    classes : ndarray, shape (K,)
        The labels of a model.

    Raises
    ------
    InputError
        When one is text and the other numbers.
    """
    kinds = ["text" if array.dtype.kind in "USOT" else "numbers" for array in (y, classes)]
    if kinds[0] != kinds[1]:
        raise InputError(
            f"the labels are {kinds[0]} ({few_labels(np.unique(y))}), the model's labels are "
            f"{kinds[1]} ({few_labels(classes)}); use the labels that it was trained with"
        )


def few_labels(labels: NDArray | list) -> str:
    """Return the first labels as a text of one line.

    Parameters
    ----------
    labels : ndarray or list
        Labels, of which five are shown.

    Returns
    -------
    str

    Examples
    --------
    >>> few_labels(np.arange(9))
    '0, 1, 2, 3, 4, …'
    """
    shown = [label_line(label) for label in np.asarray(labels[:5]).tolist()]
    return ", ".join(shown + ["…"] * (len(labels) > 5))


def label_line(label: object) -> str:
    r"""Return a label as a text of one line.

    Control characters, and blanks at the ends, which readers of text drop, become escapes.

    Parameters
    ----------
    label : object
        A label; anything but a str is shown as it is.

    Returns
    -------
    str
        A text without line breaks and control characters.

    Examples
    --------
    >>> print(label_line("two\nlines "))
    two\nlines\x20
    """
    text = str(label)
    if not isinstance(label, str):
        return text
    if not text:
        return r"\empty"
    core = text.strip(" ")
    start = len(text) - len(text.lstrip(" "))
    padded = r"\x20" * start + core + r"\x20" * (len(text) - start - len(core))
    for character, escape in (
        ("\n", r"\n"),
        ("\t", r"\t"),
        ("\u2028", r"\u2028"),
        ("\u2029", r"\u2029"),
    ):
        padded = padded.replace(character, escape)
    return printable(padded)


def label_texts(classes: NDArray) -> list[str]:
    r"""Return a text of one line for each class, by which text files hold it.

    It is the class itself, unless one of the classes cannot stand in a line: then control
    characters, and blanks at the ends, are escapes in all of them, and a backslash is doubled, so
    that different classes have different texts. :func:`typed_labels` finds the class of a text.

    Parameters
    ----------
    classes : ndarray, shape (K,)
        Different labels.

    Returns
    -------
    list of str
        The K texts.

    Examples
    --------
    >>> label_texts(np.array(["a", "b c"])), label_texts(np.array([1, 2]))
    (['a', 'b c'], ['1', '2'])
    >>> print(label_texts(np.array(["a\nb", r"a\nb"])))
    ['a\\nb', 'a\\\\nb']
    """
    labels = classes.tolist()
    texts = [label_text(label) for label in labels]
    if all(label_line(text) == text for text in texts):
        return texts
    return [label_line(text.replace("\\", "\\\\")) for text in texts]


def formula_labels(classes: NDArray) -> list[str]:
    """Return the classes that a spreadsheet may take for a formula; a number such as -1 is none.

    Parameters
    ----------
    classes : ndarray, shape (K,)
        Labels.

    Returns
    -------
    list of str
        The texts, as `label_texts` has them, that begin with = + - or @.

    Examples
    --------
    >>> formula_labels(np.array(["=A1", "-1", "a"]))
    ['=A1']
    """
    return [text for text in label_texts(classes) if is_formula(text)]


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet may take a text for a formula."""
    return text.startswith(_FORMULAS) and not is_number(text)


def whole_labels(labels: NDArray) -> NDArray:
    """Return labels that are whole numbers, but in floating point, as integers.

    Beyond 2⁵³, where floating point skips some, they are left as they are.

    Parameters
    ----------
    labels : ndarray, shape (n,)
        Labels of any type.

    Returns
    -------
    ndarray, shape (n,)

    Examples
    --------
    >>> whole_labels(np.array([1.0, -1.0]))
    array([ 1, -1])
    """
    if labels.dtype.kind == "f" and (np.abs(labels) <= 2**53).all() and not (labels % 1).any():
        return labels.astype(np.int64)
    return labels
