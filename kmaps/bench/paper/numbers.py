"""The printed numbers of the papers, and which rows of runs measure them."""

import json
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from kmaps.bench.records.columns import declared

Selection = dict[str, Any]


def parse_selection(text: str) -> Selection:
    """Return the selection that a text such as ``method=anchor; n_anchors=30`` means."""
    selection: Selection = {}
    for condition in text.split(";"):
        name, equals, value = (piece.strip() for piece in condition.partition("="))
        if not (name and equals and value):
            raise ValueError(f"{condition.strip()!r} in {text!r}: expected name=value")
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


@dataclass(frozen=True)
class PrintedTable:
    """A table of a paper: what its times are relative to, and what a number in it can decide."""

    paper: str  # the paper's short name; the table as the paper calls it
    table: str
    title: str
    reference_row: str  # the row whose time divides all times; empty without times
    reference_column: str
    splits: str  # the number of random splits that the paper averages; empty without any
    note: str  # how our runs differ from the paper's, if this affects all numbers
    baselines: str  # rows that the paper's method is compared with, separated by semicolons
    times_reason: str  # why times compare with nothing here; empty where they do
    linear: str  # our accuracy of the plain linear model in percent; empty where it is on no record
    linear_run: str  # the run, and the row of it, that the accuracy is of
    linear_select: str

    def is_baseline(self, row: str) -> bool:
        """Whether a row is what the paper's method is compared with: a stronger one than the
        paper's makes the paper's gap smaller, and is no better reproduction."""
        return row in [name.strip() for name in self.baselines.split(";")]


@dataclass(frozen=True)
class PrintedNumber:
    """One number that a paper prints.

    ``select`` picks the row that measures it (:func:`parse_selection`), ``measure`` is what of
    that row; ``sum-of-squares`` is the sum of the squared errors over all pairs.
    """

    paper: str  # its place, in the paper's words
    table: str
    row: str
    column: str
    text: str  # the number as printed
    unit: str  # %, s, MB, or empty for errors of kernels
    note: str
    experiment: str  # the experiment that measures it, or empty
    select: str
    measure: str
    reason: str  # why no experiment measures it, or empty

    @property
    def name(self) -> str:
        """The place of the number: paper, table, row and column."""
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
        """The selection of the row that measures it."""
        return parse_selection(self.select)

    @property
    def off_unit(self) -> str:
        """The unit of a difference from it: points for percentages, percent of print for others."""
        return "points" if self.unit == "%" else "%"


@cache
def printed_tables() -> dict[tuple[str, str], PrintedTable]:
    """Return the tables of the papers by the paper and the table's name."""
    tables = [PrintedTable(**line) for line in declared(f"paper/printed/{TABLES}")]
    return {(table.paper, table.table): table for table in tables}


@cache
def printed_numbers() -> tuple[PrintedNumber, ...]:
    """Return all numbers that the papers print."""
    folder = files("kmaps.bench.paper") / "printed"
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".csv"))
    return tuple(
        PrintedNumber(text=line.pop("value"), **line)
        for name in names
        if name != TABLES
        for line in declared(f"paper/printed/{name}")
    )


def numbers_of(experiment: str) -> list[PrintedNumber]:
    """Return the printed numbers that an experiment measures."""
    return [number for number in printed_numbers() if number.experiment == experiment]
