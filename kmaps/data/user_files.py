"""The user's data: a description of the files, and a digest that changes with them."""

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kmaps.data.manifest import tree_digest
from kmaps.errors import ConfigError, DataError, FileNote, InputError

_READING = 2  # raise it when the same csv files or images may give other samples or labels
SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
"""Files with these suffixes count as images; other files of a folder are ignored."""

_SUBSETS = (
    "train",
    "training",
    "test",
    "testing",
    "val",
    "valid",
    "validation",
    "dev",
    "eval",
    "evaluation",
)
_OF_SYSTEMS = ("__MACOSX", "@eaDir", "#recycle", "$RECYCLE.BIN", "System Volume Information")


@dataclass(frozen=True)
class Listed:
    """Images in order: their files, names within the folder or list, labels, further columns.

    ``subsets`` are the folders above the classes, where these divide the images.
    """

    paths: list[Path]
    names: list[str]
    labels: NDArray
    aside: Mapping[str, NDArray]
    subsets: NDArray[np.str_] | None = None


@dataclass(frozen=True, kw_only=True)
class UserFiles:
    """The user's files that make a dataset; :func:`kmaps.data.load_dataset` loads it.

    ``rows`` has the file of the samples under ``""``, or two files under ``train`` and ``test``,
    which are then the groups of the dataset. A file is a table that :func:`kmaps.io.open_reader`
    opens; with ``images`` it is a folder with a folder per class, or a ``.csv`` that lists paths
    relative to it. ``labels`` has the files of the labels, by the same names, unless the files of
    the samples have labels.

    ``keep_large`` keeps values of any size in tables (:class:`kmaps.io.LabelledRows`).
    ``subsets`` are the folders of subsets, such as train and test, each of which has a folder per
    class. ``white`` is white in images of more than 8 bits, ``background`` what transparent images
    are composed on.

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
    keep_large: bool = False
    subsets: tuple[str, ...] = ()
    white: float | None = None
    background: str = "white"

    @property
    def aside(self) -> dict[str, str]:
        """The columns that are neither features nor labels, by their roles."""
        columns = {"group": self.group_column, "split": self.split_column, "id": self.id_column}
        return {role: column for role, column in columns.items() if column is not None}

    @cached_property
    def digest(self) -> str:
        """The digest when it was first asked for."""
        return self.digest_now()

    def digest_now(self) -> str:
        """Return the SHA-256 of the content of all files and of how they are read."""
        how: dict[str, Any] = {
            "formats": {subset: path.suffix.lower() for subset, path in self.rows.items()},
            "columns": [self.label_column, self.image_column, self.aside],
            "zero_based": self.zero_based,
        }
        if self.header != "auto":
            how["header"] = self.header
        if self.images:
            how["images"] = [self.subsets, self.white, self.background]
        if self.images or ".csv" in how["formats"].values():
            how["reading"] = _READING
        digests = {"how": hashlib.sha256(json.dumps(how, sort_keys=True).encode()).hexdigest()}
        # These names do not depend on the places of the files.
        files = {f"rows {subset}": path for subset, path in self.rows.items() if not path.is_dir()}
        files |= {f"labels {subset}": path for subset, path in self.labels.items()}
        for subset in self.rows if self.images else ():
            listed = self.listed(subset)
            names = [f"image {subset}/{name}" for name in listed.names]
            files |= dict(zip(names, listed.paths, strict=True))
        for role, path in files.items():
            digests[role] = _sha256(path, self.name)
        return tree_digest(digests)

    def listed(self, subset: str) -> Listed:
        """Return the images of a part, in code-point order of a folder or in the list's order."""
        source = self.rows[subset]
        aside = list(self.aside.values())
        if source.is_dir():
            named = [
                column
                for column in (self.image_column, self.label_column, *aside)
                if column is not None
            ]
            if named:
                raise ConfigError(f"{source}: a folder has no column {named[0]!r}; leave it out")
            if self.subsets:
                return _in_subsets(source, self.subsets)
            return _in_folder(source)
        if not source.exists():
            raise DataError(f"{source}: no such file or folder")
        if self.image_column is None or self.label_column is None:
            raise ConfigError(
                f"{source}: a list of images needs image_column and label_column, the columns of "
                "the paths and of the labels"
            )
        return _in_list(source, self.image_column, self.label_column, aside)


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
    """Return the images of a folder that has a folder per class.

    Refuse one whose folders hold the same folders again, or have the names of subsets: these may be
    the classes, and the folders above subsets.
    """
    names: list[str] = []
    labels: list[str] = []
    inner: dict[str, str] = {}  # the class of each folder inside the folders
    left_out = _images_beside(folder)
    folders = _folders(folder)
    for label in folders:
        images = []
        for path in sorted((folder / label).rglob("*")):
            if path.name[0] == "." or path.is_dir():
                continue
            below = path.relative_to(folder / label).parts
            if path.suffix.lower() not in SUFFIXES or any(map(_is_of_system, below[:-1])):
                left_out.append(path.relative_to(folder).as_posix())
                continue
            if len(below) > 1:
                _refuse_subsets(folder, label, below[0], inner)
            images.append(path.relative_to(folder).as_posix())
        if not images:
            raise DataError(f"{folder / label}: has no image ({', '.join(SUFFIXES)})")
        names += sorted(images)
        labels += [label] * len(images)
    if len(folders) > 1 and all(name.casefold() in _SUBSETS for name in folders):
        raise _either(folder, folders[0], folders[1], "have the names of subsets")
    _say_left_out(folder, left_out)
    return Listed([folder / name for name in names], names, np.array(labels), {})


def _in_subsets(folder: Path, subsets: Sequence[str]) -> Listed:
    """Return the images of a folder that has a folder per subset, and in these one per class."""
    missing = [name for name in subsets if not (folder / name).is_dir()]
    if missing:
        raise DataError(f"{folder / missing[0]}: no such folder; subsets of images are folders")
    folders = [_in_folder(folder / name) for name in subsets]
    return Listed(
        [path for images in folders for path in images.paths],
        [
            f"{name}/{image}"
            for name, images in zip(subsets, folders, strict=True)
            for image in images.names
        ],
        np.concatenate([images.labels for images in folders]),
        {},
        np.repeat(list(subsets), [len(images.names) for images in folders]),
    )


def _folders(folder: Path) -> list[str]:
    names = sorted(
        path.name for path in folder.iterdir() if path.is_dir() and not _is_of_system(path.name)
    )
    if not names:
        raise DataError(f"{folder}: expected a folder for each class, found none")
    return names


def _is_of_system(folder_name: str) -> bool:
    """Return whether a folder of this name is hidden, or made by systems that keep copies there."""
    return folder_name[0] == "." or folder_name in _OF_SYSTEMS


def _images_beside(folder: Path) -> list[str]:
    """Return the images in a folder of classes that are in none of these."""
    return [
        path.name
        for path in folder.iterdir()
        if path.suffix.lower() in SUFFIXES and path.name[0] != "." and path.is_file()
    ]


def _refuse_subsets(folder: Path, label: str, inside: str, inner: dict[str, str]) -> None:
    """Refuse a folder inside a class that is inside another class too; note it in ``inner``."""
    other = inner.setdefault(inside.casefold(), label)
    if other != label:
        raise _either(folder, other, label, f"both hold a folder {inside}")


def _either(folder: Path, first: str, second: str, why: str) -> InputError:
    """Return the error for two folders that may be classes or subsets."""
    if second.casefold().startswith("train"):
        first, second = second, first
    return InputError(
        f"{folder}: its folders {first} and {second} {why}, so that {first} and {second} may be "
        f"classes or subsets; of subsets, name one ({folder / first}), or in an experiment train: "
        f"[{first}], test: [{second}]; if they are classes, list the images in a .csv"
    )


def _say_left_out(folder: Path, names: Sequence[str]) -> None:
    if names:
        shown = ", ".join(sorted(names)[:3]) + ", …" * (len(names) > 3)
        warnings.warn(
            f"{folder}: {len(names):,} files are left out, which are in no folder of a class or "
            f"have no suffix of an image ({shown})",
            FileNote,
            stacklevel=2,
        )


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
    return Listed(
        paths, names, columns[label_column], {column: columns[column] for column in aside}
    )
