"""Files of one JSON object per line, to which one run at a time appends.

A line is written whole, flushed and synced before what it says counts as done, so a run that is
killed loses at most a half-written last line, which is ignored on reading and cut before appending.
"""

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, BinaryIO, Self

from filelock import FileLock, Timeout

from kmaps.errors import ConfigError, InputError, locking
from kmaps.io import naming_full_disks

MOST_BYTES = 1 << 30  # of a whole file; a run of 100,000 cells has a quarter of this
_DEEPEST = 50  # nested lists and mappings; records have three
_MAY_BE_SURROGATE = re.compile(rb"\\u[dD]")


def is_there(path: Path) -> bool:
    """Return whether there is a file; refuse a pipe, which would wait, or a device or a folder."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is a device or a pipe, or a folder; expected a file: delete it")
    return path.is_file()


def content_of(file: BinaryIO, path: Path) -> bytes:
    """Return the content of an open file; refuse a file that is larger than any run writes."""
    size = os.fstat(file.fileno()).st_size
    if size > MOST_BYTES:
        raise InputError(f"{path}: has {size:,} bytes, at most {MOST_BYTES:,} are read")
    file.seek(0)
    return file.read(MOST_BYTES)


def parsed(text: bytes) -> Any:
    """Return the value of a JSON text; a lone surrogate, which is no text, becomes ``?``.

    ValueError for text that is no JSON, or so deep that reading it would exceed Python's limit.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("too deep") from None
    if text.count(b"[") + text.count(b"{") > _DEEPEST and _depth(value) > _DEEPEST:
        raise ValueError("too deep")
    if _MAY_BE_SURROGATE.search(text):
        value = json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
    return value


def _depth(value: Any) -> int:
    """Return how deep lists and mappings are nested in a value; 1 for a value that is neither."""
    depth = 0
    level = [value]
    while level:
        children: list[Any] = []
        for parent in level:
            if isinstance(parent, dict):
                children += parent.values()
            elif isinstance(parent, list):
                children += parent
        depth += 1
        level = children
    return depth


def whole_lines(content: bytes, path: Path, what: str) -> Iterator[tuple[int, Any, int]]:
    """Yield the number, the object and the length in bytes of every whole line."""
    lines = content.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        try:
            value = parsed(line)
        except ValueError:
            if number == len(lines) and not line.endswith(b"\n"):
                return
            raise InputError(f"{path}:{number}: is not {what} (one JSON object per line)") from None
        yield number, value, len(line)


class AppendedFile(ABC):
    """A file of lines open for appending by one run at a time (context manager)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held = FileLock(path.with_name(f".{path.name}.lock"), fallback_to_soft=False)

    @abstractmethod
    def _read(self, content: bytes) -> int:
        """Read the content that the file had at opening; return the length of whole lines."""

    def __enter__(self) -> Self:
        is_there(self.path)
        self._made = [folder for folder in self.path.parents if not folder.exists()]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            self._lock()
            opened.callback(self._unlock)
            self._file = opened.enter_context(open(self.path, "a+b"))
            content = content_of(self._file, self.path)
            n_bytes = self._read(content)
            self._file.truncate(n_bytes)
            if content[:n_bytes] and not content[:n_bytes].endswith(b"\n"):
                self._file.write(b"\n")
            self._opened = opened.pop_all()
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        with self._opened:
            if self._file.seek(0, 2) == 0:  # delete an empty file, for example after missing data
                self._file.close()
                self.path.unlink(missing_ok=True)
            elif kind is None:
                self._check_in_place()
        self._drop_folders()

    def _drop_folders(self) -> None:
        for folder in self._made:
            with suppress(OSError):  # the folder is not empty
                folder.rmdir()

    def _lock(self) -> None:
        # The system releases the lock when the process ends, in any way.
        try:
            with locking(self.path):
                self._held.acquire(blocking=False)
        except Timeout:
            raise ConfigError(
                f"{self.path}: another run writes it now; wait for it or choose another folder"
            ) from None
        except ConfigError:  # the file system has no locks
            Path(self._held.lock_file).unlink(missing_ok=True)
            self._drop_folders()
            raise

    def _unlock(self) -> None:
        # Delete it while it is held, so that others who have opened it notice.
        with suppress(OSError):
            os.unlink(self._held.lock_file)
        self._held.release()

    def _write(self, line: Mapping[str, Any]) -> None:
        """Write one line and do not return before it is on the disk."""
        with naming_full_disks(self.path):
            self._file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        self._check_in_place()

    def _check_in_place(self) -> None:
        """Refuse to go on when the file that is written is no longer the one of that name."""
        try:
            is_in_place = os.path.samestat(os.stat(self.path), os.fstat(self._file.fileno()))
        except OSError:
            is_in_place = False
        if not is_in_place:
            raise InputError(
                f"{self.path}: was deleted or replaced while the run wrote it, and measured cells "
                "are lost; leave the file alone and run again"
            )
