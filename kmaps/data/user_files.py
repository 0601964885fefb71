"""The user's data: a description of the files, and a digest that changes with them."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kmaps.data.manifest import tree_digest
from kmaps.errors import ConfigError, DataError, InputError

_READING = 2  # raise it when the same csv files or images may give other samples or labels
SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
"""Files with these suffixes count as images; other files of a folder are ignored."""


@dataclass(frozen=True)
class Listed:
    """Images in order: their files, names within the folder or list, labels, further columns."""

    paths: list[Path]
    names: list[str]
    labels: NDArray
    aside: Mapping[str, NDArray]


@dataclass(frozen=True, kw_only=True)
class UserFiles:
    """The user's files that make a dataset; :func:`kmaps.data.load_dataset` loads it.

    ``rows`` has the file of the samples under ``""``, or two files under ``train`` and ``test``,
    which are then the groups of the dataset. A file is a table that :func:`kmaps.io.open_reader`
    opens; with ``images`` it is a folder with a folder per class, or a ``.csv`` that lists paths
    relative to it. ``labels`` has the files of the labels, by the same names, unless the files of
    the samples have labels.

    Columns hold labels, groups that no split divides, official subsets, a different name for each
    row, or paths of images. They are in the ``.csv`` of the labels, if there is one, otherwise in
    the file of the samples.
    """

    name: str
    rows: Mapping[str, Path]
    labels: Mapping[str, Path] = field(default_factory=dict)
    images: bool = False
    label_column: str | None = None
    group_column: str | None = None
    split_column: str | None = None
    id_column: str | None = None
    image_column: str | None = None
    zero_based: bool | Literal["auto"] = "auto"
    header: bool | Literal["auto"] = "auto"

    @property
    def aside(self) -> dict[str, str]:
        """The columns that are neither features nor labels, by their roles."""
        given = {"group": self.group_column, "split": self.split_column, "id": self.id_column}
        return {what: column for what, column in given.items() if column is not None}

    @cached_property
    def digest(self) -> str:
        return self.digest_now()

    def digest_now(self) -> str:
        """Return the SHA-256 of the content of all files and of how they are read."""
        how = {
            "formats": {part: path.suffix.lower() for part, path in self.rows.items()},
            "columns": [self.label_column, self.image_column, self.aside],
            "zero_based": self.zero_based,
        }
        if self.header != "auto":
            how["header"] = self.header
        if ".csv" in how["formats"].values():
            how["reading"] = _READING
        digests = {"how": hashlib.sha256(json.dumps(how, sort_keys=True).encode()).hexdigest()}
        # These names do not depend on the places of the files.
        files = {f"rows {part}": path for part, path in self.rows.items() if not path.is_dir()}
        files |= {f"labels {part}": path for part, path in self.labels.items()}
        for part in self.rows if self.images else ():
            listed = self.listed(part)
            names = [f"image {part}/{name}" for name in listed.names]
            files |= dict(zip(names, listed.paths, strict=True))
        for role, path in files.items():
            digests[role] = _sha256(path, self.name)
        return tree_digest(digests)

    def listed(self, part: str) -> Listed:
        """Return the images of a part, in code-point order of a folder or in the list's order."""
        place, aside = self.rows[part], list(self.aside.values())
        columns = self.image_column, self.label_column
        if place.is_dir():
            named = [column for column in (*columns, *aside) if column is not None]
            if named:
                raise ConfigError(f"{place}: a folder has no column {named[0]!r}; leave it out")
            return _in_folder(place)
        if not place.exists():
            raise DataError(f"{place}: no such file or folder")
        if self.image_column is None or self.label_column is None:
            raise ConfigError(
                f"{place}: a list of images needs image_column and label_column, the columns of "
                "the paths and of the labels"
            )
        return _in_list(place, self.image_column, self.label_column, aside)


def _sha256(path: Path, name: str) -> str:
    if path.exists() and not path.is_file():
        raise DataError(f"{name}: {path}: is a device, a pipe or a folder, expected a file")
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise DataError(f"{name}: {path}: no such file") from None
    except OSError as error:
        raise DataError(f"{name}: {path}: cannot be read: {error.strerror or error}") from None


def _in_folder(folder: Path) -> Listed:
    classes = sorted(one.name for one in folder.iterdir() if one.is_dir() and one.name[0] != ".")
    if not classes:
        raise DataError(f"{folder}: expected a folder for each class, found none")
    names: list[str] = []
    labels: list[str] = []
    for label in classes:
        found = [
            path.relative_to(folder).as_posix()
            for path in (folder / label).rglob("*")
            if path.suffix.lower() in SUFFIXES and path.name[0] != "."
        ]
        if not found:
            raise DataError(f"{folder / label}: has no image ({', '.join(SUFFIXES)})")
        names += sorted(found)
        labels += [label] * len(found)
    return Listed([folder / name for name in names], names, np.array(labels), {})


def _in_list(path: Path, image_column: str, label_column: str, aside: Sequence[str]) -> Listed:
    from kmaps.io import read_columns  # imported late: a table's digest needs no readers

    columns = read_columns(path, [image_column, label_column, *aside])
    names = columns[image_column].tolist()
    paths = [path.parent / name for name in names]
    seen = set()
    for name, image in zip(names, paths, strict=True):
        if not image.is_file():
            raise DataError(f"{path}: {name}: no such file")
        if name in seen:
            raise InputError(f"{path}: {name} is listed twice; leave one out")
        seen.add(name)
    return Listed(paths, names, columns[label_column], {one: columns[one] for one in aside})
