"""Every record as a line of one table, for other programs: CSV and Parquet."""

import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from kmaps.bench.records.columns import COLUMNS, Record
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.summary import Line
from kmaps.bench.report.forms import csv_text
from kmaps.errors import ConfigError

_TYPES = {"whole": "Int64", "truth": "boolean", "number": "Float64", "fraction": "Float64"}
_REPEATS = ("repeats", "common_repeats")

TIMED = "repeats"
"""A column in addition to the records': how often the times of a cell were measured again."""


def record_table(records: Iterable[Record]) -> pd.DataFrame:
    """Return records as a table, one line each, failures included, with the number of repeats.

    Mappings and lists are JSON. A time that was measured again is the median of its repeats.
    """
    records = list(records)
    names_in_records = {name for record in records for name in record}
    names = [*COLUMNS, *sorted(names_in_records - {*COLUMNS, *_REPEATS})]
    lines = [_line(record, names) for record in records]
    columns = {}
    for name in (*names, TIMED):
        columns[name] = [line[name] for line in lines]
    types = {name: _TYPES.get(column.holds, "string") for name, column in COLUMNS.items()}
    types[TIMED] = "Int64"
    typed = {name: pd.array(columns[name], dtype=dtype) for name, dtype in types.items()}
    return pd.DataFrame(columns | typed)


def summary_table(lines: Sequence[Line]) -> pd.DataFrame:
    """Return the lines of :func:`kmaps.bench.records.summary.summarize` as a table."""
    numbers = dict.fromkeys(("mean", "std", "median", "q1", "q3"), float)
    return pd.DataFrame(lines).astype({"size": "Int64", **numbers})


def as_csv(records: Iterable[Record]) -> bytes:
    """Return the table of records as CSV, where null is empty."""
    return csv_of(record_table(records)).encode()


def csv_of(table: pd.DataFrame) -> str:
    """Return a table as CSV in which no spreadsheet takes a text for a formula."""
    safe_columns = {}
    for name, column in table.select_dtypes(["object", "string"]).items():
        safe_columns[name] = [
            csv_text(value) if isinstance(value, str) else value for value in column
        ]
    return table.assign(**safe_columns).to_csv(index=False, lineterminator="\n")


def as_parquet(records: Iterable[Record]) -> bytes:
    """Return the table of records as Parquet; a ConfigError says that pyarrow is missing."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ConfigError(
            "parquet needs pyarrow, which is not installed: pip install pyarrow"
        ) from None
    file = io.BytesIO()
    record_table(records).to_parquet(file, engine="pyarrow", index=False)
    return file.getvalue()


def _line(record: Record, names: Iterable[str]) -> dict[str, Any]:
    line = {name: record.get(name) for name in names}
    for name, value in line.items():
        if isinstance(value, dict | list):
            line[name] = json.dumps(value, sort_keys=True)
    repeats = record.get("repeats", [])
    for measure in MEASURES.values():
        if measure.unit == "s" and len(measure.columns) == 1 and measure.repeats(record):
            line[measure.columns[0]] = measure.value(record)
    return {**line, TIMED: len(repeats)}
