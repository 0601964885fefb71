"""Loading data of one's own: tables by way of the cache, images from where they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from kmaps.data.cache import cache_root, install, lock, stamped_files
from kmaps.data.dataset import Dataset, Table
from kmaps.data.own_files import OwnFiles
from kmaps.data.own_tables import read_parts
from kmaps.errors import DataError, InputError
from kmaps.io import few_labels, typed_labels, whole_labels

_READING = 1
"""Raised when the same files give other samples: what the cache keeps is then read anew."""


def load_own(files: OwnFiles, *, data_dir: str | Path | None = None) -> Dataset | Table:
    """Return the samples that some files hold.

    Tables are read once, into the cache. There they stay under the digest of the files, so that
    what was read of files that were changed since is left alone.

    Parameters
    ----------
    files : OwnFiles
    data_dir : path, optional
        The cache; by default ``KMAPS_DATA_DIR`` or the platform's folder for caches.

    Raises
    ------
    ConfigError, DataError, InputError
        When a file is missing, not as it should be, or was changed since its digest was taken.
    """
    return _images(files) if files.images else _table(files, cache_root(data_dir))


def _images(files: OwnFiles) -> Dataset:
    listed = {part: files.listed(part) for part in files.rows}
    y, classes = classes_of({part: one.labels for part, one in listed.items()}, files.name)
    groups, clusters = groups_of(
        files, {part: (one.aside, len(one.names)) for part, one in listed.items()}
    )
    paths = [path for one in listed.values() for path in one.paths]
    return Dataset(files.name, paths, y, groups, files.digest, classes, clusters=clusters)


@dataclass(frozen=True)
class _Kept:
    """What the cache goes by."""

    name: str
    digest: str


def _table(files: OwnFiles, root: Path) -> Table:
    kept = _Kept(f"own-{files.digest[:16]}-{_READING}", files.digest)
    if not _is_whole(root, kept):
        with lock(root, kept.name, lambda: None):
            if not _is_whole(root, kept):  # another process may have read it meanwhile
                if files.digest_now() != files.digest:
                    raise DataError(f"{files.name}: its files were changed meanwhile; start again")
                arrays = _read(files)
                install(root, kept, lambda folder: _write(folder, arrays))
    arrays = {path.stem: np.load(path) for path in (root / kept.name).glob("*.npy")}
    X = arrays.get("X")
    if X is None:
        content = arrays["data"], arrays["indices"], arrays["indptr"]
        X = csr_array(content, shape=tuple(arrays["shape"].tolist()))
    about = files.digest, tuple(arrays["classes"].tolist()), arrays.get("clusters")
    return Table(files.name, X, arrays["y"], arrays["groups"], *about)


def _is_whole(root: Path, kept: _Kept) -> bool:
    """Return whether the cache has a table as it was written."""
    try:
        stamped_files(root, kept)
    except DataError:
        return False
    return True


def _read(files: OwnFiles) -> dict[str, NDArray]:
    """Return the arrays of a table, as the cache keeps them."""
    parts = read_parts(files)
    y, classes = classes_of({part: rows.y for part, rows in parts.items()}, files.name)
    sizes = {part: (rows.aside, len(rows.y)) for part, rows in parts.items()}
    groups, clusters = groups_of(files, sizes)
    arrays = {"y": y, "classes": np.array(classes), "groups": groups}
    if clusters is not None:
        arrays["clusters"] = clusters
    matrices = [rows.X for rows in parts.values()]
    if not issparse(matrices[0]):
        return {**arrays, "X": np.concatenate(matrices)}
    X = vstack(matrices, "csr")
    sparse = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
    return {**arrays, **sparse, "shape": np.array(X.shape)}


def _write(folder: Path, arrays: Mapping[str, NDArray]) -> None:
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def groups_of(
    files: OwnFiles, parts: Mapping[str, tuple[Mapping[str, NDArray], int]]
) -> tuple[NDArray[np.str_], NDArray[np.str_] | None]:
    """Return the official subset of each sample, and its group that no split divides.

    Without a column of subsets, and in one file, the groups are the subsets: then a split may name
    those to train on.

    Parameters
    ----------
    files : OwnFiles
    parts : mapping of str to (mapping, int)
        The columns beside the samples of each part, and how many these are.

    Raises
    ------
    InputError
        When two rows have the same name in the column of names.
    """
    columns = {
        what: np.concatenate([aside[column] for aside, _ in parts.values()])
        for what, column in files.aside.items()
    }
    if "id" in columns:
        names, counts = np.unique(columns["id"], return_counts=True)
        if (counts > 1).any():
            raise InputError(
                f"{files.name}: column {files.id_column!r}: {names[counts.argmax()]!s} stands in "
                f"{counts.max()} rows, expected another in each"
            )
    given = np.repeat(list(parts), [size for _, size in parts.values()])
    clusters = columns.get("group")
    if "" in parts:
        given = columns.get("split", given if clusters is None else clusters)
    return given, clusters


def classes_of(labels: Mapping[Any, NDArray], name: str) -> tuple[NDArray[np.int64], tuple]:
    """Return labels as numbers from 0, and the classes that these mean, in ascending order.

    Parameters
    ----------
    labels : mapping of str to ndarray
        Those of each part.
    name : str
        What messages call the data.

    Raises
    ------
    InputError
        When they are text in one part and numbers in the other, all the same, or all different.

    Examples
    --------
    >>> y, classes = classes_of({"train": np.array(["b", "a"]), "test": np.array(["a"])}, "mine")
    >>> y.tolist(), classes
    ([1, 0, 0], ('a', 'b'))
    """
    texts = {part: given.dtype.kind == "U" for part, given in labels.items()}
    if all(texts.values()):
        every = typed_labels(np.concatenate([*labels.values()]))
    elif any(texts.values()):
        told = " and ".join(
            f"{part} {few_labels(np.unique(given))}" for part, given in labels.items()
        )
        raise InputError(
            f"{name}: the labels are text in one part and numbers in the other ({told}); write "
            "them alike"
        )
    else:
        every = whole_labels(np.concatenate([*labels.values()]))
    classes, y = np.unique(every, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"{name}: all {len(y)} labels are {classes[0]!s}; a classification needs two classes"
        )
    if len(classes) == len(y):
        raise InputError(
            f"{name}: each of {len(y)} rows has a label of its own ({few_labels(classes)}); "
            "name a column of classes"
        )
    return y.astype(np.int64), tuple(map(str, classes.tolist()))
