"""Records summed up: each measure of each row and kernel, as mean, std and n over the splits."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

import numpy as np

from kmaps.bench.records.columns import WARNED, Record, is_number, warned
from kmaps.bench.records.lines import is_redrawn
from kmaps.bench.records.measures import MEASURES, Measure, check_measures
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import REFERENCES, Row
from kmaps.bench.records.times import CONDITIONS, doubtful_splits, is_busy, ran_alone, timed
from kmaps.errors import NothingMeasured
from kmaps.kernels import EXP_KERNELS, KERNELS

SETTING = ("experiment", "setting", "dataset", "features", "normalize", "reduction")
"""Record columns that separate tables: cells that differ in one of them never share a column."""

REPEATED = ("median", "q1", "q3", "repeats", "unlike", "busy")
"""Statistics of what was timed again, over all repeats of all splits and draws."""

LINE_IDENTITY = (*SETTING, "label", "kernel")
"""What distinguishes a line of one measure from others."""

LINE = (*SETTING, "label", "method", "params", "solver", "learner", "size", "kernel")
STATISTICS = ("measure", "unit", "mean", "std", "n", "failed", "over", "form", *REPEATED, *WARNED)


def latest_cells(records: Iterable[Record]) -> list[Record]:
    """Return the last record of each cell: one that was retried has several."""
    by_cell = {(*_line_of(record), record["split"], record["draw"]): record for record in records}
    return list(by_cell.values())


def _line_of(record: Record) -> tuple[str, ...]:
    return (*(record[name] for name in SETTING), Row.of(record).identity, record["kernel"])


Line = dict[str, Any]


def summarize(records: Iterable[Record], measures: Sequence[str]) -> list[Line]:
    """Aggregate records over splits and draws: one line per row, kernel and measure.

    ``std`` is the sample standard deviation, None for one split; ``n`` and ``failed`` count cells.
    Sorted as printed: references first, then methods by name and parameters by value.
    """
    cells = latest_cells(records)
    columns = {name for cell in cells for name, value in cell.items() if is_number(value)}
    check_measures(measures, columns)
    if not cells:
        raise NothingMeasured("no record to show: the run has not finished a cell yet")
    labels, _ = short_labels(map(Row.of, cells))
    groups: dict[tuple[str, ...], list[Record]] = {}
    for cell in cells:
        groups.setdefault(_line_of(cell), []).append(cell)
    ordered = sorted(groups.values(), key=_order)
    doubtful = doubtful_splits(cells)
    lines = [
        _identity(group[0], labels) | _statistics(group, name, doubtful)
        for group in ordered
        for name in measures
    ]
    measure_order = list(dict.fromkeys([*MEASURES, *measures]))
    lines.sort(key=lambda line: ([line[c] for c in SETTING], measure_order.index(line["measure"])))
    return [{name: line[name] for name in (*LINE, *STATISTICS)} for line in lines]


def cells_by_line(records: Iterable[Record]) -> dict[tuple[Any, ...], list[Record]]:
    """Return the latest record of each cell, by the :data:`LINE_IDENTITY` of its line."""
    cells = latest_cells(records)
    labels, _ = short_labels(map(Row.of, cells))
    by_line: dict[tuple[Any, ...], list[Record]] = {}
    for cell in cells:
        identity = _identity(cell, labels)
        by_line.setdefault(tuple(identity[name] for name in LINE_IDENTITY), []).append(cell)
    return by_line


def _identity(record: Record, labels: Mapping[str, str]) -> dict[str, Any]:
    row = Row.of(record)
    columns = {name: record[name] for name in (*SETTING, "kernel")}
    as_text = {name: json.dumps(record[name], sort_keys=True) for name in ("params", "learner")}
    return {**columns, **row.columns, **as_text, "label": labels[row.identity]}


def _statistics(
    group: Sequence[Record], name: str, doubtful: Collection[int | None]
) -> dict[str, Any]:
    ok = [MEASURES[name].value(record) for record in group if record["status"] == "ok"]
    values = [value for value in ok if value is not None]
    drawn = any(record["draw"] is not None for record in group)
    redrawn = is_redrawn(drawn, [record["split"] for record in group])

    warnings = {warning for record in group for warning in warned(record)}
    form = MEASURES[name].form
    forms = {record[form] for record in group if record[form]} if form else set()
    over = ""
    if redrawn:
        over = "draws"
    elif any(record["split"] is not None for record in group):
        over = "splits"
    return {
        "measure": name,
        "unit": MEASURES[name].unit,
        "mean": fmean(values) if values else None,
        "std": stdev(values) if len(values) > 1 else None,
        "n": len(values),
        "failed": sum(record["status"] != "ok" for record in group),
        "over": over,
        "form": ", ".join(sorted(forms)),
        **_repeated(group, MEASURES[name], doubtful),
        **{warning: warning in warnings for warning in WARNED},
    }


def _repeated(
    group: Sequence[Record], measure: Measure, doubtful: Collection[int | None]
) -> dict[str, Any]:
    """Return the statistics of repeated measurements, empty where there are none.

    Times that were taken once are busy where pages leave them out: in doubtful splits too.
    """
    repeats = [measure.repeats(record) for record in group]
    values = [value for of_record in repeats for value in of_record]
    if not values:
        busy = measure.unit == "s" and any(
            not ran_alone(record) or record["split"] in doubtful for record in group
        )
        return dict.fromkeys(REPEATED) | {"repeats": 0, "unlike": False, "busy": busy}
    lines = [line for record in group for line in measure.lines(record)]
    q1, middle, q3 = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    return {
        "median": middle,
        "q1": q1,
        "q3": q3,
        "repeats": max(map(len, repeats)),
        "unlike": bool(mixed_conditions(lines)),
        "busy": any(map(is_busy, lines)),
    }


def _order(group: Sequence[Record]) -> tuple:
    row = Row.of(group[0])
    return (
        REFERENCES.index(row.method) if row.method in REFERENCES else len(REFERENCES),
        row.method,
        _natural(row.label),
        row.identity,
        kernel_order(group[0]["kernel"]),
    )


def kernel_order(kernel: str) -> tuple[int, str]:
    """Sort key of a kernel: none first, then as in the registry, then unknown ones by name."""
    kernels = ["", *KERNELS, *EXP_KERNELS]
    return kernels.index(kernel) if kernel in kernels else len(kernels), kernel


def _natural(text: str) -> list:
    # Sorted by value, so that order=2 comes before order=10.
    pieces = re.split(r"(\d+(?:\.\d+)?)", text)
    return [float(piece) if i % 2 else piece for i, piece in enumerate(pieces)]


def mixed_conditions(records: Iterable[Record]) -> list[str]:
    """Return the names of the conditions that differ; after `kmaps run --again`, of its repeats."""
    lines = [line for record in records for line in timed(record) or [record]]
    mixed = []
    for name in CONDITIONS:
        values = {line.get(name) for line in lines}
        if len(values) > 1:
            mixed.append(name)
    return mixed


def times_warning(records: Iterable[Record], measures: Iterable[str]) -> str:
    """Return a warning where measures are times that do not compare, else nothing."""
    timed_any = any(MEASURES[name].unit == "s" for name in measures)
    mixed = mixed_conditions(records) if timed_any else []
    return f"times are not comparable: records differ in {', '.join(mixed)}" if mixed else ""
