"""Caltech-101: JPEG files in folders, kept as they are."""

from collections.abc import Mapping
from pathlib import Path

from kmaps.data.archives import Report, read_members
from kmaps.data.formats.folders import (
    archive_role,
    first_of_each,
    labels_and_groups,
    member_name,
    tree_content,
)
from kmaps.data.formats.format import Content, Format, Samples
from kmaps.data.manifest import Manifest, SourceFile


def _decode(path: Path, source: SourceFile, manifest: Manifest, report: Report) -> Content:
    files = read_members(path, member_name(manifest, ".jpg"), source.size, report)
    return tree_content(first_of_each(files, manifest))


def _store(payloads: Mapping[str, dict], manifest: Manifest, folder: Path) -> None:
    (files,) = payloads.values()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _load(manifest: Manifest, folder: Path, paths: list[str]) -> Samples:
    return [folder / path for path in paths], *labels_and_groups(paths, manifest)


JPEG_FOLDERS = Format(_load, archive_role, False, _decode, _store)
