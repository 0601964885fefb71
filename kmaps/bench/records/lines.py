"""The lines of a run, and which two of them a claim compares.

A line is a row under one reduction and kernel, with its records split by split and draw by draw.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kmaps.bench.records.columns import Record
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import Row

Place = tuple[int | None, int | None]  # the numbers of a split and of a draw
Pair = tuple[Record, Record]


def row_names(record: Record) -> dict[str, Any]:
    """Return what a selection can name of a record: :attr:`Row.names`, and more on ranges.

    There also the ``range`` and ``dim``, the outputs (those asked for, where that is a parameter):
    rows are compared on the same range and at the same number of outputs, unless a selection names
    them. On pairs of samples the ``columns``, so many of the features, likewise.
    """
    names = Row.of(record).names
    if "range" in record["options"]:
        return {"dim": record["dim"], **names, "range": record["options"]["range"]}
    if "columns" in record["options"]:
        return {**names, "columns": record["options"]["columns"]}
    return names


@dataclass(frozen=True)
class Line:
    """A row under one reduction and kernel, with its label and what selections can name of it."""

    reduction: str
    kernel: str
    label: str
    names: tuple[tuple[str, Any], ...]

    def is_picked(self, selection: Mapping[str, Any]) -> bool:
        """Return whether the line has all that a selection names."""
        names = {"kernel": self.kernel, **dict(self.names)}
        return all(names.get(name) == value for name, value in selection.items())


Lines = dict[Line, dict[Place, Record]]


def lines_of(records: Iterable[Record]) -> Lines:
    """Return the measured records line by line."""
    measured = [record for record in records if record["status"] == "ok"]
    labels, _ = short_labels(map(Row.of, measured))
    lines: Lines = defaultdict(dict)
    for record in measured:
        names = row_names(record)
        label = labels[Row.of(record).identity]
        label += f" ({names['range']})" if "range" in names else ""
        label += f" ({names['columns']} features)" if names.get("columns") else ""
        line = Line(record["reduction"], record["kernel"], label, tuple(names.items()))
        lines[line][record["split"], record["draw"]] = record
    return lines


def where(left: Line, right: Line, against: str | None = None) -> str:
    """Name the comparison of two lines, or of one with another measure of its own."""
    if against:
        words = left.reduction, left.kernel, left.label, "against its", MEASURES[against].title
        return " ".join(filter(None, words))
    differ = "" not in (left.kernel, right.kernel) and left.kernel != right.kernel
    kernel = left.kernel or right.kernel
    other = f"{right.kernel} {right.label}" if differ else right.label
    words = left.reduction, kernel, left.label, "against", other
    return " ".join(filter(None, words))


def compared_lines(
    lines: Iterable[Line],
    left_selection: Mapping[str, Any],
    right_selection: Mapping[str, Any],
    *,
    same: bool = False,
) -> Iterator[tuple[Line, Line]]:
    """Yield the pairs of lines that two selections pick.

    They are of one reduction and of one kernel, unless a selection names the kernel; a line without
    a kernel, the linear one, stands beside every kernel. The parameters that neither selection
    names agree. With ``same`` each line stands beside itself alone, where both pick it.
    """
    named = (left_selection.keys() | right_selection.keys()) - {"method"}
    lines = list(lines)
    for left in lines:
        for right in lines:
            kernels = left.kernel, right.kernel
            beside = "" in kernels or left.kernel == right.kernel or "kernel" in named
            if (
                left.reduction == right.reduction
                and beside
                and (left == right) == same
                and left.is_picked(left_selection)
                and right.is_picked(right_selection)
                and _others_agree(dict(left.names), dict(right.names), named | {"method"})
            ):
                yield left, right


def _others_agree(left: dict, right: dict, named: set[str]) -> bool:
    common = (left.keys() & right.keys()) - named
    return all(left[name] == right[name] for name in common)


def side_by_side(left: Mapping[Place, Record], right: Mapping[Place, Record]) -> list[Pair]:
    """Return the records of two lines cell by cell.

    What has no draws, the exact kernel of a trade-off, stands beside every draw.
    """
    places = left.keys() | right.keys()
    drawn = {split for split, draw in places if draw is not None}
    pairs = []
    for split, draw in sorted(places, key=str):
        if draw is not None or split not in drawn:
            found = [line.get((split, draw), line.get((split, None))) for line in (left, right)]
            if None not in found:
                pairs.append((found[0], found[1]))
    return pairs
