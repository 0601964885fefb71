"""Selections: the few words that pick one row of a run, such as ``method=exact; kernel=chi2``."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kmaps.bench.records.columns import Record
from kmaps.bench.records.row import Row
from kmaps.bench.records.summary import SETTING, latest_cells

Selection = dict[str, Any]

_OF_RECORDS = ("reduction", "kernel")
_OF_OPTIONS = ("range", "levels")


def parse_selection(text: str) -> Selection:
    """Return the selection that a text such as ``method=anchor; n_anchors=30`` means.

    Raises
    ------
    ValueError
        When a part is not ``name=value``, or a name stands twice.

    Examples
    --------
    >>> parse_selection("method=lowdim; dim=5; optimal=false; range=0:127")
    {'method': 'lowdim', 'dim': 5, 'optimal': False, 'range': '0:127'}
    """
    selection: Selection = {}
    for part in text.split(";"):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise ValueError(f"{part.strip()!r} in {text!r}: expected name=value")
        if name in selection:
            raise ValueError(f"{text!r}: {name} stands twice")
        selection[name] = _value(value)
    return selection


def _value(text: str) -> Any:
    try:
        return json.loads(text)  # numbers, true, false
    except ValueError:
        return text


def record_names(record: Record) -> Selection:
    """Return what a selection can name of a record.

    Its reduction and kernel, :attr:`~kmaps.bench.records.row.Row.names`, and of a study the range
    and the levels of its values.
    """
    options = record["options"]
    return {
        **{name: record[name] for name in _OF_RECORDS},
        **{name: options[name] for name in _OF_OPTIONS if name in options},
        **Row.of(record).names,
    }


@dataclass(frozen=True, eq=False)
class MeasuredRow:
    """A line of one table: under one kernel, reduction and setting.

    Parameters
    ----------
    names : dict
        What a selection can name of it, see :func:`record_names`.
    records : list of mapping
        Its records, one a split.
    """

    names: Selection
    records: list[Record]


def measured_rows(records: Iterable[Record]) -> list[MeasuredRow]:
    """Return the rows of a run, in the order of the records.

    Failed cells are left out; of two records of one split the later one counts.
    """
    rows: dict[tuple, MeasuredRow] = {}
    for record in latest_cells(records):
        if record["status"] == "ok":
            key = *(record[name] for name in SETTING), record["kernel"], Row.of(record).identity
            if key not in rows:
                rows[key] = MeasuredRow(record_names(record), [])
            rows[key].records.append(record)
    return list(rows.values())


def select_rows(selection: Selection, rows: Iterable[MeasuredRow]) -> list[MeasuredRow]:
    """Return the rows that have all that a selection names.

    Examples
    --------
    >>> cell = {"status": "ok", "reduction": "ovr", "kernel": "", "options": {}, "draw": None}
    >>> cell |= Row("linear").columns | dict.fromkeys(SETTING, "")
    >>> rows = measured_rows(cell | {"split": split} for split in (0, 1))
    >>> [len(row.records) for row in select_rows({"method": "linear"}, rows)]
    [2]
    """
    return [
        row
        for row in rows
        if all(row.names.get(name) == value for name, value in selection.items())
    ]
