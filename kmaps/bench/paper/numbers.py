"""The printed numbers of the papers, which rows of runs measure them, and how these compare."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import cache
from importlib.resources import files
from statistics import fmean, median
from typing import Any

from kmaps.bench.records.columns import Record
from kmaps.bench.records.lines import Lines, lines_of
from kmaps.bench.records.measures import MEASURES
from kmaps.errors import InputError

Selection = dict[str, Any]


def parse_selection(text: str) -> Selection:
    """Return the selection that a text such as ``method=anchor; n_anchors=30`` means."""
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


TABLES = "tables.csv"

_SUM_OF_SQUARES = "sum-of-squares"
_SCALES = {"%": 100.0, "MB": 1e-6, "s": 1.0, "": 1.0}


@dataclass(frozen=True)
class PrintedTable:
    """What is common to the numbers of a table."""

    paper: str  # the paper's short name; the table as the paper calls it
    table: str
    title: str
    reference_row: str  # of the time that all times are divided by; empty where there are none
    reference_column: str
    note: str  # how our runs differ from the paper's, where that matters for all numbers


@dataclass(frozen=True)
class PrintedNumber:
    """One number that a paper prints.

    ``select`` picks the row that measures it (:func:`parse_selection`), ``measure`` is what of
    that row; ``sum-of-squares`` is the sum of the squared errors over all pairs.
    """

    paper: str  # where it stands, in the paper's words
    table: str
    row: str
    column: str
    text: str  # the number as printed
    unit: str  # %, s, MB, or empty for errors of kernels
    note: str
    experiment: str  # the experiment that measures it; empty when none does
    select: str
    measure: str
    reason: str  # why no experiment measures it; empty when one does

    @property
    def name(self) -> str:
        """The paper, the table, the row and the column."""
        return f"{self.paper} {self.table}: {self.row}, {self.column}"

    @property
    def value(self) -> float:
        """The number."""
        return float(self.text)

    @property
    def decimals(self) -> int:
        """How many decimals are printed, powers of ten counted."""
        return max(0, -int(Decimal(self.text).as_tuple().exponent))

    @property
    def selection(self) -> Selection:
        """The row of the experiment that measures it."""
        return parse_selection(self.select)

    @property
    def off_unit(self) -> str:
        """The unit of a difference from it: points for percentages, percent of print for others."""
        return "points" if self.unit == "%" else "%"

    def is_met_by(self, ours: float) -> bool:
        """Return whether ours, in the same unit and digits, is at least as good."""
        rounded = round(ours, self.decimals)
        return rounded >= self.value if self.unit == "%" else rounded <= self.value


_DOUBTFUL = "times, taken while other programs ran"


class Outcome(StrEnum):
    """What becomes of a printed number."""

    MET = "met"
    NOT_MET = "not met"
    SHOWN = "shown"
    MISSING = "missing"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class PrintedComparison:
    """A printed number next to ours."""

    number: PrintedNumber
    printed: float  # in its unit; for a time, over that of the reference of its table
    ours: float | None  # the same of our records; None when there is none
    outcome: Outcome
    reason: str = ""  # why no experiment measures it, or why our time is left out

    @property
    def deviation(self) -> float | None:
        """How far ours is from print, in the unit ``number.off_unit``."""
        if self.ours is None:
            return None
        if self.number.unit == "%":
            return self.ours - self.printed
        return 100 * (self.ours / self.printed - 1)


@cache
def printed_tables() -> dict[tuple[str, str], PrintedTable]:
    """Return the tables by paper and name, in the order of the papers."""
    tables = [PrintedTable(**line) for line in _read(TABLES)]
    return {(table.paper, table.table): table for table in tables}


@cache
def printed_numbers() -> tuple[PrintedNumber, ...]:
    """Return all printed numbers, table by table."""
    folder = files("kmaps.bench.paper") / "printed"
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".csv"))
    return tuple(
        PrintedNumber(text=line.pop("value"), **line)
        for name in names
        if name != TABLES
        for line in _read(name)
    )


def numbers_of(experiment: str) -> list[PrintedNumber]:
    """Return the printed numbers that an experiment measures."""
    return [number for number in printed_numbers() if number.experiment == experiment]


def _read(name: str) -> list[dict[str, str]]:
    path = files("kmaps.bench.paper") / "printed" / name
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def compare(
    numbers: Iterable[PrintedNumber], records: Mapping[str, Iterable[Record]]
) -> Iterator[PrintedComparison]:
    """Yield each printed number next to ours."""
    held = {name: lines_of(run) for name, run in records.items()}
    for number in numbers:
        if number.reason:
            yield PrintedComparison(number, number.value, None, Outcome.NOT_MEASURED, number.reason)
            continue
        printed, ours = number.value, _ours(number, held)
        if number.unit == "s":
            reference = _reference(number)
            printed /= reference.value
            if ours is None and _rows(number, held):
                yield PrintedComparison(number, printed, None, Outcome.NOT_MEASURED, _DOUBTFUL)
                continue
            under = _ours(reference, held)
            ours = ours / under if ours is not None and under is not None else None
        yield PrintedComparison(number, printed, ours, _outcome(number, ours))


def _reference(number: PrintedNumber) -> PrintedNumber:
    """Return the time that those of the number's table are divided by."""
    table = printed_tables()[number.paper, number.table]
    wanted = number.paper, number.table, table.reference_row, table.reference_column
    [found] = [n for n in printed_numbers() if (n.paper, n.table, n.row, n.column) == wanted]
    return found


def _outcome(number: PrintedNumber, ours: float | None) -> Outcome:
    if ours is None:
        return Outcome.MISSING
    if number.unit == "s":
        return Outcome.SHOWN
    return Outcome.MET if number.is_met_by(ours) else Outcome.NOT_MET


def _rows(number: PrintedNumber, runs: Mapping[str, Lines]) -> list[list[Record]]:
    """Return the records of the rows that the number's selection picks, row by row."""
    lines = runs.get(number.experiment, {})
    picked = [line for line in lines if line.is_picked(number.selection)]
    return [list(lines[line].values()) for line in picked]


def _ours(number: PrintedNumber, runs: Mapping[str, Lines]) -> float | None:
    """Return what our records have, in the number's unit: the mean over splits, times' median."""
    rows = _rows(number, runs)
    if not rows:
        return None
    if len(rows) > 1:
        raise InputError(
            f"{number.name}: {number.select!r} picks {len(rows)} rows of {number.experiment}, "
            "expected one; name more of its parameters"
        )
    [records] = rows
    measure = MEASURES["rms" if number.measure == _SUM_OF_SQUARES else number.measure]
    values = [value for record in records if (value := measure.value(record)) is not None]
    if not values:
        return None
    if number.measure == _SUM_OF_SQUARES:
        return fmean(values) ** 2 * _n_pairs(records[0])
    middle = median if number.measure == "time" else fmean
    return _SCALES[number.unit] * middle(values)


def _n_pairs(record: Record) -> int:
    """Return how many pairs of whole numbers a range such as ``0:127`` has."""
    low, high = map(int, record["options"]["range"].split(":"))
    return (high - low + 1) ** 2
