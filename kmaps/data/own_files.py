"""Data of one's own: what the files are, and the digest that says whether they were changed."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from kmaps.data.manifest import tree_digest
from kmaps.data.own_images import Listed, list_images
from kmaps.errors import DataError


@dataclass(frozen=True, kw_only=True)
class OwnFiles:
    """Files that make a dataset; :func:`kmaps.data.load_dataset` loads it.

    Parameters
    ----------
    name : str
        What records and tables call the dataset.
    rows : mapping of str to Path
        The file of the samples under ``""``, or two of them under ``train`` and ``test``, which are
        then its groups. Of tables any file that :func:`kmaps.io.open_reader` opens; of images a
        folder with a folder a class, or a ``.csv`` that lists paths, which are relative to it.
    labels : mapping of str to Path
        The files of the labels (:func:`kmaps.io.read_labels`), by the same names; empty when the
        samples' own files have them.
    images : bool
        Whether ``rows`` names images.
    label_column, group_column, split_column, id_column, image_column : str or None
        Columns, by their names: labels; groups, none of which a split divides; official subsets; a
        name of each row, which must differ; paths of images. They are looked for in the ``.csv`` of
        the labels, if there is one, otherwise beside the samples.
    zero_based : bool or "auto"
        Whether the indices of svmlight files count from 0.

    Examples
    --------
    >>> OwnFiles(name="mine", rows={"": Path("nowhere.csv")}).digest
    Traceback (most recent call last):
    kmaps.errors.DataError: mine: nowhere.csv: no such file
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

    @property
    def aside(self) -> dict[str, str]:
        """The columns that are neither features nor labels, by what they are."""
        given = {"group": self.group_column, "split": self.split_column, "id": self.id_column}
        return {what: column for what, column in given.items() if column is not None}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content of all files, and of how they are read, whatever their names.

        Raises
        ------
        DataError
            When a file is missing.
        """
        return self.digest_now()

    def digest_now(self) -> str:
        """Return the digest of the files as they are now."""
        how = {
            "formats": {part: path.suffix.lower() for part, path in self.rows.items()},
            "columns": [self.label_column, self.image_column, self.aside],
            "zero_based": self.zero_based,
        }
        digests = {"how": hashlib.sha256(json.dumps(how, sort_keys=True).encode()).hexdigest()}
        for role, path in self._files().items():
            digests[role] = _sha256(path, self.name)
        return tree_digest(digests)

    def _files(self) -> dict[str, Path]:
        """Return all files, by names that do not depend on where they are."""
        files = {f"rows {part}": path for part, path in self.rows.items() if not path.is_dir()}
        files |= {f"labels {part}": path for part, path in self.labels.items()}
        for part in self.rows if self.images else ():
            listed = self.listed(part)
            names = [f"image {part}/{name}" for name in listed.names]
            files |= dict(zip(names, listed.paths, strict=True))
        return files

    def listed(self, part: str) -> Listed:
        """Return the images of a part; raises as :func:`kmaps.data.own_images.list_images`."""
        aside = list(self.aside.values())
        return list_images(self.rows[part], self.image_column, self.label_column, aside)


def _sha256(path: Path, name: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise DataError(f"{name}: {path}: no such file") from None
    except OSError as error:
        raise DataError(f"{name}: {path}: cannot be read: {error.strerror or error}") from None
