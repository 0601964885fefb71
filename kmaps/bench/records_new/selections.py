"""Selections: the few words that pick one row of a run, such as ``method=exact; kernel=chi2``."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

Record = Mapping[str, Any]
Selection = dict[str, Any]

_OF_RECORDS = ("reduction", "kernel", "method")
_OF_LEARNERS = ("solver",)
_OF_PROTOCOLS = ("range", "levels")
_SETTING = ("experiment", "dataset", "features", "normalize", "reduction", "kernel", "method")


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

    Its reduction, kernel and method; the parameters of its map, of which one called ``method``
    stands for the map's name; its solver; and of a study the range and the levels of its values.
    """
    learner, protocol = record["learner"] or {}, record["protocol"] or {}
    return {
        **{name: record[name] for name in _OF_RECORDS},
        **{name: learner[name] for name in _OF_LEARNERS if name in learner},
        **{name: protocol[name] for name in _OF_PROTOCOLS if name in protocol},
        **record["params"],
    }


def select_rows(selection: Selection, records: Iterable[Record]) -> list[list[Record]]:
    """Return the rows that a selection picks, each as its records, one a split.

    A row is a method with its parameters, learner, kernel and setting. Failed cells are left out;
    of two records of one split the later one counts.

    Examples
    --------
    >>> cell = {"status": "ok", "reduction": "ovr", "kernel": "", "method": "linear", "params": {}}
    >>> records = [cell | {"learner": {}, "protocol": {}, "split": split} for split in (0, 1)]
    >>> [len(row) for row in select_rows({"method": "linear"}, records)]
    [2]
    """
    rows: dict[str, dict[Any, Record]] = defaultdict(dict)
    for record in records:
        names = record_names(record)
        picked = all(names.get(name) == value for name, value in selection.items())
        if picked and record["status"] == "ok":
            rows[_row_key(record)][record["split"]] = record
    return [list(splits.values()) for splits in rows.values()]


def _row_key(record: Record) -> str:
    setting = [record.get(name) for name in _SETTING]
    return json.dumps([*setting, record["params"], record["learner"], record["protocol"]])
