"""Images of one's own: in a folder with a folder a class, or in a list of paths and labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import ConfigError, DataError, InputError
from kmaps.io import read_columns

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
"""Of the files in a folder that are taken for images; others are left alone."""


@dataclass(frozen=True)
class Listed:
    """Images, in their order.

    Attributes
    ----------
    paths : list of Path
    names : list of str
        The path of each, within its folder or as listed.
    labels : ndarray of str
    aside : dict of str to ndarray of str
        Further columns of a list.
    """

    paths: list[Path]
    names: list[str]
    labels: NDArray
    aside: Mapping[str, NDArray]


def list_images(
    place: Path, image_column: str | None, label_column: str | None, aside: Sequence[str]
) -> Listed:
    """Return the images in a folder, or of a list.

    Parameters
    ----------
    place : Path
        A folder with a folder a class, whose images come in code-point order of their paths; or a
        ``.csv`` with paths relative to it.
    image_column, label_column : str or None
        The columns of a list that have the paths and the labels.
    aside : sequence of str
        Further columns of a list.

    Raises
    ------
    ConfigError
        When columns are named of a folder, or not named of a list.
    DataError
        When there is no such file or folder, or no image in it.
    InputError
        When a list is not as it should be, or has an image twice.
    """
    if place.is_dir():
        named = [column for column in (image_column, label_column, *aside) if column is not None]
        if named:
            raise ConfigError(f"{place}: a folder has no column {named[0]!r}; leave it out")
        return _in_folder(place)
    if not place.exists():
        raise DataError(f"{place}: no such file or folder")
    if image_column is None or label_column is None:
        raise ConfigError(
            f"{place}: a list of images needs image_column and label_column, which have the paths "
            "and the labels"
        )
    return _in_list(place, image_column, label_column, aside)


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
            raise DataError(f"{folder / label}: no image in it ({', '.join(SUFFIXES)})")
        names += sorted(found)
        labels += [label] * len(found)
    return Listed([folder / name for name in names], names, np.array(labels), {})


def _in_list(path: Path, image_column: str, label_column: str, aside: Sequence[str]) -> Listed:
    columns = read_columns(path, [image_column, label_column, *aside])
    names = columns[image_column].tolist()
    paths = [path.parent / name for name in names]
    for name, image in zip(names, paths, strict=True):
        if not image.is_file():
            raise DataError(f"{path}: {name}: no such file")
    seen = set()
    for name in names:
        if name in seen:
            raise InputError(f"{path}: {name} is listed twice; leave one out")
        seen.add(name)
    return Listed(paths, names, columns[label_column], {one: columns[one] for one in aside})
