"""Loading the user's data: tables through the cache, images from their places."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from kmaps import io
from kmaps.checks import present
from kmaps.data.cache import cache_root, keep
from kmaps.data.formats import Dataset, TableDataset
from kmaps.data.user_files import UserFiles
from kmaps.errors import DataError, FileNote, InputError
from kmaps.matrices import AnyMatrix

_READING = 3  # raise it when the same files give other samples: tables are then read again


def load_user_files(
    files: UserFiles, *, data_dir: str | Path | None = None
) -> Dataset | TableDataset:
    """Return the samples; a table is read once and kept in the cache, by its files' digest."""
    return _images(files) if files.images else _table(files, cache_root(data_dir))


def _images(files: UserFiles) -> Dataset:
    listed = {subset: files.listed(subset) for subset in files.rows}
    labels = {subset: _Labels(images.labels) for subset, images in listed.items()}
    y, classes = _classes_of(labels, files.name)
    groups, clusters = _groups_of(
        files, {subset: (images.aside, len(images.names)) for subset, images in listed.items()}
    )
    if files.subsets:
        groups = np.concatenate([images.subsets for images in listed.values()])
    return Dataset(
        files.name,
        [path for images in listed.values() for path in images.paths],
        y,
        groups,
        files.digest,
        classes,
        clusters=clusters,
        white=files.white,
        background=files.background,
    )


def _table(files: UserFiles, root: Path) -> TableDataset:
    name = f"user-{files.digest[:16]}-{_READING}"
    keep(root, name, files.digest, lambda folder: _write(files, folder))
    arrays = {path.stem: np.load(path) for path in (root / name).glob("*.npy")}
    for note in arrays["notes"].tolist():
        warnings.warn(note, FileNote, stacklevel=2)
    X = arrays.get("X")
    if X is None:
        content = arrays["data"], arrays["indices"], arrays["indptr"]
        X = csr_array(content, shape=tuple(arrays["shape"].tolist()))
    return TableDataset(
        files.name,
        X,
        arrays["y"],
        arrays["groups"],
        files.digest,
        tuple(arrays["classes"].tolist()),
        arrays.get("clusters"),
    )


def _write(files: UserFiles, folder: Path) -> None:
    if files.digest_now() != files.digest:
        raise DataError(f"{files.name}: its files changed while they were read; try again")
    # The notes on the files are for everybody who loads the table later, too.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FileNote)
        by_subset = _read_parts(files)
    notes = []
    for warning in caught:
        if warning.category is FileNote:
            notes.append(str(warning.message))
        else:
            warnings.warn(warning.message, stacklevel=2)
    labels = {subset: _Labels(rows.y, rows.typed) for subset, rows in by_subset.items()}
    y, classes = _classes_of(labels, files.name)
    sizes = {subset: (rows.aside, len(rows.y)) for subset, rows in by_subset.items()}
    groups, clusters = _groups_of(files, sizes)
    arrays = {"y": y, "classes": np.array(classes), "groups": groups}
    arrays["notes"] = np.array(list(dict.fromkeys(notes)), str)
    if clusters is not None:
        arrays["clusters"] = clusters
    matrices = [rows.X for rows in by_subset.values()]
    if issparse(matrices[0]):
        X = vstack(matrices, "csr")
        arrays |= {"data": X.data, "indices": X.indices, "indptr": X.indptr}
        arrays["shape"] = np.array(X.shape)
    else:
        arrays["X"] = np.concatenate(matrices)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def _groups_of(
    files: UserFiles, by_subset: Mapping[str, tuple[Mapping[str, NDArray], int]]
) -> tuple[NDArray[np.str_], NDArray[np.str_] | None]:
    """Return the official subset of each sample, and its group that no split divides.

    If there is one file without a column of subsets, the groups are the subsets too, so that a
    split may name the groups to train on.
    """
    columns = {
        what: np.concatenate([aside[column] for aside, _ in by_subset.values()])
        for what, column in files.aside.items()
    }
    if "id" in columns:
        names, counts = np.unique(columns["id"], return_counts=True)
        if (counts > 1).any():
            raise InputError(
                f"{files.name}: column {files.id_column!r}: {names[counts.argmax()]!s} occurs in "
                f"{counts.max()} rows, expected a different name in each"
            )
    subsets = np.repeat(list(by_subset), [size for _, size in by_subset.values()])
    clusters = columns.get("group")
    if "" in by_subset:
        subsets = columns.get("split", subsets if clusters is None else clusters)
    return subsets, clusters


@dataclass(frozen=True)
class _Labels:
    """The labels of one part, and whether their file gives their type."""

    y: NDArray
    typed: bool = False


def _classes_of(labels: Mapping[Any, _Labels], name: str) -> tuple[NDArray[np.int64], tuple]:
    """Return the labels of all parts as numbers from 0, and the sorted classes they stand for."""
    numbers = [subset.y for subset in labels.values() if subset.y.dtype.kind != "U"]
    if numbers and len(numbers) < len(labels):
        # Text without a type is read as the numbers of the other part are.
        classes = np.concatenate(numbers)
        as_numbers = [
            io.typed_labels(subset.y, classes, typed=subset.typed) for subset in labels.values()
        ]
        if any(y.dtype.kind == "U" for y in as_numbers):
            listed = " and ".join(
                f"{subset} {io.few_labels(np.unique(own.y))}" for subset, own in labels.items()
            )
            raise InputError(
                f"{name}: the labels are text in one part and numbers in the other ({listed}); use "
                "one form"
            )
        every = np.concatenate(as_numbers)
    else:
        typed = any(subset.typed for subset in labels.values())
        every = io.typed_labels(
            np.concatenate([subset.y for subset in labels.values()]), None, typed=typed
        )
    classes, y = np.unique(every, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"{name}: all {len(y)} labels are {classes[0]!s}; a classification needs two classes"
        )
    if len(classes) == len(y):
        raise InputError(
            f"{name}: each of {len(y)} rows has a different label "
            f"({io.few_labels(classes)}); name a column of classes"
        )
    return y.astype(np.int64), tuple(map(str, classes.tolist()))


@dataclass(frozen=True)
class _Rows:
    """The content of one part's files: samples, labels (text of text files), further columns.

    ``typed`` says whether the file of the labels gives their type.
    """

    X: AnyMatrix
    y: NDArray
    typed: bool
    aside: Mapping[str, NDArray]


def _read_parts(files: UserFiles) -> dict[str, _Rows]:
    readers = {subset: _open(files, subset) for subset in files.rows}
    if len({reader.index_base for reader in readers.values()}) > 1:
        bases = ", ".join(
            f"from {reader.index_base} in {reader.name}" for reader in readers.values()
        )
        raise InputError(f"{files.name}: indices count {bases}; set zero_based to true or false")
    if any(reader.index_base is not None for reader in readers.values()):
        # The largest index of one svmlight file may be less than the number of columns.
        widest = max(reader.n_features for reader in readers.values())
        readers = {subset: _open(files, subset, widest) for subset in files.rows}
        _check_bases(files, list(readers.values()))
    first, *others = readers.values()
    for other in others:
        _check_alike(first, other)
    return {subset: _read_part(files, subset, reader) for subset, reader in readers.items()}


def _open(files: UserFiles, subset: str, n_features: int | None = None) -> io.Reader:
    path = files.rows[subset]
    labels = files.labels.get(subset)
    for file in (path, labels):
        if file is not None and not file.is_file():
            raise DataError(f"{files.name}: {file}: no such file")
    return io.open_reader(
        path,
        n_features=n_features,
        label_column=None if labels else files.label_column,
        aside=[] if _holds_columns(labels) else list(files.aside.values()),
        zero_based=files.zero_based,
        header=files.header,
    )


def _holds_columns(labels: Path | None) -> bool:
    return labels is not None and labels.suffix.lower() == ".csv"


def _check_bases(files: UserFiles, readers: Sequence[io.Reader]) -> None:
    """Refuse parts that may count from 0 and from 1: the columns of one would be shifted."""
    unsure = [reader for reader in readers if not reader.certain_base]
    if unsure and len(readers) > 1:
        raise InputError(
            f"{files.name}: {unsure[0].name} has neither index 0 nor the largest index of all "
            "parts, so that its indices may count from 0 or from 1; set zero_based to false if all "
            "parts count from 1, to true if from 0"
        )


def _check_alike(first: io.Reader, other: io.Reader) -> None:
    if first.n_features != other.n_features:
        raise InputError(
            f"{other.name} has {other.n_features} columns, {first.name} has {first.n_features}; "
            "give both the same columns"
        )
    pairs = zip(first.columns or (), other.columns or (), strict=False)
    for place, (column, other_column) in enumerate(pairs, 1):
        if column != other_column:
            raise InputError(
                f"{other.name}: column {place} is {other_column!r}, in {first.name} it is "
                f"{column!r}; give both the same columns in the same order"
            )


def _read_part(files: UserFiles, subset: str, reader: io.Reader) -> _Rows:
    labels = files.labels.get(subset)
    if labels is None and not reader.has_labels:
        raise InputError(
            f"{reader.name}: holds no labels; name a file of labels (labels), or the column that "
            "has them (label_column)"
        )
    X, y, aside = io.read_whole(reader, dtype=np.dtype(np.float32))
    typed = reader.labels_typed
    if labels is not None:
        typed = labels.suffix.lower() == ".npy"
        # Labels of text files stay text: only all parts together show their type.
        y = io.read_labels(labels, column=files.label_column, classes=np.array([""]))
        if _holds_columns(labels):
            aside = io.read_columns(labels, list(files.aside.values())) if files.aside else {}
    y = present(y, "the label of each row")
    for what, values in {"labels": y, **aside}.items():
        if len(values) != X.shape[0]:
            raise InputError(
                f"{labels}: {len(values)} {what}, but {reader.name} has {X.shape[0]} rows"
            )
    _watch_columns(files, reader, X, y)
    return _Rows(X, y, typed, aside)


def _watch_columns(files: UserFiles, reader: io.Reader, X: AnyMatrix, y: NDArray) -> None:
    """Refuse values that spoil a model, and warn of columns that may be no features."""
    watch = io.ColumnWatch(
        reader.name, reader.n_features, reader.columns, keep_large=files.keep_large
    )
    watch.add(X, y)
    for note in watch.finish():
        warnings.warn(note, FileNote, stacklevel=2)
