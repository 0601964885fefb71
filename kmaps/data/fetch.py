"""Fetching a dataset into the cache, from mirrors first, then from the publishers.

Every file is verified. If a source is missing, unreachable, damaged or another file, the next
one is tried; the error at the end says what was wrong with each.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from kmaps.data.archives import UNWANTED_BYTES, describe
from kmaps.data.cache import cache_root, keep, stamped_digest, work_folder
from kmaps.data.formats import Content, get_format
from kmaps.data.manifest import Manifest, SourceFile, digest_of_files, load_manifest
from kmaps.data.transfer import fetch_url
from kmaps.errors import ConfigError, DataError

Progress = Callable[[str, int, int | None], object]
Mirror = str | Path


@dataclass(frozen=True)
class Download:
    """The result of :func:`download`.

    The status is ``present``, ``downloaded``, ``repaired`` or ``embedded`` (then there is no
    folder). Notes say what went wrong before: sources that failed, a damaged cache.
    """

    name: str
    status: str
    folder: Path | None
    size: int
    digest: str
    notes: tuple[str, ...] = ()


def download(
    name: str | Manifest,
    *,
    data_dir: Mirror | None = None,
    mirror: Mirror | Sequence[Mirror] | None = None,
    offline: bool = False,
    verify: bool = False,
    sha256: str | None = None,
    progress: Progress | None = None,
) -> Download:
    """Fetch a dataset, verify it and put it into the cache; do nothing if the cache has it.

    The cache has it if its files have the size and the time, or else the digest, with which they
    were written; with ``verify``, every file is hashed.
    Mirrors, by default ``KMAPS_MIRROR``, are tried before the publishers; each has one folder per
    dataset: ``mnist/train-images-idx3-ubyte.gz``. With ``offline``, or ``KMAPS_OFFLINE=1``, only
    mirrors that are folders are used. ``sha256`` is the digest of the file to download, for a
    dataset whose manifest knows none. ``progress(label, done, total)`` is called as bytes arrive.
    """
    manifest = name if isinstance(name, Manifest) else load_manifest(name)
    get_format(manifest)
    if sha256 is not None:
        manifest = _with_users_digest(manifest, sha256)
    if manifest.embedded:
        return Download(manifest.name, "embedded", None, manifest.size, manifest.digest or "")
    mirrors = _mirrors(mirror)
    offline = offline or os.environ.get("KMAPS_OFFLINE", "").lower() not in ("", "0", "false", "no")
    report = progress or (lambda label, done, total: None)
    job = _Job(manifest, cache_root(data_dir), mirrors, offline, report)
    try:
        job.run(verify)
    except OSError as error:
        raise DataError(
            f"{manifest.name}: cannot write to {job.root}: {error.strerror or error}; "
            "choose another folder with data_dir=FOLDER or KMAPS_DATA_DIR"
        ) from error
    return Download(
        name=manifest.name,
        status=job.status,
        folder=job.root / manifest.name,
        size=manifest.size,
        digest=manifest.digest or stamped_digest(job.root, manifest.name),
        notes=tuple(job.notes),
    )


def _with_users_digest(manifest: Manifest, sha256: str) -> Manifest:
    if not re.fullmatch("[0-9a-f]{64}", sha256):
        raise ConfigError(f"sha256={sha256!r}: expected 64 hexadecimal digits")
    sources = tuple(
        replace(source, packed=f"sha256:{sha256}") if _is_unknown(source) else source
        for source in manifest.files
    )
    if sources == manifest.files:
        raise ConfigError(
            f"sha256={sha256!r}: {manifest.name} has digests of its own; leave it out"
        )
    return replace(manifest, files=sources)


def _is_unknown(source: SourceFile) -> bool:
    return source.sha256 is None and source.packed is None


def _mirrors(mirror: Mirror | Sequence[Mirror] | None) -> list[Mirror]:
    if mirror is None:
        mirror = os.environ.get("KMAPS_MIRROR") or []
    mirrors = [mirror] if isinstance(mirror, str | Path) else list(mirror)
    for entry in mirrors:
        if not _is_url(entry) and not Path(entry).expanduser().is_dir():
            raise ConfigError(f"mirror {entry}: no such folder; give one, or an http(s) address")
    return mirrors


def _is_url(mirror: Mirror) -> bool:
    return str(mirror).startswith(("http://", "https://"))


@dataclass
class _Job:
    manifest: Manifest
    root: Path
    mirrors: list[Mirror]
    offline: bool
    report: Progress
    status: str = "present"
    notes: list[str] = field(default_factory=list)

    def run(self, verify: bool) -> None:
        def on_wait() -> None:
            self.report(f"waiting for another download of {self.manifest.name}", 0, None)

        name = self.manifest.name
        if keep(self.root, name, self.manifest.digest, self.write, on_wait, verify=verify):
            shutil.rmtree(self._downloads(), ignore_errors=True)

    def write(self, fresh: Path) -> str | None:
        folder = self.root / self.manifest.name
        if folder.exists():
            self.notes.append(f"{folder} was damaged or had another version; it is replaced")
        self.status = "repaired" if folder.exists() else "downloaded"
        contents = {source.role: self.obtain(source) for source in self.manifest.files}
        payloads = {role: content.payload for role, content in contents.items()}
        get_format(self.manifest).store(payloads, self.manifest, fresh)
        return digest_of_files({role: content.digest for role, content in contents.items()})

    def obtain(self, source: SourceFile) -> Content:
        if _is_unknown(source):
            name = Path(source.path).name
            raise DataError(
                f"{self.manifest.name}: nobody recorded a digest of {name}, so nothing can verify "
                "it: give the file's own (`sha256sum` prints it), from somebody whom you trust, "
                "with sha256=DIGEST"
            )
        failures: list[str] = []
        for place in self._places(source):
            try:
                if isinstance(place, Path):
                    content = self._verified(place, source, str(place))
                else:
                    content = self._from_url(place, source)
                self.notes += failures
                return content
            except DataError as error:
                failures.append(str(error))
        if self.offline:
            failures.append("kmaps is offline, so no address was tried")
        raise DataError(
            f"{source.path}: no source has it: {'; '.join(failures)}; "
            "name a folder or an address that has it with mirror=PLACE or KMAPS_MIRROR"
        )

    def _places(self, source: SourceFile) -> Iterator[Path | str]:
        for mirror in self.mirrors:
            if not _is_url(mirror):
                files = [Path(mirror).expanduser() / path for path in source.mirror_paths]
                # If there is none, the first one is tried nevertheless, and reported as missing.
                yield next((file for file in files if file.exists()), files[0])
            elif not self.offline:
                address = str(mirror).rstrip("/")
                for path in source.mirror_paths:
                    yield f"{address}/{path}"
        if not self.offline:
            yield from source.urls

    def _from_url(self, url: str, source: SourceFile) -> Content:
        # The address is in the name: two of them may serve different packings of one content.
        key = hashlib.sha256(url.encode()).hexdigest()[:16]
        target = self._downloads() / f"{key}-{Path(source.path).name}"
        for last in (False, True):
            # An archive may hold as much again in addition to the wanted members.
            largest = 2 * source.size + UNWANTED_BYTES
            resumed = fetch_url(url, target, partial(self.report, source.path), largest=largest)
            try:
                return self._verified(target, source, url)
            except DataError:
                target.unlink(missing_ok=True)
                # The old beginning may not fit the new end: try once more from the start.
                if last or not resumed:
                    raise
        raise AssertionError("the second attempt returns or raises")

    def _verified(self, path: Path, source: SourceFile, origin: str) -> Content:
        """Decode a file and compare its content with the manifest; messages name the origin."""
        if not path.is_file():
            raise DataError(f"{origin}: no such file")
        decode = get_format(self.manifest).decode
        label = f"verifying {source.path}"
        if source.sha256 is None and source.packed is not None:
            _check_packed(path, source.packed, origin)
        try:
            content = decode(path, source, self.manifest, partial(self.report, label))
        except DataError as error:
            raise DataError(f"{origin}: {error}") from error
        if source.sha256 is not None and content.digest != source.sha256:
            raise DataError(
                f"{origin}: wrong content: expected {source.size:,} bytes of sha256 "
                f"{source.sha256}, got {content.size:,} bytes of {content.digest}; {describe(path)}"
            )
        return content

    def _downloads(self) -> Path:
        return work_folder(self.root, self.manifest.name) / "downloads"


def _check_packed(path: Path, packed: str, origin: str) -> None:
    """Refuse a file that is not byte for byte the one that the publisher packed."""
    algorithm, _, expected = packed.partition(":")
    with open(path, "rb") as file:
        actual = hashlib.file_digest(file, algorithm).hexdigest()
    if actual != expected:
        raise DataError(
            f"{origin}: another file: expected {algorithm} {expected}, got {actual}; the digest of "
            f"the content is not recorded, so a repacked copy will not do; {describe(path)}"
        )
