"""The records of a run: one JSON object per line, one line per finished cell.

A line is written whole, flushed and synced before the next cell counts as finished, so a run that
is killed loses at most a half-written last line, which is ignored on reading and cut before
appending.
"""

import fcntl
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from kmaps.bench.records.columns import ADDED, COLUMNS, Record, check_record
from kmaps.errors import ConfigError, InputError, NothingMeasured

FILE_NAME = "records.jsonl"


def records_path(path: str | Path) -> Path:
    """Return the records file meant by ``path``: a ``.jsonl`` file, or the folder it is in."""
    path = Path(path)
    return path if path.suffix == ".jsonl" else path / FILE_NAME


def read_records(path: str | Path) -> list[Record]:
    """Read records, the latest of each key, in the order the cells first finished.

    Parameters
    ----------
    path : str or Path
        A records file or the folder it is in.

    Returns
    -------
    list of dict
        With the columns of :data:`COLUMNS`.

    Raises
    ------
    NothingMeasured
        When there is no such file, or no record in it.
    InputError
        When a line other than a half-written last one is not a record, or the records are of
        several kinds.
    ConfigError
        When they have an older or a newer format.
    """
    path = records_path(path)
    if not path.is_file():
        raise NothingMeasured(f"{path}: no records there; `kmaps run` writes them")
    records, _ = _parse(path.read_bytes(), path)
    if not records:
        raise NothingMeasured(f"{path}: no finished cell yet; `kmaps run` resumes the run")
    return records


def _parse(content: bytes, path: Path) -> tuple[list[Record], int]:
    """Return the records and the length in bytes of the whole lines."""
    by_key: dict[str, Record] = {}
    whole = 0
    lines = content.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except ValueError:
            if number == len(lines) and not line.endswith(b"\n"):
                break
            raise InputError(f"{path}:{number}: not a record (one JSON object a line)") from None
        if isinstance(record, dict):
            record |= {name: None for name in ADDED if name not in record}
        check_record(record, f"{path}:{number}")
        by_key[record["key"]] = record
        whole += len(line)
    records = list(by_key.values())
    kinds = sorted({record["kind"] for record in records})
    if len(kinds) > 1:
        raise InputError(
            f"{path}: records of several kinds ({', '.join(kinds)}): one folder holds the records "
            "of one experiment"
        )
    return records, whole


class RecordsFile:
    """A records file open for appending by one run at a time (context manager).

    Parameters
    ----------
    path : str or Path
        The file, or its folder; both are made when missing.

    Attributes
    ----------
    records : list of dict
        What it held when it was opened.

    Raises
    ------
    ConfigError
        On opening, when another run has the file open.
    InputError
        On opening, when a line in it is not a record, or they are of several kinds; later, when
        somebody has deleted or replaced the file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = records_path(path)

    def __enter__(self) -> "RecordsFile":
        self._made = [folder for folder in self.path.parents if not folder.exists()]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(self.path, "a+b")
        try:
            self._lock()
            self._file.seek(0)
            content = self._file.read()
            self.records, whole = _parse(content, self.path)
            self._file.truncate(whole)
            if content[:whole] and not content[:whole].endswith(b"\n"):
                self._file.write(b"\n")
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        if self._file.seek(0, 2) == 0:  # nothing to keep, as when the data are missing
            self.path.unlink(missing_ok=True)
            for folder in self._made:
                with suppress(OSError):  # somebody else's file is in it
                    folder.rmdir()
        elif kind is None:
            self._check_in_place()
        self._file.close()

    def _lock(self) -> None:
        # The kernel drops the lock with the process, however it ends: no stale lock files.
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"{self.path}: another run is writing it; wait for it or choose another folder"
            ) from None

    def append(self, record: Record) -> None:
        """Write one record and do not return before it is on the disk."""
        check_record(record, f"{self.path}: a new record")
        ordered = {name: record[name] for name in COLUMNS}
        self._file.write(json.dumps(ordered, allow_nan=False).encode() + b"\n")
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


def latest(records: Iterable[Record], keys: Iterable[str]) -> list[Record]:
    """Return the latest record of each key, in the order of the keys, leaving out missing ones."""
    by_key = {record["key"]: record for record in records}
    return [by_key[key] for key in keys if key in by_key]
