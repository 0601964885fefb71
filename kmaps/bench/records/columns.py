"""The columns of a record: a cell's identity, its conditions, and its results."""

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, TypeGuard

from kmaps.bench.records.row import Row
from kmaps.errors import ConfigError, InputError

Record = dict[str, Any]

FORMAT = 2  # the format of records; a file of another one is refused


@dataclass(frozen=True)
class Column:
    """The meaning and the type of a column of records."""

    meaning: str
    holds: str  # the type of its values, a key of _FITTING
    later: bool = False  # whether older records of this format lack it
    condition: str = ""  # its name in messages, if two measurements compare only when it agrees


def declared(name: str) -> list[dict[str, Any]]:
    """Return the lines of a table among the files of kmaps.bench."""
    with (files("kmaps.bench") / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


COLUMNS = {
    line["name"]: Column(line["meaning"], line["holds"], bool(line["later"]), line["condition"])
    for line in declared("records/columns.csv")
}
"""Every column, in order. Times in seconds, sizes in bytes, null where not measured."""

PICKLED = "pickled"  # stands in ``storage_form`` for a third-party estimator
LATER = frozenset(name for name, column in COLUMNS.items() if column.later)  # null in older records
_LONGEST = 60  # characters of a value in a message

MORE = "more"  # the key in the file for additional measurements of a kind, by their names


def check_record(record: Any, where: str) -> None:
    """Refuse other than records of this format, and values that no measurement gives."""
    if not isinstance(record, dict) or "key" not in record:
        raise InputError(f"{where}: is not a record (one JSON object per line)")
    record_format = record.get("format", 1)
    if record_format != FORMAT:
        remedy = (
            "it was written by a newer kmaps: update kmaps"
            if isinstance(record_format, int) and record_format > FORMAT
            else "measure again, into another folder (kmaps run NAME --out FOLDER)"
        )
        raise ConfigError(
            f"{where}: has a record of format {record_format!r}, "
            f"this kmaps reads format {FORMAT}; {remedy}"
        )
    odd = sorted((record.keys() - {MORE} | LATER) ^ COLUMNS.keys())
    if odd:
        shown = ", ".join(name if name.isprintable() else repr(name) for name in odd)
        raise InputError(f"{where}: has missing or unknown columns: {shown}")
    for name, column in COLUMNS.items():
        fits, expected = _FITTING[column.holds]
        if not fits(record.get(name)):
            raise InputError(f"{where}: {name} is {_shown(record[name])}, expected {expected}")
    _check_more(record.get(MORE, {}), where)
    if record["status"] not in ("ok", "failed"):
        raise InputError(f"{where}: status is {record['status']!r}, expected ok or failed")


def _check_more(more: Any, where: str) -> None:
    if not isinstance(more, dict):
        raise InputError(f"{where}: {MORE} is {_shown(more)}, expected a mapping")
    for name, value in more.items():
        if not name.isidentifier() or name in COLUMNS:
            raise InputError(f"{where}: {name!r} in {MORE}: expected the name of no other column")
        if not (value is None or isinstance(value, str | bool) or is_number(value)):
            expected = "a finite number, text or null"
            raise InputError(f"{where}: {name} is {_shown(value)}, expected {expected}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_LARGEST = 1e100  # because numbers are squared and summed


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a finite number that can be squared and summed."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and -_LARGEST <= value <= _LARGEST
    )


def _is_whole(value: Any) -> bool:
    return is_number(value) and value == int(value) and abs(value) < 2**63


def _are_numbers(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(is_number, value))


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)


_FITTING: dict[str, tuple[Callable[[Any], bool], str]] = {
    "text": (lambda value: isinstance(value, str), "text"),
    "words": (lambda v: v is None or isinstance(v, str), "text or null"),
    "texts": (lambda v: v is None or _are_texts(v), "a list of texts or null"),
    "grid": (
        lambda v: v is None or isinstance(v, str) or _are_numbers(v),
        "a list of finite numbers, text or null",
    ),
    "mapping": (lambda value: isinstance(value, dict), "a mapping"),
    "chosen": (lambda v: v is None or isinstance(v, dict), "a mapping or null"),
    "number": (lambda v: v is None or is_number(v), "a finite number, up to 1e100, or null"),
    "whole": (lambda v: v is None or _is_whole(v), "a whole number or null"),
    "truth": (lambda v: v is None or isinstance(v, bool), "true, false or null"),
    "numbers": (lambda v: v is None or _are_numbers(v), "a list of finite numbers or null"),
    "fraction": (lambda v: v is None or (is_number(v) and 0 <= v <= 1), "a number from 0 to 1"),
}
"""Whether a value is what a column holds, and that in words."""


def cell_name(record: Mapping[str, Any]) -> str:
    """Return a record's cell in words, such as ``split 0 ovo chi2 homogeneous order=2``."""
    split = None if record["split"] is None else f"split {record['split']}"
    draw = None if record["draw"] is None else f"draw {record['draw']}"
    words = [
        record["setting"],
        split,
        draw,
        record["reduction"],
        record["kernel"],
        Row.of(record).label,
    ]
    return " ".join(filter(None, words))


WARNED = {  # warnings in words
    "stopped": "the solver stopped at its limit of passes",
    "clamped": "values outside the range fitted on were clamped to it",
    "skipped": "images that cannot be used were left out",
}

_SHOWN_BY = {"stopped": "ConvergenceWarning: ", "clamped": "were clamped to it"}


def warned(record: Mapping[str, Any]) -> list[str]:
    """Return the keys of :data:`WARNED` that a record warns of."""
    messages = record.get("warnings") or ()
    keys = []
    for name, words in _SHOWN_BY.items():
        if any(words in message for message in messages):
            keys.append(name)
    if record.get("n_skipped"):
        keys.append("skipped")
    return keys
