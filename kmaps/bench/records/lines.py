"""The lines of a run, which two of them a claim compares, and where C is at the edge of its grid.

A line is a row under one reduction and kernel, with its records split by split and draw by draw.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kmaps.bench.records.columns import Record
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import Row

Place = tuple[int | None, int | None]  # the numbers of a split and of a draw
Pair = tuple[Record, Record]


def row_names(record: Record) -> dict[str, Any]:
    """Return the names by which selections pick a record: :attr:`Row.names`, and more in a study.

    Of ranges also the ``range``, its ``levels`` and the outputs, of pairs of samples the
    ``columns``: rows are compared where all of these agree, unless a selection names them.
    """
    names = Row.of(record).names
    options = record["options"]
    if "range" in options:
        names = {"dim": record["dim"], **names}
    for name in _OF_STUDIES:
        if name in options:
            names[name] = options[name]
    return names


_OF_STUDIES = ("range", "levels", "columns")


@dataclass(frozen=True)
class Line:
    """A row under one reduction and kernel, with the names by which selections pick it."""

    setting: str
    reduction: str
    kernel: str
    identity: str  # the identity of the row, with its names
    names: Mapping[str, Any] = field(compare=False)
    row: Row = field(compare=False)

    def is_picked(self, selection: Mapping[str, Any]) -> bool:
        """Return whether a selection picks the line."""
        names = {"reduction": self.reduction, "kernel": self.kernel, **self.names}
        return all(names.get(name) == value for name, value in selection.items())


Lines = dict[Line, dict[Place, Record]]


def lines_of(records: Iterable[Record]) -> Lines:
    """Return the measured records of a run, line by line, split by split and draw by draw."""
    lines: Lines = defaultdict(dict)
    for record in records:
        if record["status"] == "ok":
            row = Row.of(record)
            names = row_names(record)
            line = Line(
                setting=record["setting"],
                reduction=record["reduction"],
                kernel=record["kernel"],
                identity=json.dumps([row.identity, names], sort_keys=True, default=repr),
                names=names,
                row=row,
            )
            lines[line][record["split"], record["draw"]] = record
    return lines


def line_labels(lines: Iterable[Line]) -> dict[Line, str]:
    """Return the labels of all lines of a run: the rows' labels, and the data that they are on."""
    lines = list(lines)
    labels, _ = short_labels(line.row for line in lines)
    labels_of_lines = {}
    for line in lines:
        label = labels[line.row.identity]
        if line.names.get("range"):
            label += f" ({line.names['range']})"
        elif line.names.get("columns"):
            label += f" ({line.names['columns']} features)"
        labels_of_lines[line] = label
    return labels_of_lines


def where(left: Line, right: Line, labels: Mapping[Line, str], against: str | None = None) -> str:
    """Name the comparison of two lines, or of one with another of its measures."""
    if against:
        words = left.reduction, left.kernel, labels[left], "against its", MEASURES[against].title
        return " ".join(filter(None, words))
    differ = "" not in (left.kernel, right.kernel) and left.kernel != right.kernel
    kernel = left.kernel or right.kernel
    other = f"{right.kernel} {labels[right]}" if differ else labels[right]
    return " ".join(filter(None, (left.reduction, kernel, labels[left], "against", other)))


def compared_lines(
    lines: Iterable[Line],
    left_selection: Mapping[str, Any],
    right_selection: Mapping[str, Any],
    *,
    same: bool = False,
) -> Iterator[tuple[Line, Line]]:
    """Yield the pairs of lines that two selections pick.

    They are of one reduction and of one kernel, unless a selection names the kernel or a line, the
    linear one, has none. The parameters that neither selection names agree. With ``same`` each
    line stands next to itself alone, where both pick it.
    """
    named = left_selection.keys() | right_selection.keys() | {"method"}
    lines = list(lines)
    for left in lines:
        for right in lines:
            shared = (left.names.keys() & right.names.keys()) - named
            if (
                left.reduction == right.reduction
                and ("kernel" in named or _kernels_fit(left, right))
                and (left == right) == same
                and left.is_picked(left_selection)
                and right.is_picked(right_selection)
                and all(left.names[name] == right.names[name] for name in shared)
            ):
                yield left, right


def _kernels_fit(left: Line, right: Line) -> bool:
    return "" in (left.kernel, right.kernel) or left.kernel == right.kernel


def compared(entry: Mapping[str, Any], lines: Iterable[Line]) -> Iterator[tuple[Line, Line]]:
    """Yield the pairs of lines that an entry compares: none where its selections pick no two."""
    kernels = entry.get("kernels")
    if kernels:
        lines = [line for line in lines if line.kernel in kernels or not line.kernel]
    same = bool(entry.get("against"))
    return compared_lines(lines, entry["left"], entry["right"], same=same)


def side_by_side(left: Mapping[Place, Record], right: Mapping[Place, Record]) -> list[Pair]:
    """Return the records of two lines cell by cell.

    What has no draws, the exact kernel of a trade-off, stands next to every draw.
    """
    places = left.keys() | right.keys()
    drawn = {split for split, draw in places if draw is not None}
    pairs = []
    for split, draw in sorted(places, key=str):
        if draw is not None or split not in drawn:
            left_record = left.get((split, draw), left.get((split, None)))
            right_record = right.get((split, draw), right.get((split, None)))
            if left_record is not None and right_record is not None:
                pairs.append((left_record, right_record))
    return pairs


def is_redrawn(drawn: bool, splits: Sequence[int | None]) -> bool:
    """Return whether a random map is drawn again and again on one split.

    If each of several splits has its own draw, they count as splits. ``splits`` are the cells'
    splits; ``drawn`` says that at least one cell has a draw.
    """
    n_splits = len(set(splits))
    return drawn and (n_splits == 1 or n_splits < len(splits))


@dataclass(frozen=True)
class ChosenRow:
    """A row whose C was chosen, and in how many records it is the least or largest value tried."""

    name: str  # its reduction, kernel and label
    least: int
    largest: int
    n_records: int

    @property
    def is_at_edge(self) -> bool:
        """Whether a C of the row is at the edge of the values tried."""
        return bool(self.least + self.largest)


def compared_values(record: Mapping[str, Any]) -> list[float]:
    """Return the values of C that were compared for a record, ascending; none without a choice."""
    if record["C_folds"] is None:
        return []
    grid = record["C_grid"] if record["cv_C"] is None else record["cv_C"]
    return grid if isinstance(grid, list) else []


def edge(record: Mapping[str, Any]) -> str:
    """Return ``"least"`` or ``"largest"`` where C is at the edge of its grid, else nothing."""
    values = compared_values(record)
    if len(values) < 2 or record["C"] not in (values[0], values[-1]):
        return ""
    return "least" if record["C"] == values[0] else "largest"


def chosen_rows(records: Iterable[Record]) -> list[ChosenRow]:
    """Return the rows of a run whose C was chosen, in the order of the records."""
    rows = []
    lines = lines_of(records)
    labels = line_labels(lines)
    for line, cells in lines.items():
        chosen = [record for record in cells.values() if compared_values(record)]
        if chosen:
            edges = [edge(record) for record in chosen]
            name = " ".join(filter(None, (line.reduction, line.kernel, labels[line])))
            least = edges.count("least")
            largest = edges.count("largest")
            rows.append(ChosenRow(name, least, largest, len(chosen)))
    return rows


def edge_text(records: Iterable[Record]) -> str:
    """Say that C is at the edge of its grid in some of the records of a row; nothing otherwise."""
    records = list(records)
    at_edge = [record for record in records if edge(record)]
    if not at_edge:
        return ""
    values = ", ".join(f"{C:g}" for C in sorted({record["C"] for record in at_edge}))
    return f"C = {values} is at the edge of its grid in {len(at_edge)} of {len(records)} records"
