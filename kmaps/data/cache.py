"""The cache: one folder per dataset, verified when it is written, checked quickly when it is read.

A dataset's folder appears under its name in one rename, complete, with a stamp that lists every
file's size, time of writing and SHA-256. Later, a file of another size counts as damaged. A file of
another time is hashed again, so that a cache can be copied; with ``verify`` every file is hashed.
``.work/`` next to the datasets holds unfinished work: a lock, broken downloads, incomplete folders.
"""

import hashlib
import json
import os
import shutil
import stat
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from kmaps.data.yaml_text import read_text
from kmaps.errors import DataError, locking

STAMP = "stamp.json"
_STAMP_CHARACTERS = 1 << 28  # enough for a million files
_BAD_STAMP = (OSError, ValueError, KeyError, TypeError, AttributeError)
# Raise it when the files that a format keeps change: older folders are then written again.
LAYOUT = 1


def cache_root(data_dir: str | Path | None = None) -> Path:
    """Return the given folder of datasets, else ``KMAPS_DATA_DIR``, else the platform's cache."""
    chosen = data_dir or os.environ.get("KMAPS_DATA_DIR")
    if not chosen:
        import platformdirs

        chosen = platformdirs.user_cache_path("kmaps", appauthor=False)
    return Path(chosen).expanduser().absolute()


def work_folder(root: Path, name: str) -> Path:
    """Return the folder for the unfinished files of a dataset."""
    return root / ".work" / name


def keep(
    root: Path,
    name: str,
    digest: str | None,
    write: Callable[[Path], object],
    on_wait: Callable[[], object] = lambda: None,
    *,
    verify: bool = False,
) -> bool:
    """Make sure that the cache has a whole folder; return whether ``write(folder)`` wrote it.

    The digest identifies the content that the folder of this name must have. Where it is not known,
    any whole folder will do, and ``write`` returns the digest of what it wrote.
    """

    def is_whole() -> bool:
        with suppress(DataError):
            stamped_files(root, name, digest, verify=verify)
            return True
        return False

    if is_whole():
        return False
    with lock(root, name, on_wait):
        if is_whole():  # the process that held the lock wrote it
            return False
        _install(root, name, digest, write)
    return True


def stamped_files(
    root: Path,
    name: str,
    digest: str | None,
    damaged: dict[str, str] | None = None,
    *,
    verify: bool = False,
) -> list[str]:
    """Return the paths of a dataset's files, relative to its folder, in code-point order.

    ``damaged`` receives the path of each file that has changed since it was written, and how;
    without this mapping, the first such file is an error.
    """
    folder = root / name
    repair = repair_hint(name)
    if not folder.is_dir():
        raise DataError(f"{name} is not in {root}: run `kmaps download {name}`")
    try:
        stamp = _read_stamp(folder)
        files = stamp["files"]
        if (stamp["layout"], stamp["digest"]) != (LAYOUT, digest or stamp["digest"]):
            raise DataError(f"{folder} holds another version of {name}: {repair}")
        for path, fault in _faults(folder, files, verify):
            if damaged is None:
                raise ValueError(f"{path}: {fault}")
            damaged[path] = fault
    except _BAD_STAMP as error:
        raise DataError(f"{folder}: damaged or edited: {error}; {repair}") from error
    return sorted(files)


def stamped_digest(root: Path, name: str) -> str:
    """Return the digest of the content of a dataset in the cache."""
    stamped_files(root, name, None)
    return str(_read_stamp(root / name)["digest"])


def verified(root: Path) -> dict[str, str]:
    """Hash every file of the cache; return each folder's defects, an empty text without any."""
    defects = {}
    for folder in sorted(path.parent for path in root.glob(f"*/{STAMP}")):
        try:
            faults = _faults(folder, _read_stamp(folder)["files"], verify=True)
            defects[folder.name] = ", ".join(f"{path}: {fault}" for path, fault in faults)
        except _BAD_STAMP as error:
            defects[folder.name] = str(error)
    return defects


def _read_stamp(folder: Path) -> dict[str, Any]:
    return json.loads(read_text(folder / STAMP, _STAMP_CHARACTERS))


def _faults(folder: Path, files: dict[str, Any], verify: bool) -> Iterator[tuple[str, str]]:
    for path, record in files.items():
        fault = _fault(folder / path, verify=verify, **record)
        if fault:
            yield path, fault


def repair_hint(name: str) -> str:
    """Return how a user repairs a dataset in the cache."""
    return f"run `kmaps download {name}` to repair it"


def _fault(path: Path, size: int, mtime_ns: int, sha256: str, *, verify: bool) -> str | None:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return "is not a regular file"
        if status.st_size != size:
            return f"has {status.st_size:,} bytes, expected {size:,}"
        if (verify or status.st_mtime_ns != mtime_ns) and _sha256(path) != sha256:
            return "has changed since it was verified"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None


def _install(root: Path, name: str, digest: str | None, write: Callable[[Path], object]) -> None:
    """Put the files that ``write(folder)`` writes into the cache, whole or not at all."""
    staging = work_folder(root, name) / "staging"
    shutil.rmtree(staging, ignore_errors=True)  # a killed process left it: we hold the lock
    fresh = staging / uuid.uuid4().hex
    old = staging / uuid.uuid4().hex
    fresh.mkdir(parents=True)
    try:
        written = write(fresh)
        _write_stamp(fresh, digest or str(written))
        folder = root / name
        if folder.exists():
            folder.rename(old)
        fresh.rename(folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _write_stamp(folder: Path, digest: str) -> None:
    files = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        status = path.stat()
        files[path.relative_to(folder).as_posix()] = {
            "size": status.st_size,
            "mtime_ns": status.st_mtime_ns,
            "sha256": _sha256(path),
        }
    stamp = {"layout": LAYOUT, "digest": digest, "files": files}
    (folder / STAMP).write_text(json.dumps(stamp), "utf-8")


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def lock(root: Path, name: str, on_wait: Callable[[], object]) -> Iterator[None]:
    """Hold the lock for writing a dataset; a second process waits until the first is done.

    The system releases the lock when a process dies. ``on_wait`` is called before waiting.
    """
    work = work_folder(root, name)
    work.mkdir(parents=True, exist_ok=True)
    file_lock = FileLock(work / "lock", fallback_to_soft=False)
    try:
        with locking(work):
            file_lock.acquire(blocking=False)
    except Timeout:
        on_wait()
        file_lock.acquire()
    try:
        yield
    finally:
        file_lock.release()
