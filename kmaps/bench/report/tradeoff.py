"""Results of trade-offs: the points of each learner, means over draws or splits; their table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan, nan
from statistics import fmean

import numpy as np

from kmaps.bench.records.columns import Record, cell_name, is_number
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.names import LEARNERS, short_labels
from kmaps.bench.records.row import Row
from kmaps.bench.report.document import Table
from kmaps.errors import InputError


@dataclass(frozen=True)
class TrialPoint:
    """A row of a trade-off, averaged over the draws, or over the splits with a draw each."""

    quality: float  # accuracy or average precision, percent
    spread: float  # its standard deviation; NaN for a single value
    kept: float  # the projections that stay
    drawn: int
    C: float  # the geometric mean, if it was chosen
    us: float  # microseconds per test sample; NaN if they may not be published
    keep: int  # frequencies that the learner was asked to keep; 0 if it chose
    is_chosen: bool = False

    @property
    def setting(self) -> tuple[bool, float]:
        """The words that distinguish its C from others': the value, or that it was chosen."""
        return self.is_chosen, 0.0 if self.is_chosen else self.C


@dataclass(frozen=True)
class LearnerPoints:
    """The points of a learner on random maps, or of an exact kernel, by its name in words."""

    name: str
    exact: bool
    points: list[TrialPoint]


def quality(records: Iterable[Record]) -> str:
    """Return the column that says how good a trial is: detectors have an average precision."""
    has_detectors = any(record["options"].get("classes") for record in records)
    return "average_precision" if has_detectors else "accuracy"


def learners(records: Iterable[Record]) -> list[LearnerPoints]:
    """Return the learners, one with each map and kernel, in the order of the records."""
    measured = [record for record in records if record["status"] == "ok"]
    rows: dict[tuple[str, str], list[Record]] = {}
    for record in measured:
        rows.setdefault((Row.of(record).identity, record["kernel"]), []).append(record)
    on_maps = [record for record in measured if not _is_exact(record)]
    several_kernels = len({record["kernel"] for record in on_maps}) > 1
    maps, _ = short_labels(map(_map_row, on_maps))
    by_name: dict[str, LearnerPoints] = {}
    for group in rows.values():
        first = group[0]
        exact = _is_exact(first)
        learner_name = _learner_name(first)
        name = LEARNERS.get(learner_name, learner_name)
        if exact or several_kernels:
            name += f" {first['kernel']}"
        if not exact and len(maps) > 1:
            name += f", {maps[_map_row(first).identity]}"
        learner = by_name.setdefault(name, LearnerPoints(name, exact, []))
        learner.points.append(_point(group, quality(measured)))
    return list(by_name.values())


def has_times(points: Iterable[LearnerPoints]) -> bool:
    """Return whether some point has a time."""
    return any(not isnan(point.us) for learner in points for point in learner.points)


def _learner_name(record: Record) -> str:
    """Return the name of a record's learner; refuse a record that lacks values of its point."""
    name = record["learner"].get("name")
    C = record["learner"].get("C")
    numbers = (record["dim"], record["n_test"], record["params"].get("n_frequencies", 0))
    if isinstance(name, str) and (C == "auto" or is_number(C)) and all(map(is_number, numbers)):
        return name
    raise InputError(f"{cell_name(record)}: its trade-off record lacks learner, C, dim or n_test")


def _map_row(record: Record) -> Row:
    return Row(record["method"], record["params"]).without("n_frequencies")


def _is_exact(record: Record) -> bool:
    return record["method"] == "exact"


def _point(group: Sequence[Record], measure: str) -> TrialPoint:
    values = [record[measure] for record in group]
    first = group[0]
    C = first["learner"]["C"]
    is_chosen = C == "auto"
    if is_chosen:
        C = float(np.exp(np.mean(np.log([record["C"] for record in group]))))
    microseconds = []
    for record in group:
        test_s = MEASURES["predict"].value(record)
        if test_s:
            microseconds.append(1e6 * test_s / record["n_test"])
    return TrialPoint(
        quality=100 * fmean(values),  # with the same digits as in tables
        spread=100 * float(np.std(values, ddof=1)) if len(values) > 1 else nan,
        kept=float(np.mean([record["dim"] / 2 for record in group])),
        drawn=first["params"].get("n_frequencies", 0),
        C=C,
        us=fmean(microseconds) if microseconds else nan,
        keep=first["learner"].get("keep", 0),
        is_chosen=is_chosen,
    )


def tradeoff_table(records: Iterable[Record]) -> Table:
    """Return a table of the points: the frequencies, the cost and the quality of each learner."""
    records = list(records)
    lines = [_line(learner, point) for learner in learners(records) for point in learner.points]
    title = quality(records).replace("_", " ")
    head = ["learner", "C", "projections", "kept", f"{title}, %", "test, µs per sample"]
    return Table(head, lines)


def _line(learner: LearnerPoints, point: TrialPoint) -> list[str]:
    C = f"{point.C:.3g} (chosen)" if point.is_chosen else f"{point.C:g}"
    projections = ["", ""] if learner.exact else [f"{point.drawn:,}", f"{point.kept:,.0f}"]
    quality_text = f"{point.quality:.2f}"
    spread = f"{point.spread:.2f}"
    if not isnan(point.spread) and float(spread):
        quality_text += f" ± {spread}"
    us = "–" if isnan(point.us) else f"{point.us:.1f}"
    return [learner.name, C, *projections, quality_text, us]
