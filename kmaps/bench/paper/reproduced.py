"""The outcome of printed numbers: reproduced, better or worse, by one formula for all.

A printed number is reproduced where ours is within a margin of it that was fixed beforehand:

- percentages, and their differences to the exact kernel: the larger of 0.5 points and twice the
  standard error of the difference between the paper's mean and ours. The papers print no spread,
  so ours stands for both: s · √(1/J + 1/K), s over our splits, J of the paper and K of ours. Splits
  that are not random, such as Daimler's six combinations, are the same here and there and add none;
- times, as ratios to one time of the same table: a factor of 2;
- errors of kernels and megabytes: 5 %.

Beyond the margin ours is better (more accurate, faster, smaller) or worse; a baseline that is
better than print differs, since it makes the paper's gap smaller.

A percentage that the plain linear model would reproduce too, by the same margin, is not decisive:
on MNIST's pixels, half a point separates it from the exact kernel. The linear model's accuracy, in
``printed/tables.csv``, is that of our records. Times of a table whose rows were all trained by
another solver than the paper's are not comparable.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from statistics import fmean, median, stdev

from kmaps.bench.paper.numbers import PrintedNumber, printed_numbers, printed_tables
from kmaps.bench.records.columns import Record
from kmaps.bench.records.lines import Lines, lines_of
from kmaps.bench.records.measures import MEASURES
from kmaps.errors import InputError

POINTS = 0.5  # the least margin of percentages

FACTOR = 2.0  # the margin of ratios of times

PERCENT = 5.0  # the margin of errors of kernels and of megabytes, in percent of print

SUM_OF_SQUARES = "sum-of-squares"
EXACT = "exact"  # the row of a table that has the exact kernel

_SCALES = {"%": 100.0, "MB": 1e-6, "s": 1.0, "": 1.0}
_DOUBTFUL = "times, taken while other programs ran"
_TOO_NEAR = "not decisive: the plain linear model is as near"


class Outcome(StrEnum):
    """What becomes of a printed number."""

    REPRODUCED = "reproduced"
    BETTER = "better"
    WORSE = "worse"
    DIFFERS = "differs"  # a baseline that is better than print
    NOT_DECISIVE = "not decisive"  # the plain linear model would be reproduced too
    NOT_COMPARABLE = "not comparable"
    REFERENCE = "reference"
    MISSING = "missing"
    NOT_MEASURED = "not measured"


JUDGED = (Outcome.REPRODUCED, Outcome.BETTER, Outcome.WORSE, Outcome.DIFFERS)
"""The outcomes that a criterion decides, which headlines count."""


@dataclass(frozen=True)
class PrintedComparison:
    """A printed number next to ours."""

    number: PrintedNumber
    printed: float  # in its unit; a time is divided by the time of its table's reference
    ours: float | None  # from our records; None if they have none
    outcome: Outcome
    reason: str = ""  # why no experiment measures it, why our time is left out, or decides nothing
    linear: float | None = None  # the linear model's, where it would be reproduced too
    to_exact: "ToExact | None" = None  # for a percentage of a table with a row of the exact kernel

    @property
    def deviation(self) -> float | None:
        """How far ours is from print, in the unit ``number.off_unit``."""
        if self.ours is None:
            return None
        if self.number.unit == "%":
            return self.ours - self.printed
        return 100 * (self.ours / self.printed - 1)


@dataclass(frozen=True)
class ToExact:
    """The difference of a percentage to the exact kernel's, printed and ours, in points."""

    printed: float
    ours: float
    outcome: Outcome
    linear: float | None = None  # the linear model's, where it would be reproduced too


def compare(
    numbers: Iterable[PrintedNumber], records: Mapping[str, Iterable[Record]]
) -> Iterator[PrintedComparison]:
    """Yield each printed number next to ours, from the records of runs by their names."""
    lines_of_runs = {name: lines_of(run) for name, run in records.items()}
    for number in numbers:
        if number.reason:
            yield PrintedComparison(number, number.value, None, Outcome.NOT_MEASURED, number.reason)
        elif number.unit == "s":
            yield _compared_time(number, lines_of_runs)
        else:
            yield _compared(number, lines_of_runs)


def _compared_time(number: PrintedNumber, runs: Mapping[str, Lines]) -> PrintedComparison:
    table = printed_tables()[number.paper, number.table]
    reference = _in_table(number, table.reference_row, table.reference_column)
    if reference is None:
        raise ValueError(f"{number.paper} {number.table}: the reference of its times is not there")
    printed = number.value / reference.value
    ours = _ours(number, runs)
    reference_ours = _ours(reference, runs)
    if ours is None and _rows(number, runs):
        return PrintedComparison(number, printed, None, Outcome.NOT_MEASURED, _DOUBTFUL)
    if ours is None or reference_ours is None:
        return PrintedComparison(number, printed, None, Outcome.MISSING)
    ratio = ours / reference_ours
    if number == reference:
        return PrintedComparison(number, printed, ratio, Outcome.REFERENCE)
    if table.times_reason:
        outcome = Outcome.NOT_COMPARABLE
        return PrintedComparison(number, printed, ratio, outcome, table.times_reason)
    outcome = _of_baseline(number, outcome_of_ratio(printed, ratio))
    return PrintedComparison(number, printed, ratio, outcome)


def _compared(number: PrintedNumber, runs: Mapping[str, Lines]) -> PrintedComparison:
    ours = _ours(number, runs)
    if ours is None:
        return PrintedComparison(number, number.value, None, Outcome.MISSING)
    rounded = round(ours, number.decimals)
    if number.unit != "%":
        outcome = outcome_of_size(number.value, rounded)
        return PrintedComparison(number, number.value, ours, outcome)
    margin = margin_of(list(_by_split(number, runs).values()), _n_splits(number))
    outcome = _of_baseline(number, outcome_of_points(number.value, rounded, margin))
    to_exact = _to_exact(number, runs)
    linear = _linear(number)
    if not _passes(number, number.value, linear, margin):
        return PrintedComparison(number, number.value, ours, outcome, to_exact=to_exact)
    outcome = Outcome.NOT_DECISIVE
    return PrintedComparison(number, number.value, ours, outcome, _TOO_NEAR, linear, to_exact)


def _of_baseline(number: PrintedNumber, outcome: Outcome) -> Outcome:
    table = printed_tables()[number.paper, number.table]
    if outcome is Outcome.BETTER and table.is_baseline(number.row):
        return Outcome.DIFFERS
    return outcome


def _linear(number: PrintedNumber) -> float | None:
    """Return our accuracy of the linear model of a number's table; None for the model itself."""
    text = printed_tables()[number.paper, number.table].linear
    return float(text) if text and number.row != "linear" else None


def _passes(number: PrintedNumber, printed: float, linear: float | None, margin: float) -> bool:
    """Return whether the linear model would be reproduced, and the number decides nothing."""
    if linear is None:
        return False
    rounded = round(linear, number.decimals)
    return outcome_of_points(printed, rounded, margin) is Outcome.REPRODUCED


def _to_exact(number: PrintedNumber, runs: Mapping[str, Lines]) -> ToExact | None:
    exact = _in_table(number, EXACT, number.column)
    if exact is None or number.row == EXACT:
        return None
    left = _by_split(number, runs)
    right = _by_split(exact, runs)
    differences = [left[split] - right[split] for split in left.keys() & right.keys()]
    if not differences:
        return None
    printed = number.value - exact.value
    ours = fmean(differences)
    margin = margin_of(differences, _n_splits(number))
    rounded = round(ours, number.decimals)
    outcome = _of_baseline(number, outcome_of_points(printed, rounded, margin))
    linear = _linear(number)
    if linear is not None:
        linear -= fmean(right.values())
    if number.row == "linear" or not _passes(number, printed, linear, margin):
        return ToExact(printed, ours, outcome)
    return ToExact(printed, ours, Outcome.NOT_DECISIVE, linear)


_SAME = 1e-9  # decimal fractions are rounded to binary ones


def margin_of(ours: Sequence[float], n_splits: int) -> float:
    """Return the margin of a mean in points, from ours split by split and the paper's splits."""
    if not n_splits or len(ours) < 2:
        return POINTS
    return max(POINTS, 2 * stdev(ours) * sqrt(1 / n_splits + 1 / len(ours)))


def outcome_of_points(printed: float, ours: float, margin: float) -> Outcome:
    """Return the outcome of a percentage: more is better."""
    if abs(ours - printed) <= margin + _SAME:
        return Outcome.REPRODUCED
    return Outcome.BETTER if ours > printed else Outcome.WORSE


def outcome_of_ratio(printed: float, ours: float) -> Outcome:
    """Return the outcome of a ratio of times: less is better."""
    if printed / FACTOR <= ours <= printed * FACTOR:
        return Outcome.REPRODUCED
    return Outcome.BETTER if ours < printed else Outcome.WORSE


def outcome_of_size(printed: float, ours: float) -> Outcome:
    """Return the outcome of an error or of megabytes: less is better."""
    if abs(ours - printed) <= printed * PERCENT / 100 + _SAME:
        return Outcome.REPRODUCED
    return Outcome.BETTER if ours < printed else Outcome.WORSE


def _n_splits(number: PrintedNumber) -> int:
    return int(printed_tables()[number.paper, number.table].splits or 0)


def _in_table(number: PrintedNumber, row: str, column: str) -> PrintedNumber | None:
    place = (number.paper, number.table, row, column)
    for other in printed_numbers():
        if (other.paper, other.table, other.row, other.column) == place:
            return other
    return None


def _rows(number: PrintedNumber, runs: Mapping[str, Lines]) -> list[list[Record]]:
    """Return the records of the rows that the number's selection picks, row by row."""
    lines = runs.get(number.experiment, {})
    picked = [line for line in lines if line.is_picked(number.selection)]
    return [list(lines[line].values()) for line in picked]


def _records(number: PrintedNumber, runs: Mapping[str, Lines]) -> list[Record]:
    """Return the records of the one row that the number's selection picks, or none."""
    rows = _rows(number, runs)
    if len(rows) > 1:
        raise InputError(
            f"{number.name}: {number.select!r} picks {len(rows)} rows of {number.experiment}, "
            "expected one; name more of its parameters"
        )
    return rows[0] if rows else []


def _by_split(number: PrintedNumber, runs: Mapping[str, Lines]) -> dict[int, float]:
    """Return our percentages by split, each the mean of its draws."""
    values: dict[int, list[float]] = {}
    for record in _records(number, runs):
        value = MEASURES[number.measure].value(record)
        if value is not None:
            values.setdefault(record["split"], []).append(_SCALES[number.unit] * value)
    return {split: fmean(of_split) for split, of_split in values.items()}


def _ours(number: PrintedNumber, runs: Mapping[str, Lines]) -> float | None:
    """Return our records' value in the number's unit: the mean over splits, times' median."""
    records = _records(number, runs)
    measure = MEASURES["rms" if number.measure == SUM_OF_SQUARES else number.measure]
    values = [value for value in map(measure.value, records) if value is not None]
    if not values:
        return None
    if number.measure == SUM_OF_SQUARES:
        low, high = map(int, records[0]["options"]["range"].split(":"))
        return fmean(values) ** 2 * (high - low + 1) ** 2  # over all pairs
    middle = median if number.measure == "time" else fmean
    return _SCALES[number.unit] * middle(values)
