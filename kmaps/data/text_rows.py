"""Rows of numbers in text files, one of the fields the name of the row's class, as UCI has them.

Fields are separated by commas or blanks. The digest covers the values, not the text that states
them: ``rows``, float32, little-endian, and ``labels``, one byte a class.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmaps.data.manifest import Manifest, SourceFile, tree_digest
from kmaps.errors import DataError

if TYPE_CHECKING:
    from kmaps.data.archives import Report

_MOST_CLASSES = 256  # a byte each
_TEXT_BYTES = 8
"""Most bytes of text that state a byte of a value."""


class TextRows(NamedTuple):
    """The rows of a file, float32 (n, d), and the numbers of their classes, (n,)."""

    rows: NDArray[np.float32]
    labels: NDArray[np.uint8]

    @property
    def digest(self) -> str:
        """The digest of the values, whatever text stated them."""
        contents = {"rows": self.rows.astype("<f4"), "labels": self.labels}
        digests = {
            name: hashlib.sha256(content.tobytes()).hexdigest()
            for name, content in contents.items()
        }
        return tree_digest(digests)

    @property
    def nbytes(self) -> int:
        """The bytes of the values."""
        return self.rows.nbytes + self.labels.nbytes


def roles_of_rows(manifest: Manifest) -> set[str]:
    """Return the roles of the files: one per group, or one of all rows."""
    return set(manifest.groups) if manifest.groups and not manifest.group_sizes else {"rows"}


def read_rows(
    path: Path, source: SourceFile, manifest: Manifest, report: "Report"
) -> tuple[str, TextRows]:
    """Return the digest and the rows of a file, or of the file of its name inside a zip.

    A DataError says where a file is not what the manifest describes.
    """
    from kmaps.data.archives import read_file, read_members

    name = PurePosixPath(source.path).name
    largest = _TEXT_BYTES * source.size
    with open(path, "rb") as file:
        is_archive = file.read(4) == b"PK\x03\x04"
    if is_archive:
        members = read_members(
            path,
            lambda member: name if PurePosixPath(member).name == name else None,
            largest,
            report,
        )
        if name not in members:
            raise DataError(f"has no member {name}; this is not the dataset")
        content = members[name]
    else:
        content, _, _ = read_file(path, largest, report)
    text_rows = parse_rows(content, name, manifest)
    return text_rows.digest, text_rows


def parse_rows(content: bytes, where: str, manifest: Manifest) -> TextRows:
    """Return the rows that a text states; a DataError names the line that is none.

    Fields are separated by commas where a line has one, else by blanks, and none may be empty.
    """
    if len(manifest.classes) > _MOST_CLASSES:
        raise DataError(
            f"{where}: {len(manifest.classes)} classes, expected at most {_MOST_CLASSES}"
        )
    number_of = {name: number for number, name in enumerate(manifest.classes)}
    place = 0 if manifest.label == "first" else -1
    rows: list[list[float]] = []
    labels = []
    for line_number, line in enumerate(content.decode("ascii", "replace").splitlines(), 1):
        if not line.strip():
            continue
        fields = line.split(",") if "," in line else line.split()
        label = fields.pop(place).strip()
        if label not in number_of:
            raise DataError(
                f"{where}:{line_number}: the class {label[:50]!r} is none of the dataset"
            )
        try:
            values = [float(field) for field in fields]
        except ValueError as error:
            raise DataError(f"{where}:{line_number}: {error}") from None
        if not np.isfinite(values).all():
            raise DataError(f"{where}:{line_number}: expected finite numbers")
        if rows and len(values) != len(rows[0]):
            raise DataError(
                f"{where}:{line_number}: has {len(values)} values, the first line has "
                f"{len(rows[0])}"
            )
        rows.append(values)
        labels.append(number_of[label])
    if not rows:
        raise DataError(f"{where}: has no rows")
    array = np.array(rows, np.float32)
    if manifest.n_features is not None:
        if array.shape[1] < manifest.n_features:
            raise DataError(
                f"{where}: has {array.shape[1]} values a row, expected {manifest.n_features} or "
                "more"
            )
        array = np.ascontiguousarray(array[:, : manifest.n_features])
    return TextRows(array, np.array(labels, np.uint8))


def store_rows(payloads: Mapping[str, TextRows], manifest: Manifest, folder: Path) -> None:
    """Write the rows of all files, in the order of the groups, as arrays that load fast."""
    names = manifest.groups or ("",)
    if "rows" in payloads:
        tables = [payloads["rows"]]
        sizes = manifest.group_sizes or (len(tables[0].rows),)
        if sum(sizes) != len(tables[0].rows) or len(sizes) != len(names):
            raise DataError(
                f"{manifest.name}: has {len(tables[0].rows)} rows of the groups {list(names)}, "
                f"expected groups of {list(sizes)}"
            )
    else:
        tables = [payloads[name] for name in names]
        sizes = tuple(len(table.rows) for table in tables)
    np.save(folder / "rows.npy", np.concatenate([table.rows for table in tables]))
    labels = np.concatenate([table.labels for table in tables])
    np.save(folder / "labels.npy", labels.astype(np.int64))
    np.save(folder / "groups.npy", np.repeat(np.array(names), sizes))


def load_rows(manifest: Manifest, folder: Path, paths: list[str]) -> tuple:
    """Return the rows, the numbers of their classes and their groups."""
    return tuple(np.load(folder / f"{name}.npy") for name in ("rows", "labels", "groups"))


def equal_rows(rows: NDArray) -> NDArray[np.str_]:
    """Return the names of clusters of equal rows, (n,), which no split divides."""
    _, numbers = np.unique(rows, axis=0, return_inverse=True)
    return numbers.reshape(-1).astype(str)
