"""Tables of one's own: rows, labels and what stands beside them, from any file of rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kmaps.data.own_files import OwnFiles
from kmaps.errors import DataError, InputError
from kmaps.io import Reader, open_reader, read_columns, read_labels, read_whole
from kmaps.samples import AnyMatrix


@dataclass(frozen=True)
class Rows:
    """What the files of one part hold.

    Attributes
    ----------
    X : ndarray or csr_matrix of float32, shape (n, d)
    y : ndarray, shape (n,)
        Labels, those of text files as text.
    aside : dict of str to ndarray of str
        Columns that are neither, by their names.
    """

    X: AnyMatrix
    y: NDArray
    aside: Mapping[str, NDArray]


def read_parts(files: OwnFiles) -> dict[str, Rows]:
    """Return the rows of each part, with their labels.

    Raises
    ------
    DataError
        When a file is missing.
    InputError
        When a file is not as it should be, or the parts do not have the same columns.
    """
    readers = {part: _open(files, part) for part in files.rows}
    if len({reader.index_base for reader in readers.values()}) > 1:
        bases = ", ".join(f"{one.name} from {one.index_base}" for one in readers.values())
        raise InputError(f"{files.name}: indices count {bases}; say zero_based: true or false")
    if any(reader.index_base is not None for reader in readers.values()):
        # A svmlight file has as many columns as its largest index needs, not as there are.
        widest = max(reader.n_features for reader in readers.values())
        readers = {part: _open(files, part, widest) for part in files.rows}
        _check_bases(files, list(readers.values()))
    first, *others = readers.values()
    for other in others:
        _check_alike(first, other)
    return {part: _read(files, part, reader) for part, reader in readers.items()}


def _open(files: OwnFiles, part: str, n_features: int | None = None) -> Reader:
    path, labels = files.rows[part], files.labels.get(part)
    for one in filter(None, (path, labels)):
        if not one.is_file():
            raise DataError(f"{files.name}: {one}: no such file")
    return open_reader(
        path,
        n_features=n_features,
        label_column=None if labels else files.label_column,
        aside=[] if _holds_columns(labels) else list(files.aside.values()),
        zero_based=files.zero_based,
    )


def _holds_columns(labels: Path | None) -> bool:
    return labels is not None and labels.suffix.lower() == ".csv"


def _check_bases(files: OwnFiles, readers: Sequence[Reader]) -> None:
    """Refuse parts of which one may count from 0 and another from 1: each column a neighbour's."""
    unsure = [reader for reader in readers if not reader.certain_base]
    if unsure and len(readers) > 1:
        raise InputError(
            f"{files.name}: neither index 0 nor the last one of all parts occurs in "
            f"{unsure[0].name}, so it may count from another number than they; say zero_based: "
            "false if all count from 1, true if from 0"
        )


def _check_alike(first: Reader, other: Reader) -> None:
    if first.n_features != other.n_features:
        raise InputError(
            f"{other.name} has {other.n_features} columns, {first.name} has {first.n_features}"
        )
    for place, (ours, theirs) in enumerate(
        zip(first.columns or (), other.columns or (), strict=False), 1
    ):
        if ours != theirs:
            raise InputError(
                f"{other.name}: column {place} is {theirs!r}, that of {first.name} is {ours!r}; "
                "give both the same columns in the same order"
            )


def _read(files: OwnFiles, part: str, reader: Reader) -> Rows:
    labels = files.labels.get(part)
    if labels is None and not reader.has_labels:
        raise InputError(
            f"{reader.name}: holds no labels; name a file of them (labels), or the column that has "
            "them (label_column)"
        )
    X, y, aside = read_whole(reader, dtype=np.dtype(np.float32))
    if labels is not None:
        # As text where the file is: only the labels of all parts tell their type.
        y = read_labels(labels, column=files.label_column, classes=np.array([""]))
        if _holds_columns(labels):
            aside = read_columns(labels, list(files.aside.values())) if files.aside else {}
    assert y is not None
    for what, values in {"labels": y, **aside}.items():
        if len(values) != X.shape[0]:
            raise InputError(
                f"{labels}: {len(values)} {what}, but {reader.name} has {X.shape[0]} rows"
            )
    return Rows(X, y, aside)
