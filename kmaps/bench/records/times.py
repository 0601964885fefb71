"""Times measured again, several times per cell, in ``times.jsonl`` next to the records.

`kmaps run --again` writes it, one JSON object per line, one line per cell and repeat. A cell is
timed with the C of its record and, where asked for, with one C that all cells have in common.
Reading records adds the timed lines to each: ``repeats``, with the C of the record, and
``common_repeats``. The file may be deleted at any time; the records then have the times of the run
alone.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kmaps.bench.records.appended import AppendedFile, content_of, is_there, whole_lines
from kmaps.bench.records.columns import COLUMNS as OF_RECORDS
from kmaps.bench.records.columns import Record, declared, is_number
from kmaps.errors import InputError

FILE_NAME = "times.jsonl"

MOST_OTHERS = 0.1  # processors: with more busy or stolen ones, a computer is not idle
MOST_AVERAGE = 0.75  # load average per processor that earlier work may have left
CONDITIONS = ("cpu", "cores", "threads", "jobs")  # must agree for times to compare
Line = dict[str, Any]

COLUMNS = {
    line["name"]: line["meaning"] for line in declared("records/times.csv")
}  # every column of a line with its meaning


def read_times(folder: Path) -> list[Line]:
    """Return the lines of a folder; of a repeat that stands there twice, the latest line alone."""
    path = folder / FILE_NAME
    if not is_there(path):
        return []
    with open(path, "rb") as file:
        return _parse(content_of(file, path), path)[0]


def with_times(records: Sequence[Record], folder: Path) -> list[Record]:
    """Return records with the times of their repeats, at their C and at the one in common."""
    lines = read_times(folder)
    keys = {record["key"] for record in records}
    if lines and not any(line["key"] in keys for line in lines):
        raise InputError(
            f"{folder / FILE_NAME}: has times of other cells than the records next to it; "
            "delete it (`kmaps run --again` measures them again)"
        )
    by_key: dict[str, list[Line]] = {}
    for line in lines:
        by_key.setdefault(line["key"], []).append(line)
    return [_with_lines(record, by_key.get(record["key"], [])) for record in records]


def _with_lines(record: Record, lines: Sequence[Line]) -> Record:
    own = [line for line in lines if not line["common"] and line["C"] == record["C"]]
    common = [line for line in lines if line["common"]]
    record = dict(record)
    if own:
        record["repeats"] = own
    if common:
        record["common_repeats"] = common
    return record


def _parse(content: bytes, path: Path) -> tuple[list[Line], int]:
    lines: dict[tuple, Line] = {}
    n_bytes = 0
    for number, line, length in whole_lines(content, path, "a time"):
        _check(line, f"{path}:{number}")
        lines[line["key"], line["common"], line["C"], line["repeat"]] = line
        n_bytes += length
    return list(lines.values()), n_bytes


def _check(line: Any, where: str) -> None:
    if not isinstance(line, dict) or set(line) | {"bytes"} != set(COLUMNS):
        raise InputError(f"{where}: is not a time that `kmaps run --again` wrote; delete the file")
    seconds = line["seconds"]
    peaks = line.get("bytes", {})
    C = line["C"]
    fits = (
        isinstance(line["key"], str)
        and isinstance(line["repeat"], int)
        and isinstance(line["common"], bool)
        and (C is None or _is_positive(C))
        and isinstance(line["judged"], dict)
        and isinstance(seconds, dict)
        and isinstance(peaks, dict)
        and all(map(_is_positive, seconds.values()))
        and all(map(_is_positive, peaks.values()))
    )
    if not fits:
        raise InputError(f"{where}: has a value that no measurement gives; delete the file")


def _is_positive(value: Any) -> bool:
    return is_number(value) and value >= 0


def timed(record: Record) -> list[Line]:
    """Return all repeats of a record, at its own C and at the common one."""
    return [*record.get("repeats", ()), *record.get("common_repeats", ())]


def is_busy(line: Line) -> bool:
    """Return whether other work ran while a line was measured, or may have."""
    return bool(line["busy"]) or is_beside_others(line)


def is_beside_others(record: Record) -> bool:
    """Return whether other work is known to have run while a cell was measured."""
    return (record.get("other_cpus") or 0.0) + (record.get("stolen_cpus") or 0.0) > MOST_OTHERS


def ran_alone(record: Record) -> bool:
    """Return whether a cell is known to have been measured on an otherwise idle computer.

    What others did in less than half a second is not on record: then the load average counts.
    """
    if record.get("other_cpus") is not None:
        return not is_beside_others(record)
    average = record.get("load_before")
    return average is not None and average <= MOST_AVERAGE * (record.get("cores") or 1)


def without_doubtful_times(records: Iterable[Record]) -> list[Record]:
    """Return the records of a run with the times that may be published.

    These are the repeats and, where all other cells of a split ran alone, what was timed once.
    """
    records = list(records)
    untimed = {name: None for name in OF_RECORDS if name.endswith("_s")}
    busy = doubtful_splits(records)
    return [
        record if ran_alone(record) and record["split"] not in busy else record | untimed
        for record in records
    ]


def doubtful_splits(records: Iterable[Record]) -> set[int | None]:
    """Return the splits with a measured cell without repeats that ran while other programs did."""
    measured = (record for record in records if record.get("status") != "failed")
    return {cell["split"] for cell in measured if not (ran_alone(cell) or timed(cell))}


class TimesFile(AppendedFile):
    """The times of a folder, open for appending by one run at a time (context manager)."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / FILE_NAME)

    def _read(self, content: bytes) -> int:
        self.lines, n_bytes = _parse(content, self.path)
        return n_bytes

    def append(self, line: Line) -> None:
        """Write one repeat as a line, and flush it."""
        _check(line, f"{self.path}: a new time")
        self._write({name: line[name] for name in COLUMNS})


SECONDS = ("fit_s", "encode_s", "convert_s", "train_s", "predict_s", "cv_s")


@dataclass(frozen=True)
class Forecast:
    """The past costs of some cells."""

    cells: int  # the number of requested cells
    known: int  # the number of them that have a record
    seconds: float | None = None
    peak_bytes: int | None = None  # the largest memory of one cell beyond its data
    where: str = ""  # the processors and the numbers of threads


def forecast(keys: Collection[str], records: Iterable[Record]) -> Forecast:
    """Sum up the past costs of the cells of some keys, as far as they are on record."""
    wanted = set(keys)
    past = [record for record in records if record["key"] in wanted and record["status"] == "ok"]
    seconds = [record.get(name) for record in past for name in SECONDS]
    seconds = [value for value in seconds if value is not None]
    peaks = [record.get("peak_bytes") for record in past]
    peaks = [peak for peak in peaks if peak is not None]
    cpus = sorted({str(record["cpu"]) for record in past})
    threads = sorted({str(record["threads"]) for record in past})
    return Forecast(
        cells=len(wanted),
        known=len(past),
        seconds=sum(seconds) if seconds else None,
        peak_bytes=max(peaks, default=None),
        where=f"{', '.join(cpus)}, threads: {', '.join(threads)}" if past else "",
    )
