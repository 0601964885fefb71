"""From files to arrays: what each format holds, how the cache keeps it, how it is loaded.

A format decodes a source file into its content and digest, stores verified contents in a form that
loads fast, and loads that form. The order of the samples follows from the names of the members,
never from the order in which an archive lists them.
"""

import hashlib
import math
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kmaps.data.archives import Report, read_file, read_members
from kmaps.data.manifest import Manifest, SourceFile, tree_digest
from kmaps.errors import ConfigError, DataError, suggest

if TYPE_CHECKING:
    from kmaps.samples import AnyMatrix

Images = NDArray[np.uint8] | list[Path]
Samples = tuple[Images | NDArray[np.float32], NDArray[np.int64], NDArray[np.str_]]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Images with their labels.

    Parameters
    ----------
    name : str
    images : ndarray of uint8, shape (n, height, width), or list of Path
        Grey levels 0 … ``max_level``; files when the images differ in size.
    y : ndarray of int64, shape (n,)
        Label ``i`` means ``class_names[i]``.
    groups : ndarray of str, shape (n,)
        The official subset of each sample; ``""`` where there is none.
    digest : str
        SHA-256 of the content, as the manifest has it.
    class_names : tuple of str
    max_level : int
        The largest grey value.
    damaged : dict of int to str
        Samples whose files are not those that were verified, and what is wrong with them.
    clusters : ndarray of str, shape (n,), or None
        The group of each sample that no split divides, where there are such.
    """

    name: str
    images: Images
    y: NDArray[np.int64]
    groups: NDArray[np.str_]
    digest: str
    class_names: tuple[str, ...]
    max_level: int = 255
    damaged: Mapping[int, str] = field(default_factory=dict)
    clusters: NDArray[np.str_] | None = None


@dataclass(frozen=True, eq=False)
class Table:
    """Vectors with their labels.

    Parameters
    ----------
    name : str
    X : ndarray or csr_array of float32, shape (n, d)
    y, groups, digest, class_names, clusters
        As of a :class:`Dataset`.
    """

    name: str
    X: "AnyMatrix"
    y: NDArray[np.int64]
    groups: NDArray[np.str_]
    digest: str
    class_names: tuple[str, ...]
    clusters: NDArray[np.str_] | None = None


@dataclass(frozen=True)
class Content:
    """What a source file holds once decompressed: its digest, its bytes in all, the content."""

    digest: str
    size: int
    payload: Any


@dataclass(frozen=True)
class Format:
    """How the files of a dataset are read.

    Parameters
    ----------
    load : callable
        ``load(manifest, folder, paths)`` returns the samples from the stored files.
    roles : callable
        ``roles(manifest)`` returns the roles that the manifest's files must have.
    shaped : bool
        Whether all images have one shape, which the manifest must give.
    decode : callable or None
        ``decode(path, source, manifest, report)`` returns a source file's :class:`Content`; None
        for an embedded dataset.
    store : callable or None
        ``store(payloads, manifest, folder)`` writes the verified payloads, by role.
    tabular : bool
        Whether the samples are rows of a matrix, no images.
    """

    load: Callable[[Manifest, Path, list[str]], Samples]
    roles: Callable[[Manifest], set[str]]
    shaped: bool
    decode: Callable[[Path, SourceFile, Manifest, Report], Content] | None = None
    store: Callable[[Mapping[str, Any], Manifest, Path], object] | None = None
    tabular: bool = False


def get_format(manifest: Manifest) -> Format:
    """Return the format a manifest names.

    Raises
    ------
    ConfigError
        If it is unknown, or the manifest lacks what it needs.
    """
    name, known = manifest.name, FORMATS
    if manifest.format not in known:
        raise ConfigError(
            f"{name}: unknown format {manifest.format!r}{suggest(manifest.format, known)} "
            f"(known: {', '.join(known)})"
        )
    chosen = known[manifest.format]
    expected, roles = chosen.roles(manifest), {source.role for source in manifest.files}
    if roles != expected:
        raise ConfigError(
            f"{name}: format {manifest.format} needs files of the roles {sorted(expected)}, "
            f"got {sorted(roles)}"
        )
    if chosen.shaped and manifest.shape is None:
        raise ConfigError(f"{name}: format {manifest.format} needs a shape, [height, width]")
    return chosen


# ---- digits and tables: a dependency has them


def _load_digits(manifest: Manifest, folder: Path, paths: list[str]) -> Samples:
    from sklearn.datasets import load_digits

    bunch = load_digits()
    images = bunch.images.astype(np.uint8)
    return images, *_labels_of_dependency(manifest, "images", images, bunch.target)


def _load_breast_cancer(manifest: Manifest, folder: Path, paths: list[str]) -> Samples:
    from sklearn.datasets import load_breast_cancer

    return _rows_of_dependency(manifest, load_breast_cancer())


def _load_wine(manifest: Manifest, folder: Path, paths: list[str]) -> Samples:
    from sklearn.datasets import load_wine

    return _rows_of_dependency(manifest, load_wine())


def _rows_of_dependency(manifest: Manifest, bunch: Any) -> Samples:
    X = bunch.data.astype("<f4")
    return X, *_labels_of_dependency(manifest, "rows", X, bunch.target)


def _labels_of_dependency(
    manifest: Manifest, role: str, samples: NDArray, y: NDArray
) -> tuple[NDArray[np.int64], NDArray[np.str_]]:
    """Return the labels and groups, once the samples and labels are those of the manifest."""
    parts = {role: samples.tobytes(), "labels": y.astype(np.uint8).tobytes()}
    digest = tree_digest({role: _sha256(part) for role, part in parts.items()})
    if digest != manifest.digest:
        raise DataError(
            f"{manifest.name}: expected sha256 {manifest.digest}, got {digest}: this scikit-learn "
            "has other samples than kmaps was tested with"
        )
    return y.astype(np.int64), np.full(len(y), "")


# ---- MNIST: one idx file of images and one of labels for each group


def read_idx(content: bytes, where: str, n_dims: int) -> NDArray[np.uint8]:
    """Return the array in an idx file: two zeros, type, number of axes, sizes, then the data.

    Parameters
    ----------
    content : bytes
    where : str
        The file's name, for messages.
    n_dims : int
        The number of axes expected.

    Raises
    ------
    DataError
        If it is not an idx file of unsigned bytes with that many axes, or has another length than
        its header says.

    Examples
    --------
    >>> read_idx(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9]), "two-labels", 1)
    array([7, 9], dtype=uint8)
    """
    header = bytes([0, 0, 8, n_dims])  # 8: unsigned bytes
    if content[:4] != header:
        raise DataError(f"{where}: not idx: expected {header!r} in front, got {content[:4]!r}")
    start = 4 + 4 * n_dims
    if len(content) < start:
        raise DataError(f"{where}: {len(content)} bytes, shorter than an idx header of {start}")
    shape = struct.unpack_from(f">{n_dims}I", content, 4)
    if len(content) != start + math.prod(shape):
        raise DataError(f"{where}: {len(content):,} bytes do not hold an array of shape {shape}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def _idx_roles(manifest: Manifest) -> set[str]:
    return {f"{group}-{part}" for group in manifest.groups for part in ("images", "labels")}


def _decode_idx(path: Path, source: SourceFile, manifest: Manifest, report: Report) -> Content:
    content, digest, size = read_file(path, source.size, report)
    return Content(digest, size, content)


def _store_idx(payloads: Mapping[str, bytes], manifest: Manifest, folder: Path) -> None:
    images, labels, groups = [], [], []
    for group in manifest.groups:
        levels = read_idx(payloads[f"{group}-images"], f"{group}-images", 3)
        targets = read_idx(payloads[f"{group}-labels"], f"{group}-labels", 1)
        if levels.shape != (len(targets), *manifest.shape):
            raise DataError(
                f"{manifest.name}: {group}: images of shape {levels.shape} for {len(targets)} "
                f"labels, expected {(len(targets), *manifest.shape)}"
            )
        images.append(levels)
        labels.append(targets)
        groups += [group] * len(targets)
    _store_arrays(np.concatenate(images), np.concatenate(labels), np.array(groups), folder)


# ---- folders of images: [group/]class/image


def _folders(manifest: Manifest) -> list[str]:
    if not manifest.groups:
        return list(manifest.classes)
    return [f"{group}/{name}" for group in manifest.groups for name in manifest.classes]


def _member_name(manifest: Manifest, suffix: str) -> Callable[[str], str | None]:
    """Return the function that shortens a member's path to ``[group/]class/image``."""
    folders = set(_folders(manifest))
    depth = 3 if manifest.groups else 2

    def rename(path: str) -> str | None:
        parts = PurePosixPath(path).parts[-depth:]
        image = parts[-1]
        wanted = image.endswith(suffix) and not image.startswith(".")
        return "/".join(parts) if wanted and "/".join(parts[:-1]) in folders else None

    return rename


def _first_of_each(contents: dict[str, bytes], manifest: Manifest) -> dict[str, bytes]:
    """Keep the first images of each folder in name order; refuse an archive that lacks a folder."""
    by_folder: dict[str, list[str]] = {folder: [] for folder in _folders(manifest)}
    for name in sorted(contents):
        by_folder[name.rpartition("/")[0]].append(name)
    missing = [folder for folder, names in by_folder.items() if not names]
    if missing:
        raise DataError(
            f"no image in {missing[0]!r} ({len(missing)} of {len(by_folder)} folders "
            "missing); this is not the whole dataset"
        )
    keep = [name for names in by_folder.values() for name in names[: manifest.first_per_class]]
    return {name: contents[name] for name in sorted(keep)}


def _labels_and_groups(names: list[str], manifest: Manifest) -> tuple[NDArray, NDArray]:
    label = {name: i for i, name in enumerate(manifest.classes)}
    parts = [name.split("/") for name in names]
    groups = [part[0] if manifest.groups else "" for part in parts]
    return np.array([label[part[-2]] for part in parts], np.int64), np.array(groups)


def _tree_content(contents: dict[str, bytes]) -> Content:
    digest = tree_digest({name: _sha256(content) for name, content in contents.items()})
    return Content(digest, sum(map(len, contents.values())), contents)


# ---- Daimler: PGM files, digest of the pixels


_PGM_GAP = rb"\s(?:\s|#[^\n]*\n)*"
_PGM_HEADER = re.compile(
    rb"P5" + _PGM_GAP + rb"(\d{1,9})" + _PGM_GAP + rb"(\d{1,9})" + _PGM_GAP + rb"(\d{1,9})\s"
)


def read_pgm(content: bytes, where: str, shape: tuple[int, int]) -> bytes:
    """Return the pixels, row by row, of a binary PGM image with one byte a pixel.

    Parameters
    ----------
    content : bytes
    where : str
        The file's name, for messages.
    shape : (int, int)
        The height and width expected.

    Raises
    ------
    DataError
        If it is not a binary PGM of that shape with levels 0 … 255.

    Examples
    --------
    >>> read_pgm(b"P5 3 2 255 abcdef", "six-pixels", (2, 3))
    b'abcdef'
    """
    header = _PGM_HEADER.match(content)
    if header is None:
        raise DataError(f"{where}: not a binary PGM: it begins {content[:16]!r}")
    width, height, max_level = map(int, header.groups())
    pixels = content[header.end() :]
    if (height, width) != shape or max_level != 255 or len(pixels) != height * width:
        raise DataError(
            f"{where}: {width} × {height} pixels (width × height) of {max_level + 1} levels in "
            f"{len(pixels):,} bytes, expected {shape[1]} × {shape[0]} of 256 levels"
        )
    return pixels


def _decode_pgm(path: Path, source: SourceFile, manifest: Manifest, report: Report) -> Content:
    files = read_members(path, _member_name(manifest, ".pgm"), source.size, report)
    pixels = {
        name: read_pgm(content, name, manifest.shape)
        for name, content in _first_of_each(files, manifest).items()
    }
    return _tree_content(pixels)


def _store_pgm(payloads: Mapping[str, dict], manifest: Manifest, folder: Path) -> None:
    (pixels,) = payloads.values()
    names = sorted(pixels)
    images = np.frombuffer(b"".join(pixels[name] for name in names), np.uint8)
    labels, groups = _labels_and_groups(names, manifest)
    _store_arrays(images.reshape(len(names), *manifest.shape), labels, groups, folder)


def _store_arrays(images: NDArray, labels: NDArray, groups: NDArray, folder: Path) -> None:
    np.save(folder / "images.npy", images)
    np.save(folder / "labels.npy", labels.astype(np.int64))
    np.save(folder / "groups.npy", groups)


def _load_arrays(manifest: Manifest, folder: Path, paths: list[str]) -> Samples:
    images, y, groups = (np.load(folder / f"{part}.npy") for part in ("images", "labels", "groups"))
    return images, y, groups


# ---- Caltech-101: JPEG files, kept as they are


def _decode_jpeg(path: Path, source: SourceFile, manifest: Manifest, report: Report) -> Content:
    files = read_members(path, _member_name(manifest, ".jpg"), source.size, report)
    return _tree_content(_first_of_each(files, manifest))


def _store_jpeg(payloads: Mapping[str, dict], manifest: Manifest, folder: Path) -> None:
    (files,) = payloads.values()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _load_jpeg(manifest: Manifest, folder: Path, paths: list[str]) -> Samples:
    return [folder / path for path in paths], *_labels_and_groups(paths, manifest)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _one_archive(manifest: Manifest) -> set[str]:
    return {"archive"}


def _none(manifest: Manifest) -> set[str]:
    return set()


FORMATS: dict[str, Format] = {
    "scikit-learn-digits": Format(_load_digits, _none, True),
    "scikit-learn-breast-cancer": Format(_load_breast_cancer, _none, False, tabular=True),
    "scikit-learn-wine": Format(_load_wine, _none, False, tabular=True),
    "idx": Format(_load_arrays, _idx_roles, True, _decode_idx, _store_idx),
    "pgm-folders": Format(_load_arrays, _one_archive, True, _decode_pgm, _store_pgm),
    "jpeg-folders": Format(_load_jpeg, _one_archive, False, _decode_jpeg, _store_jpeg),
}
