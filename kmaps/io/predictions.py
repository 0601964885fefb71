"""What a model gives rows, in files: labels, and beside them scores and probabilities."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from numpy.typing import NDArray

from kmaps.errors import InputError
from kmaps.io.arrow_files import ColumnsFile
from kmaps.io.atomic import atomic_file
from kmaps.io.standard_output import refuse_terminal, standard_output
from kmaps.io.writers import Archive, NpyStream, SvmWriter

Tables = Mapping[str, NDArray]
"""``scores`` and ``proba``, those that were asked for, (n, columns) each."""

SINGULAR = {"scores": "score", "proba": "proba"}


def column_names(classes: NDArray, tables: Tables) -> list[str]:
    """Return a name for each column of the tables, by the class that it is of.

    Examples
    --------
    >>> import numpy as np
    >>> column_names(np.array(["cat", "dog"]), {"scores": np.zeros((3, 1))})
    ['score:dog']
    """
    return [
        f"{SINGULAR[what]}:{label}"
        for what, values in tables.items()
        # Of two classes one score, that of the second.
        for label in classes[len(classes) - values.shape[1] :].tolist()
    ]


class _Npy:
    """Labels, or else the one table, as an array."""

    def __init__(self, file: BinaryIO, target: Path, classes: NDArray) -> None:
        self._file = file
        self._stream: NpyStream | None = None

    def write(self, labels: NDArray, tables: Tables) -> None:
        [values] = tables.values() or [labels]
        if self._stream is None:
            columns = values.shape[1] if values.ndim == 2 else None
            self._stream = NpyStream(self._file, values.dtype, columns)
        self._stream.append(values)

    def finish(self) -> None:
        if self._stream:
            self._stream.finish()


class _Npz:
    """The arrays labels, scores, proba and classes."""

    def __init__(self, file: BinaryIO, target: Path, classes: NDArray) -> None:
        self._archive, self._classes = Archive(file, target), classes

    def write(self, labels: NDArray, tables: Tables) -> None:
        self._archive.append("labels", labels)
        for what, values in tables.items():
            self._archive.append(what, values)

    def finish(self) -> None:
        self._archive.finish(classes=self._classes)


class _Txt:
    """A label a line, as it is."""

    def __init__(self, file: BinaryIO, target: Path, classes: NDArray) -> None:
        self._file = file

    def write(self, labels: NDArray, tables: Tables) -> None:
        self._file.write("".join(f"{label}\n" for label in labels.tolist()).encode())

    def finish(self) -> None:
        """Nothing is left to write."""


class _Csv(_Txt):
    """A label a line; with scores or probabilities beside it, under a header."""

    def __init__(self, file: BinaryIO, target: Path, classes: NDArray) -> None:
        super().__init__(file, target, classes)
        self._classes, self._has_header = classes, False

    def write(self, labels: NDArray, tables: Tables) -> None:
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        if tables and not self._has_header:
            table.writerow(["label", *column_names(self._classes, tables)])
            self._has_header = True
        values = [columns.tolist() for columns in tables.values()]
        for label, *rows in zip(labels.tolist(), *values, strict=True):
            table.writerow([label, *(value for row in rows for value in row)])
        self._file.write(text.getvalue().encode())


class _Svm:
    """svmlight's format: the predicted label, and the one table as features from 1."""

    def __init__(self, file: BinaryIO, target: Path, classes: NDArray) -> None:
        self._writer = SvmWriter(file, target, None)

    def write(self, labels: NDArray, tables: Tables) -> None:
        [values] = tables.values()
        self._writer.write(values, labels)

    def finish(self) -> None:
        """Nothing is left to write."""


class _Arrow:
    """The columns label, score:CLASS and proba:CLASS."""

    parquet = False

    def __init__(self, file: BinaryIO, target: Path, classes: NDArray) -> None:
        self._file, self._classes = ColumnsFile(file, target, self.parquet), classes

    def write(self, labels: NDArray, tables: Tables) -> None:
        columns = [labels, *(column for values in tables.values() for column in values.T)]
        self._file.write(columns, ["label", *column_names(self._classes, tables)])

    def finish(self) -> None:
        self._file.finish()


class _Parquet(_Arrow):
    parquet = True


Writer = _Npy | _Npz | _Txt | _Svm | _Arrow

FORMATS: dict[str, type[Writer]] = {
    "npy": _Npy,
    "npz": _Npz,
    "txt": _Txt,
    "csv": _Csv,
    "svm": _Svm,
    "libsvm": _Svm,
    "parquet": _Parquet,
    "arrow": _Arrow,
    "feather": _Arrow,
}
_STREAMS = (_Txt, _Csv, _Svm)


def prediction_format(path: str, form: str | None, tables: Sequence[str]) -> str:
    """Return the format for some tables beside the labels; refuse one that has no place for them.

    Parameters
    ----------
    path : str
        ``-`` for standard output.
    form : str, optional
        One of :data:`FORMATS`; by default the extension tells, and standard output is txt, or csv
        with tables.
    tables : sequence of str
        Of ``scores`` and ``proba``.

    Raises
    ------
    InputError

    Examples
    --------
    >>> prediction_format("-", None, ["proba"])
    'csv'
    """
    given = form or Path(path).suffix.lower().removeprefix(".")
    if path == "-" and form is None:
        given = "csv" if tables else "txt"
    if given not in FORMATS:
        raise InputError(f"{path}: unknown format {given!r} ({', '.join(FORMATS)})")
    kind = FORMATS[given]
    if path == "-" and kind not in _STREAMS:
        refuse_terminal(given)
    if kind is _Txt and tables:
        raise InputError(f"{path}: txt has labels only; write {' and '.join(tables)} to csv")
    if kind is _Svm and not tables:
        raise InputError(f"{path}: svm has rows of numbers; write labels alone to txt or csv")
    if kind in (_Npy, _Svm) and len(tables) > 1:
        raise InputError(
            f"{path}: {given} has a place for {' or '.join(tables)}; write both to npz, csv or "
            "parquet"
        )
    return given


@contextmanager
def open_predictions(
    path: str, form: str, classes: NDArray, *, force: bool = False
) -> Iterator[Writer]:
    """Open a file for what a model gives rows, block by block; it appears when all went well.

    Parameters
    ----------
    path : str
        ``-`` for standard output.
    form : str
        As :func:`prediction_format` returns it.
    classes : ndarray, shape (K,)
        The labels of the model.
    force : bool
        Whether an existing file may be replaced.

    Yields
    ------
    Writer
        With ``write(labels, tables)``: the labels (n,), and beside them the tables ``scores``,
        (n, 1) or (n, K), and ``proba``, (n, K), those that there are.

    Raises
    ------
    InputError
        When the file exists, cannot be written, or is of a format that needs pyarrow, which is not
        installed.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/p.csv"
    ...     with open_predictions(path, "csv", np.array(["cat", "dog"])) as writer:
    ...         writer.write(np.array(["dog"]), {"scores": np.array([[0.5]])})
    ...     Path(path).read_text()
    'label,score:dog\\ndog,0.5\\n'
    """
    if path == "-":
        streams = FORMATS[form] in _STREAMS
        with standard_output(form, streams=streams) as (file, target):
            writer = FORMATS[form](file, target, classes)
            yield writer
            writer.finish()
        return
    with atomic_file(path, force=force) as file:
        writer = FORMATS[form](file, Path(path).absolute(), classes)
        yield writer
        writer.finish()
