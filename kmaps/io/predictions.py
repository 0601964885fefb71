"""Predictions of a model in files: labels, and next to them scores and probabilities."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError
from kmaps.io.atomic import refuse_terminal
from kmaps.io.labels import label_texts
from kmaps.io.stream import format_of, open_writer
from kmaps.io.writers import WRITERS, CsvWriter, NpzWriter, TxtWriter, Writer

FORMATS: dict[str, type[Writer]] = {"txt": TxtWriter, **WRITERS}

Tables = Mapping[str, NDArray]
"""``scores`` and ``proba``, those that were asked for, (n, columns) each."""

_SINGULAR = {"scores": "score", "proba": "proba"}


def column_names(classes: NDArray, tables: Tables) -> list[str]:
    """Return a name for each column of the tables, by the class that it is of."""
    return [
        f"{_SINGULAR[what]}:{label}"
        for what, values in tables.items()
        # Two classes have one score, which belongs to the second.
        for label in classes[len(classes) - values.shape[1] :].tolist()
    ]


class PredictionWriter:
    """Labels, scores and probabilities, written to a file of any format block by block.

    Text files have a line per row: labels are written as `kmaps.io.label_texts` has them, and
    `kmaps.io.read_labels` with the classes gives them back.

    Tables have the columns label, score:CLASS and proba:CLASS; ``.npz`` has the arrays labels,
    scores, proba and classes; ``.npy`` and svmlight's format have the one table.

    Parameters
    ----------
    writer : Writer
        The writer of the format.
    classes : ndarray or None
        The labels of the model; None for a regression.
    """

    def __init__(self, writer: Writer, classes: NDArray | None) -> None:
        self._writer = writer
        self._classes = classes
        self._texts: dict[object, str] = {}
        if classes is None:
            return
        if isinstance(writer, NpzWriter):
            writer.whole["classes"] = classes
        if isinstance(writer, (TxtWriter, CsvWriter)):
            texts = label_texts(classes)
            self._texts = dict(zip(classes.tolist(), texts, strict=True))
            if classes.dtype.kind == "U":
                self._classes = np.array(texts)

    def write(self, labels: NDArray, tables: Tables) -> None:
        """Append predictions of some rows.

        Parameters
        ----------
        labels : ndarray, shape (n,)
            The predicted labels, or numbers.
        tables : dict of ndarray
            ``scores``, (n, 1) or (n, K), and ``proba``, (n, K), those that were asked for.
        """
        if isinstance(self._writer, NpzWriter):
            for what, values in {"labels": labels, **tables}.items():
                self._writer.append(what, values)
            return
        if labels.dtype.kind in "Uf" and self._texts:
            labels = np.array([self._texts[label] for label in labels.tolist()])
        rows = np.hstack([*tables.values()]) if tables else None
        names = [] if self._classes is None else column_names(self._classes, tables)
        self._writer.write(rows, labels, names)


def prediction_format(path: str, form: str | None, tables: Sequence[str]) -> str:
    """Return the format for some tables next to the labels; refuse one without a place for them.

    The tables are ``scores``, ``proba``, or both. Without ``form`` the extension of ``path`` says
    it; for standard output, ``-``, it is txt, or csv with tables.

    Parameters
    ----------
    path : str
        The file to write; ``-`` is standard output.
    form : str or None
        The format, where it is named.
    tables : sequence of str
        ``scores``, ``proba``, both or none.

    Returns
    -------
    str

    Raises
    ------
    InputError
        For an unknown format, and for one without a place for the tables.

    Examples
    --------
    >>> prediction_format("-", None, ["proba"])
    'csv'
    """
    if path == "-" and form is None:
        form = "csv" if tables else "txt"
    chosen = format_of(path, FORMATS, form)
    if path == "-" and not FORMATS[chosen].streams:
        refuse_terminal(chosen)
    if chosen == "txt" and tables:
        raise InputError(f"{path}: txt files have labels only; write {' and '.join(tables)} to csv")
    if chosen in ("svm", "libsvm") and not tables:
        raise InputError(f"{path}: svm files need rows; write labels alone to txt or csv")
    if chosen in ("npy", "svm", "libsvm") and len(tables) > 1:
        raise InputError(
            f"{path}: {chosen} has a place for {' or '.join(tables)}; write both to npz, csv or "
            "parquet"
        )
    return chosen


@contextmanager
def open_predictions(
    path: str, form: str, classes: NDArray | None, *, force: bool = False
) -> Iterator[PredictionWriter]:
    """Open a file for a model's predictions, block by block; it appears when all went well.

    :func:`prediction_format` and :func:`open_writer` describe the parameters; ``classes`` are the
    labels of the model, None for a regression, whose "labels" are the predicted numbers. The writer
    has ``write(labels, tables)``: the labels (n,), and a dict of the available tables of
    ``scores``, (n, 1) or (n, K), and ``proba``, (n, K).

    Parameters
    ----------
    path : str
        The file to write; ``-`` is standard output.
    form : str
        The format.
    classes : ndarray, shape (K,), or None
        The labels of the model; None for a regression.
    force : bool
        Whether an existing file may be replaced.

    Yields
    ------
    PredictionWriter

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/p.csv"
    ...     with open_predictions(path, "csv", np.array(["cat", "dog"])) as writer:
    ...         writer.write(np.array(["dog"]), {"scores": np.array([[0.5]])})
    ...     print(open(path).read().split())
    ['label,score:dog', 'dog,0.5']
    """
    with open_writer(path, form, force=force, known=FORMATS) as writer:
        yield PredictionWriter(writer, classes)
