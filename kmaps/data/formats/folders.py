"""Archives of folders of images: ``[group/]class/image``."""

from collections.abc import Callable
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from kmaps.data.formats.format import Content, sha256
from kmaps.data.manifest import Manifest, tree_digest
from kmaps.errors import DataError


def archive_role(manifest: Manifest) -> set[str]:
    """Return the one role that the files of such a dataset have."""
    return {"archive"}


def _folders(manifest: Manifest) -> list[str]:
    if not manifest.groups:
        return list(manifest.classes)
    return [f"{group}/{name}" for group in manifest.groups for name in manifest.classes]


def member_name(manifest: Manifest, suffix: str) -> Callable[[str], str | None]:
    """Return the function that shortens a member's path to ``[group/]class/image``."""
    folders = set(_folders(manifest))
    depth = 3 if manifest.groups else 2

    def rename(path: str) -> str | None:
        parts = PurePosixPath(path).parts[-depth:]
        image = parts[-1]
        wanted = image.endswith(suffix) and not image.startswith(".")
        return "/".join(parts) if wanted and "/".join(parts[:-1]) in folders else None

    return rename


def first_of_each(contents: dict[str, bytes], manifest: Manifest) -> dict[str, bytes]:
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


def labels_and_groups(names: list[str], manifest: Manifest) -> tuple[NDArray, NDArray]:
    """Return what the names of the images say of them."""
    label = {name: i for i, name in enumerate(manifest.classes)}
    parts = [name.split("/") for name in names]
    groups = [part[0] if manifest.groups else "" for part in parts]
    return np.array([label[part[-2]] for part in parts], np.int64), np.array(groups)


def tree_content(contents: dict[str, bytes]) -> Content:
    """Return the images with the digest of their tree."""
    digest = tree_digest({name: sha256(content) for name, content in contents.items()})
    return Content(digest, sum(map(len, contents.values())), contents)
