"""Selections: the few words that pick one row of a run, such as ``method=exact; kernel=chi2``."""

import json
from collections.abc import Iterable
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


def select_rows(selection: Selection, records: Iterable[Record]) -> list[list[Record]]:
    """Return the rows that a selection picks, each as its records, one a split.

    A row here is a line of one table: under one kernel, reduction and setting. Failed cells are
    left out; of two records of one split the later one counts.

    Examples
    --------
    >>> cell = {"status": "ok", "reduction": "ovr", "kernel": "", "options": {}, "draw": None}
    >>> cell |= Row("linear").columns | dict.fromkeys(SETTING, "")
    >>> records = [cell | {"split": split} for split in (0, 1)]
    >>> [len(row) for row in select_rows({"method": "linear"}, records)]
    [2]
    """
    rows: dict[tuple, list[Record]] = {}
    for record in latest_cells(records):
        names = record_names(record)
        picked = all(names.get(name) == value for name, value in selection.items())
        if picked and record["status"] == "ok":
            key = *(record[name] for name in SETTING), record["kernel"], Row.of(record).identity
            rows.setdefault(key, []).append(record)
    return list(rows.values())
