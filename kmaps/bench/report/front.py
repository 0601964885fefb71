"""Rows as points, quality over cost, and the front that no other row beats."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kmaps.bench.records.columns import Record
from kmaps.bench.records.measures import MEASURES, accuracy_of
from kmaps.bench.records.names import short_labels, short_names
from kmaps.bench.records.row import Row
from kmaps.bench.records.summary import latest_cells, summarize
from kmaps.bench.report.document import Table

COSTS = {  # costs of models: measures with short headings
    "time": "training, s",
    "predict": "test, s",
    "memory": "memory, MB",
    "storage": "stored, MB",
}

_SETTING = ("setting", "dataset", "features", "normalize")
_DATA = ("experiment", *_SETTING)


@dataclass
class FrontPoint:
    """A row under a kernel and a reduction, with its measures as printed: percent, s, MB."""

    group: str  # the data in words; empty if all points have the same data
    name: str  # the kernel, the label, and the reduction if there are several
    method: str  # the words for its learner or map
    kernel: str
    values: dict[str, float] = field(default_factory=dict)  # the measured ones
    spreads: dict[str, float] = field(default_factory=dict)  # standard deviations of means
    whole: bool = True  # whether no cell failed; otherwise it is on no front
    records: list[Record] = field(default_factory=list)
    brief: str = ""  # the name in figures
    busy: set[str] = field(default_factory=set)  # measures taken while other work ran


def points_of(records: Iterable[Record], measures: Sequence[str]) -> list[FrontPoint]:
    """Return the rows of some records as points, in the order of tables.

    Times that were measured again are medians, all else means over the splits and draws. Rows
    without the first of the measures are left out.
    """
    records = latest_cells(records)
    lines = summarize(records, measures)
    rows = [Row.of(record) for record in records]
    labels, _ = short_labels(rows)
    brief_labels, _ = short_labels(rows, brief=True)
    briefs = {labels[identity]: brief for identity, brief in brief_labels.items()}
    methods = {labels[identity]: name for identity, name in short_names(rows).items()}
    several_reductions = len({line["reduction"] for line in lines}) > 1
    # Errors of several kernels do not compare.
    setting = (*_SETTING, "kernel") if MEASURES[measures[0]].unit == "kernel" else _SETTING
    differing = [name for name in setting if len({line[name] for line in lines}) > 1]
    points: dict[tuple, FrontPoint] = {}
    for line in lines:
        label = line["label"]
        words = [line["reduction"] if several_reductions else "", line["kernel"]]
        prefix = "".join(f"{word} " for word in words if word)
        data = [line[name] for name in differing]
        unmeasured = FrontPoint(
            group=", ".join(text for text in data if text),
            name=f"{prefix}{label}",
            method=methods[label],
            kernel=line["kernel"],
            brief=f"{prefix}{briefs[label]}",
        )
        point = points.setdefault((*_place(line), label), unmeasured)
        if line["n"]:
            scale = MEASURES[line["measure"]].scale
            value = line["median"] if line["repeats"] else line["mean"]
            point.values[line["measure"]] = scale * value
            point.whole &= not line["failed"]
            if line["busy"]:
                point.busy.add(line["measure"])
        if line["n"] > 1:
            point.spreads[line["measure"]] = scale * line["std"]
    for record in records:
        label = labels[Row.of(record).identity]
        points[*_place(record), label].records.append(record)
    return [point for point in points.values() if measures[0] in point.values]


def _place(cell: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the data, the reduction and the kernel that a line or a record belongs to."""
    return (*(cell[name] for name in _DATA), cell["reduction"], cell["kernel"])


def front(points: Iterable[FrontPoint], cost: str, quality: str) -> list[FrontPoint]:
    """Return the points that no other point beats, from the cheapest to the best.

    A point beats another when it is as good in both measures and better in one.
    """

    def place(point: FrontPoint) -> tuple[float, float]:
        """Return the cost and the quality, of each the less the better."""
        signs = [-1 if MEASURES[name].highest else 1 for name in (cost, quality)]
        return signs[0] * point.values[cost], signs[1] * point.values[quality]

    on_front: list[FrontPoint] = []
    measured = [point for point in points if point.whole and {cost, quality} <= point.values.keys()]
    for point in sorted(measured, key=place):
        last = on_front[-1] if on_front else None
        is_better = last is None or place(point)[1] < place(last)[1]
        if is_better or place(point) == place(last):
            on_front.append(point)
    return on_front


def side_by_side(records: Sequence[Record]) -> Table:
    """Return a table of the rows of a classification, the most accurate first.

    Rows that failed on every split are left out.
    """
    quality = accuracy_of(records)
    points = points_of(records, [quality, *COSTS])
    points.sort(key=lambda point: -point.values[quality])
    rows = []
    for point in points:
        texts = {name: _text(name, value) for name, value in point.values.items()}
        if quality in point.spreads:
            texts[quality] += f" ± {_text(quality, point.spreads[quality])}"
        rows.append([point.name, *(texts.get(name, "–") for name in (quality, *COSTS))])
    return Table(["row", MEASURES[quality].title, *COSTS.values()], rows)


def _text(measure: str, printed: float) -> str:
    return MEASURES[measure].format(printed / MEASURES[measure].scale)
