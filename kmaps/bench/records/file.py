"""The records of a run: one JSON object per line, one line per finished cell; its experiment."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kmaps.bench.records.appended import AppendedFile, content_of, is_there, whole_lines
from kmaps.bench.records.columns import COLUMNS, MORE, Record, check_record
from kmaps.bench.records.times import with_times
from kmaps.errors import InputError, NothingMeasured
from kmaps.io import atomic_file

FILE_NAME = "records.jsonl"
DEFINITION = "experiment.yaml"  # next to the records, unless the experiment comes with kmaps


def records_path(path: str | Path) -> Path:
    """Return the records file meant by ``path``: a ``.jsonl`` file, or the folder it is in."""
    path = Path(path)
    return path if path.suffix == ".jsonl" else path / FILE_NAME


def read_records(path: str | Path) -> list[Record]:
    """Read records with their times, the latest of each key, as the cells first finished."""
    path = records_path(path)
    if not is_there(path):
        raise NothingMeasured(f"{path}: has no records; `kmaps run` writes them")
    with open(path, "rb") as file:
        records, _ = _parse(content_of(file, path), path)
    if not records:
        raise NothingMeasured(f"{path}: has no finished cell yet; `kmaps run` resumes the run")
    return with_times(records, path.parent)


def _parse(content: bytes, path: Path) -> tuple[list[Record], int]:
    by_key: dict[str, Record] = {}
    n_bytes = 0
    for number, record, length in whole_lines(content, path, "a record"):
        check_record(record, f"{path}:{number}")
        more = record.pop(MORE, {})
        by_key[record["key"]] = dict.fromkeys(COLUMNS) | record | more
        n_bytes += length
    records = list(by_key.values())
    kinds = sorted({record["kind"] for record in records})
    if len(kinds) > 1:
        raise InputError(
            f"{path}: has records of several kinds ({', '.join(kinds)}): expected the records of "
            "one experiment"
        )
    return records, n_bytes


class RecordsFile(AppendedFile):
    """A records file open for appending; ``records`` are those that it held when it was opened."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(records_path(path))

    def _read(self, content: bytes) -> int:
        self.records, n_bytes = _parse(content, self.path)
        return n_bytes

    def append(self, record: Record) -> None:
        """Write one record as a line, and flush it."""
        line = {name: value for name, value in record.items() if name in COLUMNS}
        more = record.keys() - COLUMNS
        line |= {MORE: {name: record[name] for name in sorted(more)}} if more else {}
        check_record(line, f"{self.path}: a new record")
        self._write(dict.fromkeys(COLUMNS) | line)


def latest(records: Iterable[Record], keys: Iterable[str]) -> list[Record]:
    """Return the latest record of each key, in the order of the keys, leaving out missing ones."""
    by_key = {record["key"]: record for record in records}
    return [by_key[key] for key in keys if key in by_key]


def write_definition(folder: Path, content: Mapping[str, Any], base: Path | None) -> bool:
    """Keep the YAML of an experiment next to its records; return whether it is another now.

    ``base``, the folder of the files in it, is kept relative to ``folder``: both may be moved.
    """
    from kmaps.data.yaml_text import write_yaml

    folder.mkdir(parents=True, exist_ok=True)
    base_key = {} if base is None else {"base": os.path.relpath(base, folder.resolve())}
    path = folder / DEFINITION
    text = write_yaml({**content, **base_key}).encode()
    if path.is_file() and path.read_bytes() == text:
        return False
    with atomic_file(path, force=True) as file:
        file.write(text)
    return True


def definition_file(folder: str | Path) -> Path | None:
    """Return the experiment that is kept in a folder of records, None where there is none."""
    path = Path(folder) / DEFINITION
    return path if is_there(path) else None
