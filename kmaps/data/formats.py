"""From files to datasets: formats say how files are decoded, kept in the cache and loaded.

A format decodes a source file into its content and digest, stores verified contents in a form that
loads fast, and loads this form. The order of the samples follows from the names of the members,
never from the order in which an archive lists them.
"""

import hashlib
import math
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kmaps.data.manifest import Manifest, SourceFile, tree_digest
from kmaps.data.text_rows import load_rows, read_rows, roles_of_rows, store_rows
from kmaps.errors import ConfigError, DataError, suggest

if TYPE_CHECKING:
    from kmaps.data.archives import Report
    from kmaps.matrices import AnyMatrix

Images = NDArray[np.uint8] | list[Path]
Samples = tuple[Images | NDArray[np.float32], NDArray[np.int64], NDArray[np.str_]]

_GAP = rb"\s(?:\s|#[^\n]*\n)*"
_PGM = re.compile(rb"P5" + _GAP + rb"(\d{1,9})" + _GAP + rb"(\d{1,9})" + _GAP + rb"(\d{1,9})\s")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Images with their labels: label ``i`` means ``class_names[i]``.

    Images are an array (n, height, width) of grey levels 0 … ``max_level``, or files if they
    differ in size. Groups are official subsets (``""`` where there is none); clusters are groups
    that no split divides; ``damaged`` says which samples' files have changed since they were
    verified, and how. The digest is the manifest's digest of the content. ``white`` is white in
    files of more than 8 bits, where the user states it, and ``background`` is what transparent
    images are composed on.
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
    white: float | None = None
    background: str = "white"


@dataclass(frozen=True, eq=False)
class TableDataset:
    """Vectors X, float32 (n, d), dense or CSR; the other fields are those of :class:`Dataset`."""

    name: str
    X: "AnyMatrix"
    y: NDArray[np.int64]
    groups: NDArray[np.str_]
    digest: str
    class_names: tuple[str, ...]
    clusters: NDArray[np.str_] | None = None


@dataclass(frozen=True)
class Content:
    """The content of a file of a dataset: its digest, its size in bytes, and what was decoded."""

    digest: str
    size: int
    payload: Any


@dataclass(frozen=True)
class Format:
    """How the files of a dataset are decoded, stored and loaded.

    ``decode`` and ``store`` are None for an embedded dataset. All images of a ``shaped`` dataset
    have the shape that its manifest must give; the samples of a ``tabular`` one are table rows; one
    of ``scenes`` has images with boxes instead of samples (:func:`kmaps.data.load_scenes`).
    """

    load: Callable[[Manifest, Path, list[str]], Samples]
    roles: Callable[[Manifest], set[str]]
    shaped: bool
    decode: "Callable[[Path, SourceFile, Manifest, Report], Content] | None" = None
    store: Callable[[Mapping[str, Any], Manifest, Path], object] | None = None
    tabular: bool = False
    scenes: bool = False


def get_format(manifest: Manifest) -> Format:
    """Return the format of a dataset; refuse an unknown one."""
    name = manifest.name
    formats = FORMATS
    if manifest.format not in formats:
        raise ConfigError(
            f"{name}: unknown format {manifest.format!r}{suggest(manifest.format, formats)} "
            f"(known: {', '.join(formats)})"
        )
    chosen = formats[manifest.format]
    expected = chosen.roles(manifest)
    roles = {source.role for source in manifest.files}
    if roles != expected:
        raise ConfigError(
            f"{name}: format {manifest.format} needs files of the roles {sorted(expected)}, "
            f"got {sorted(roles)}"
        )
    if chosen.shaped and manifest.shape is None:
        raise ConfigError(f"{name}: format {manifest.format} needs a shape, [height, width]")
    return chosen


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# Images of one shape are kept as three arrays because these load fast.


def _store_arrays(images: NDArray, labels: NDArray, groups: NDArray, folder: Path) -> None:
    np.save(folder / "images.npy", images)
    np.save(folder / "labels.npy", labels.astype(np.int64))
    np.save(folder / "groups.npy", groups)


def _load_arrays(manifest: Manifest, folder: Path, paths: list[str]) -> Samples:
    images = np.load(folder / "images.npy")
    y = np.load(folder / "labels.npy")
    groups = np.load(folder / "groups.npy")
    return images, y, groups


# MNIST: one idx file of images and one of labels for each group.


def read_idx(content: bytes, where: str, n_dims: int) -> NDArray[np.uint8]:
    """Return the array in an idx file: two zeros, type, number of axes, sizes, then the data."""
    header = bytes([0, 0, 8, n_dims])  # 8: unsigned bytes
    if content[:4] != header:
        raise DataError(f"{where}: not an idx file: expected {header!r}, got {content[:4]!r}")
    start = 4 + 4 * n_dims
    if len(content) < start:
        raise DataError(f"{where}: has {len(content)} bytes, its idx header needs {start}")
    shape = struct.unpack_from(f">{n_dims}I", content, 4)
    if len(content) != start + math.prod(shape):
        raise DataError(f"{where}: {len(content):,} bytes do not hold an array of shape {shape}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def _idx_roles(manifest: Manifest) -> set[str]:
    return {f"{group}-{content}" for group in manifest.groups for content in ("images", "labels")}


def _decode_idx(path: Path, source: SourceFile, manifest: Manifest, report: "Report") -> Content:
    from kmaps.data.archives import read_file

    content, digest, size = read_file(path, source.size, report)
    return Content(digest, size, content)


def _store_idx(payloads: Mapping[str, bytes], manifest: Manifest, folder: Path) -> None:
    images = []
    labels = []
    groups = []
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


# Archives of folders of images: [group/]class/image.


def _members(
    suffix: str, path: Path, source: SourceFile, manifest: Manifest, report: "Report"
) -> dict[str, bytes]:
    """Read the first images of each folder in name order; refuse an archive without a folder."""
    from kmaps.data.archives import read_members

    groups = [f"{group}/" for group in manifest.groups] or [""]
    folders = [f"{group}{name}" for group in groups for name in manifest.classes]
    by_folder: dict[str, list[str]] = {folder: [] for folder in folders}
    depth = 3 if manifest.groups else 2

    def rename(member: str) -> str | None:
        parts = PurePosixPath(member).parts[-depth:]
        wanted = parts[-1].endswith(suffix) and not parts[-1].startswith(".")
        return "/".join(parts) if wanted and "/".join(parts[:-1]) in by_folder else None

    contents = read_members(path, rename, source.size, report)
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


def _tree(contents: dict[str, bytes]) -> Content:
    digest = tree_digest({name: _sha256(content) for name, content in contents.items()})
    return Content(digest, sum(map(len, contents.values())), contents)


def _labels_and_groups(names: list[str], manifest: Manifest) -> tuple[NDArray, NDArray]:
    label = {name: i for i, name in enumerate(manifest.classes)}
    labels = []
    groups = []
    for name in names:
        folders = name.split("/")[:-1]
        labels.append(label[folders[-1]])
        groups.append(folders[0] if manifest.groups else "")
    return np.array(labels, np.int64), np.array(groups)


# Caltech-101: JPEG files in folders, kept as they are.


def _decode_jpegs(path: Path, source: SourceFile, manifest: Manifest, report: "Report") -> Content:
    return _tree(_members(".jpg", path, source, manifest, report))


def _store_files(payloads: Mapping[str, dict], manifest: Manifest, folder: Path) -> None:
    for files in payloads.values():
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def _load_jpegs(manifest: Manifest, folder: Path, paths: list[str]) -> Samples:
    y, groups = _labels_and_groups(paths, manifest)
    return [folder / path for path in paths], y, groups


# Daimler: PGM files in folders; the digest is of the pixels.


def read_pgm(content: bytes, where: str, shape: tuple[int, int]) -> bytes:
    """Return the pixels, row by row, of a binary PGM image of ``shape`` (height, width)."""
    header = _PGM.match(content)
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


def _decode_pgms(path: Path, source: SourceFile, manifest: Manifest, report: "Report") -> Content:
    members = _members(".pgm", path, source, manifest, report)
    return _tree(
        {name: read_pgm(content, name, manifest.shape) for name, content in members.items()}
    )


def _store_pgms(payloads: Mapping[str, dict], manifest: Manifest, folder: Path) -> None:
    (pixels,) = payloads.values()
    names = sorted(pixels)
    images = np.frombuffer(b"".join(pixels[name] for name in names), np.uint8)
    labels, groups = _labels_and_groups(names, manifest)
    _store_arrays(images.reshape(len(names), *manifest.shape), labels, groups, folder)


# Images with boxes, VOC 2007 and INRIA person: the files that `kmaps.data.annotations` reads.

_SCENE_FOLDERS = {
    "voc-scenes": ("VOC2007", ("JPEGImages", "Annotations", "ImageSets/Main")),
    "inria-scenes": (
        "INRIAPerson",
        tuple(
            f"{subset}/{part}"
            for subset in ("Train", "Test")
            for part in ("pos", "neg", "annotations")
        ),
    ),
}
_SCENE_FILES = (".jpg", ".png", ".txt", ".xml")


def _decode_scenes(path: Path, source: SourceFile, manifest: Manifest, report: "Report") -> Content:
    from kmaps.data.archives import read_members

    top, folders = _SCENE_FOLDERS[manifest.format]

    def rename(member: str) -> str | None:
        parts = PurePosixPath(member).parts
        if top not in parts[:-1]:
            return None
        below = PurePosixPath(*parts[parts.index(top) + 1 :])
        is_file = below.suffix in _SCENE_FILES and not below.name.startswith(".")
        return str(below) if is_file and str(below.parent) in folders else None

    # In INRIA person, folders of negative images are links to others.
    has_links = manifest.format == "inria-scenes"
    files = read_members(path, rename, source.size, report, skip_links=has_links)
    missing = set(folders) - {str(PurePosixPath(name).parent) for name in files}
    if missing:
        raise DataError(
            f"no file in {top}/{min(missing)} ({len(missing)} of {len(folders)} folders missing); "
            "this is not the whole dataset"
        )
    return _tree(files)


def _refuse_scenes(manifest: Manifest, folder: Path, paths: list[str]) -> Samples:
    raise ConfigError(
        f"{manifest.name}: has images with boxes, and no samples to classify; read them with "
        "kmaps.data.load_scenes, or name the dataset in an experiment of kind: detection"
    )


def _voc_roles(manifest: Manifest) -> set[str]:
    return {"trainval", "test"}


# scikit-learn brings these digits and tables: nothing is downloaded or stored.


def _load_shipped(shipped: str, manifest: Manifest, folder: Path, paths: list[str]) -> Samples:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{shipped}")()
    if "images" in bunch:
        role = "images"
        samples = bunch.images.astype(np.uint8)
    else:
        role = "rows"
        samples = bunch.data.astype("<f4")
    labels = bunch.target.astype(np.uint8)
    digest = tree_digest({role: _sha256(samples.tobytes()), "labels": _sha256(labels.tobytes())})
    if digest != manifest.digest:
        raise DataError(
            f"{manifest.name}: expected sha256 {manifest.digest}, got {digest}: this scikit-learn "
            "has other samples than the one that kmaps was tested with; install another version"
        )
    return samples, bunch.target.astype(np.int64), np.full(len(samples), "")


def _shipped(name: str, *, tabular: bool) -> Format:
    load = partial(_load_shipped, name)
    return Format(load, lambda manifest: set(), shaped=not tabular, tabular=tabular)


def _decode_rows(path: Path, source: SourceFile, manifest: Manifest, report: "Report") -> Content:
    digest, text_rows = read_rows(path, source, manifest, report)
    return Content(digest, text_rows.nbytes, text_rows)


def _archive(manifest: Manifest) -> set[str]:
    return {"archive"}


FORMATS: dict[str, Format] = {
    "scikit-learn-digits": _shipped("digits", tabular=False),
    "scikit-learn-breast-cancer": _shipped("breast_cancer", tabular=True),
    "scikit-learn-wine": _shipped("wine", tabular=True),
    "idx": Format(_load_arrays, _idx_roles, True, _decode_idx, _store_idx),
    "pgm-folders": Format(_load_arrays, _archive, True, _decode_pgms, _store_pgms),
    "text-rows": Format(load_rows, roles_of_rows, False, _decode_rows, store_rows, tabular=True),
    "jpeg-folders": Format(_load_jpegs, _archive, False, _decode_jpegs, _store_files),
    "voc-scenes": Format(
        _refuse_scenes, _voc_roles, False, _decode_scenes, _store_files, scenes=True
    ),
    "inria-scenes": Format(
        _refuse_scenes, _archive, False, _decode_scenes, _store_files, scenes=True
    ),
}
