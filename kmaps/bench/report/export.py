"""Every record as a line of one table, for other programs: CSV and Parquet."""

import io
import json
from collections.abc import Iterable
from typing import Any

import pandas as pd

from kmaps.bench.records.columns import COLUMNS, Record
from kmaps.bench.records.measures import MEASURES
from kmaps.errors import ConfigError

_TYPES = {"whole": "Int64", "truth": "boolean", "number": "Float64", "fraction": "Float64"}
_REPEATS = ("repeats", "common_repeats")

TIMED = "repeats"
"""The column next to those of records: how often the times of a cell were measured again."""


def record_table(records: Iterable[Record]) -> pd.DataFrame:
    """Return records as a table, one line each, failures included.

    Parameters
    ----------
    records : iterable of dict
        As read from ``records.jsonl``.

    Returns
    -------
    DataFrame
        The columns of :data:`kmaps.bench.records.columns.COLUMNS` in their order and in plain
        units, and ``repeats``. The types do not depend on the values: text, real numbers, whole
        numbers, and truth values; mappings and lists are JSON. A time that was
        measured again is the median of its repeats.

    Examples
    --------
    >>> record = dict.fromkeys(COLUMNS) | {"params": {"order": 2}, "accuracy": 0.9}
    >>> record_table([record])[["params", "accuracy", "repeats"]].to_dict("records")
    [{'params': '{"order": 2}', 'accuracy': 0.9, 'repeats': 0}]
    """
    records = list(records)
    more = {name for record in records for name in record} - {*COLUMNS, *_REPEATS}
    lines = [_line(record, (*COLUMNS, *sorted(more))) for record in records]
    columns = {name: [line[name] for line in lines] for name in (*COLUMNS, *sorted(more), TIMED)}
    types = {name: _TYPES.get(column.holds, "string") for name, column in COLUMNS.items()}
    types[TIMED] = "Int64"
    typed = {name: pd.array(columns[name], dtype=of) for name, of in types.items()}
    return pd.DataFrame(columns | typed)


def as_csv(records: Iterable[Record]) -> bytes:
    """Return the table of records as CSV; what is null is empty."""
    return record_table(records).to_csv(index=False, lineterminator="\n").encode()


def as_parquet(records: Iterable[Record]) -> bytes:
    """Return the table of records as a Parquet file.

    Raises
    ------
    ConfigError
        When pyarrow, of the extra ``parquet``, is not installed.
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ConfigError(
            "parquet: needs pyarrow, which is not installed: pip install pyarrow"
        ) from None
    file = io.BytesIO()
    record_table(records).to_parquet(file, engine="pyarrow", index=False)
    return file.getvalue()


def _line(record: Record, names: Iterable[str]) -> dict[str, Any]:
    line = {name: _plain(record.get(name)) for name in names}
    repeats = record.get("repeats", [])
    for measure in MEASURES.values():
        if measure.unit == "s" and len(measure.columns) == 1 and measure.repeats(record):
            line[measure.columns[0]] = measure.value(record)
    return {**line, TIMED: len(repeats)}


def _plain(value: Any) -> Any:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value
