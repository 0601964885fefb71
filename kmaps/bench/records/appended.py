"""Files of one JSON object a line, to which one run at a time appends.

A line is written whole, flushed and synced before what it says counts as done, so a run that is
killed loses at most a half-written last line, which is ignored on reading and cut before appending.
"""

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout

from kmaps.errors import ConfigError, InputError


def whole_lines(content: bytes, path: Path, what: str) -> Iterator[tuple[int, Any, int]]:
    """Yield the number, the object and the length in bytes of every whole line."""
    lines = content.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        try:
            found = json.loads(line)
        except ValueError:
            if number == len(lines) and not line.endswith(b"\n"):
                return
            raise InputError(f"{path}:{number}: not {what} (one JSON object a line)") from None
        yield number, found, len(line)


class AppendedFile(ABC):
    """A file of lines open for appending by one run at a time (context manager)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held = FileLock(path.with_name(f".{path.name}.lock"))

    @abstractmethod
    def _read(self, content: bytes) -> int:
        """Take what the file held when it was opened; return the length of its whole lines."""

    def __enter__(self) -> Self:
        self._made = [folder for folder in self.path.parents if not folder.exists()]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            self._lock()
            opened.callback(self._unlock)
            self._file = opened.enter_context(open(self.path, "a+b"))
            self._file.seek(0)
            content = self._file.read()
            whole = self._read(content)
            self._file.truncate(whole)
            if content[:whole] and not content[:whole].endswith(b"\n"):
                self._file.write(b"\n")
            self._opened = opened.pop_all()
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        with self._opened:
            if self._file.seek(0, 2) == 0:  # nothing to keep, as when the data are missing
                self._file.close()
                self.path.unlink(missing_ok=True)
            elif kind is None:
                self._check_in_place()
        for folder in self._made:
            with suppress(OSError):  # a file is in it
                folder.rmdir()

    def _lock(self) -> None:
        # The system drops the lock with the process, however it ends.
        try:
            self._held.acquire(blocking=False)
        except Timeout:
            raise ConfigError(
                f"{self.path}: another run is writing it; wait for it or choose another folder"
            ) from None

    def _unlock(self) -> None:
        # Deleted while it is held: others that have it open see that it is gone.
        with suppress(OSError):
            os.unlink(self._held.lock_file)
        self._held.release()

    def _write(self, line: Mapping[str, Any]) -> None:
        """Write one line and do not return before it is on the disk."""
        self._file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._check_in_place()

    def _check_in_place(self) -> None:
        """Refuse to go on when the file that is written is no longer the one of that name."""
        try:
            there = os.path.samestat(os.stat(self.path), os.fstat(self._file.fileno()))
        except OSError:
            there = False
        if not there:
            raise InputError(
                f"{self.path}: was deleted or replaced while the run wrote it, and what was "
                "measured is lost; leave it alone and run again"
            )
