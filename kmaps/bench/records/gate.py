r"""The gate: results against a baseline, cell by cell.

A cell of the gate is one row of a table under one kernel and reduction, its splits and draws taken
together. Every kind of experiment says which columns are judged, each with its tolerance:

- **fractions** (accuracy, average precision) by their mean over the baseline's splits. With
  :math:`s_b` the sample standard deviation of the baseline over its :math:`n` splits, the tolerance
  is :math:`\max(\text{floor},\; 2\, s_b \sqrt{2 / n})`, two standard errors of a difference of two
  means over n splits, and never less than the floor of 0.5 points. Only the baseline's spread
  enters: results that became erratic must not widen their own tolerance;
- **errors** of kernels, split by split, to a thousandth of the baseline's;
- **projections kept**, split by split, to a twentieth;
- **storage**, split by split, to the byte.

**Times** and peaks of memory are not compared.

A cell is **improved** only where a judged column is better beyond its tolerance and nothing that is
judged, and no fraction, is less good. Where a cell is neither worse nor improved and a number
differs, it is **changed**: kmaps' rows give the same numbers when they are measured again. Rows of
third parties, which may not, are the same within their tolerance.

A cell of the baseline that has no record fails the gate; so does one without the test samples that
were right (:mod:`kmaps.bench.records.arrays`), where the baseline has them. A cell that could not
be measured, because it failed or because the baseline was made under other conditions, neither
passes nor fails it: the exit code then says that the gate did not decide.
"""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import fmean, stdev
from typing import Any

from kmaps.bench.records import defaults
from kmaps.bench.records.columns import COLUMNS, Record, is_number
from kmaps.bench.records.lines import edge_text
from kmaps.bench.records.row import Row, is_third_party
from kmaps.errors import GateFailed, InputError, KmapsError, NothingMeasured

FLOOR = 0.005  # the least tolerance on a mean fraction
FRACTIONS = ("accuracy", "accuracy_per_class", "average_precision")

CONDITIONS = {name: column.condition for name, column in COLUMNS.items() if column.condition}
"""Record columns that must agree for two measurements to compare, with their names in messages."""

VERDICTS = ("worse", "missing", "not measured", "changed", "improved", "new", "same")
"""From the worst to the best, as they are listed."""

Pair = tuple[Record, Record]  # of one split: ours, and the baseline's

Interval = Callable[[Sequence[Pair], str], tuple[float, float] | None]
"""``interval(pairs, column)``: the bounds of a difference of means, in [-1, 1]; None: not known."""

_ROUNDING = 1e-12  # a loss of exactly the tolerance is allowed, whatever the last bit


@dataclass(frozen=True)
class Tolerance:
    """How far a number may be from the baseline's and count as the same, split by split."""

    relative: float = 0.0  # a part of the baseline's number
    absolute: float = 0.0
    of_mean: bool = False  # compare means over splits, within standard errors and a floor

    def of(self, baseline: float) -> float:
        """Return the tolerance on a number of one split."""
        return self.absolute + self.relative * abs(baseline)


FRACTION = Tolerance(of_mean=True)
NUMERICAL = Tolerance(relative=1e-3)
KEPT = Tolerance(relative=0.05)
EXACT = Tolerance()


@dataclass(frozen=True)
class Judged:
    """A column that the gate judges."""

    column: str
    tolerance: Tolerance
    highest: bool = False  # whether more is better
    unless: Callable[[Record], bool] = lambda record: False

    def concerns(self, record: Record) -> bool:
        """Return whether a record has the column, and it is judged there."""
        return record.get(self.column) is not None and not self.unless(record)


@dataclass(frozen=True)
class Difference:
    """A judged column of a cell next to the baseline's: of a mean, or of the split that decides."""

    column: str
    baseline: float
    ours: float
    tolerance: float
    verdict: str  # worse, changed, improved or same
    gain: float = 0.0  # how much better ours is, in the column's unit
    has_lost: bool = False  # whether ours is less good, be it within the tolerance
    interval: tuple[float, float] | None = None  # of ours less the baseline's, on the same samples

    @property
    def text(self) -> str:
        """The difference in words and numbers, for one line."""
        if self.column in FRACTIONS:
            title = self.column.replace("_", " ")
            text = f"{title} {100 * self.ours:.2f} %, baseline {100 * self.baseline:.2f}"
            if self.tolerance < 1:
                text += f" ± {100 * self.tolerance:.2f}"
            if self.interval is None or self.verdict == "same":
                return text
            low, high = self.interval
            moved = 100 * (self.ours - self.baseline)
            return f"{text} ({moved:+.2f}, 95 % interval {100 * low:+.2f} to {100 * high:+.2f})"
        if self.column.endswith("_bytes"):
            return f"{self.column} {self.ours - self.baseline:+,.0f}"
        return f"{self.column} {self.ours:.6g}, baseline {self.baseline:.6g}"


@dataclass(frozen=True)
class CellVerdict:
    """What the gate says of a cell, and why."""

    verdict: str  # one of VERDICTS
    name: str  # the cell in words: data, features, reduction, kernel, row
    reason: str  # one line: what was compared, with numbers, or why nothing was
    differences: tuple[Difference, ...] = ()  # the differences of all judged columns
    edge: str = ""

    @property
    def text(self) -> str:
        """The reason, and that C is at the edge where it is."""
        return "; ".join(filter(None, [self.reason, self.edge]))


def compare(
    records: Iterable[Record],
    baseline: Iterable[Record],
    judged: Sequence[Judged],
    *,
    floor: float = FLOOR,
    correct: Collection[str] = (),
    baseline_correct: Collection[str] = (),
    interval: Interval | None = None,
) -> list[CellVerdict]:
    """Compare records with a baseline and return one verdict per cell, the worst first.

    ``correct`` and ``baseline_correct`` are the keys of the cells of which it is on record which
    test samples were right; ``interval`` gives the interval of a difference of fractions where both
    have them. Failed records of the baseline set no standard.
    """
    measured = [record for record in baseline if record["status"] == "ok"]
    if not measured:
        raise NothingMeasured("the baseline holds no measured cell; record one with `kmaps run`")
    ours = _by_cell(records)
    theirs = _by_cell(measured)
    if not ours.keys() & theirs.keys():
        raise NothingMeasured(
            f"no cell in common: the results are on {_subjects(ours)}, the baseline on "
            f"{_subjects(theirs)}; check that it belongs to this experiment"
        )
    verdicts = []
    for cell, baseline_splits in theirs.items():
        splits = ours.get(cell, {})
        verdict = _without_samples(splits, baseline_splits, correct, baseline_correct)
        if verdict is None:
            verdict = _judge(splits, baseline_splits, judged, floor, interval)
        verdicts.append(replace(verdict, edge=edge_text(splits.values())))
    for cell, splits in ours.items():
        if cell not in theirs:
            edge = edge_text(splits.values())
            verdicts.append(CellVerdict("new", _name(splits), "not in the baseline", edge=edge))
    return sorted(verdicts, key=lambda verdict: (VERDICTS.index(verdict.verdict), verdict.name))


Splits = dict[tuple, Record]  # by the numbers of the split and of the draw
_IDENTITY = ("kind", "setting", "dataset", "normalize", "kernel", "reduction")


def _by_cell(records: Iterable[Record]) -> dict[tuple, Splits]:
    cells: dict[tuple, Splits] = {}
    for record in records:
        columns = (record[name] for name in _IDENTITY)
        identity = (*columns, _features(record), Row.of(record).identity)
        cells.setdefault(identity, {})[record["split"], record["draw"]] = record
    return cells


def _features(record: Record) -> str:
    """Return the features as text that is the same whether or not a published default is named."""
    name = record["features"].partition(" ")[0]
    table = defaults.OF_FEATURES.get(name)
    if table is None:
        return str(record["features"])
    return json.dumps([name, defaults.filled(table, record["feature_params"])], sort_keys=True)


def _condition(record: Record, column: str) -> Any:
    """Return what a condition is, with published defaults where the record leaves them out."""
    value = record[column]
    if column == "settings":
        return defaults.filled(defaults.OF_LEARNER, value)
    of_choice = defaults.OF_C.get(column.removeprefix("C_"))
    if value is None and of_choice is not None:
        return of_choice.value
    return value


def _subjects(cells: dict[tuple, Splits]) -> str:
    return ", ".join(sorted({cell[1] or cell[2] for cell in cells})) or "nothing"


def _name(splits: Splits) -> str:
    record = next(iter(splits.values()))
    normalize = record["normalize"] or "none"
    features = record["features"]
    if normalize != "none":  # a table has its columns as features
        features = f"{features or 'columns'} ({normalize})"
    words = record["setting"], record["dataset"], features, record["reduction"]
    return " ".join(filter(None, [*words, record["kernel"] or "any", Row.of(record).label]))


def _without_samples(
    ours: Splits, theirs: Splits, correct: Collection[str], baseline_correct: Collection[str]
) -> CellVerdict | None:
    """Return the verdict of a cell that lacks the test samples that were right, or None."""
    for split, record in ours.items():
        baseline = theirs.get(split)
        lacking = baseline and baseline["key"] in baseline_correct and record["key"] not in correct
        if lacking and record["status"] == "ok":
            where = _numbers(split)
            reason = "correct.npz lacks the test samples that were right; the baseline has them"
            return CellVerdict("missing", _name(theirs), f"{where}: {reason}".removeprefix(": "))
    return None


def _judge(
    ours: Splits,
    theirs: Splits,
    judged: Sequence[Judged],
    floor: float,
    interval: Interval | None,
) -> CellVerdict:
    name = _name(theirs)
    absent = [split for split in theirs if split not in ours]
    if absent:
        splits = f"of {', '.join(map(_numbers, absent))}" if ours else "at all"
        return CellVerdict("missing", name, f"no record {splits}")
    pairs = [(ours[split], record) for split, record in theirs.items()]
    for record, reference in pairs:
        obstacle = _obstacle(record, reference)
        if obstacle:
            where = _numbers((record["split"], record["draw"]))
            return CellVerdict("not measured", name, f"{where}: {obstacle}".removeprefix(": "))
    return _judge_measured(name, pairs, judged, floor, interval)


def _numbers(replicate: tuple) -> str:
    split, draw = replicate
    words = []
    if split is not None:
        words.append(f"split {split}")
    if draw is not None:
        words.append(f"draw {draw}")
    return " ".join(words)


def _obstacle(ours: Record, theirs: Record) -> str:
    """Say why two records do not compare, or nothing."""
    if ours["status"] != "ok":
        return f"failed: {ours['error'] or 'no reason recorded'}"
    for column, title in CONDITIONS.items():
        if _condition(ours, column) != _condition(theirs, column):
            condition = json.dumps(ours[column])
            expected = json.dumps(theirs[column])
            return f"baseline incompatible: {title} is {condition}, the baseline has {expected}"
    return ""


def _judge_measured(
    name: str,
    pairs: list[Pair],
    judged: Sequence[Judged],
    floor: float,
    interval: Interval | None,
) -> CellVerdict:
    differences = []
    for criterion in (*judged, *_fractions_beside(judged)):
        concerned = [(ours, theirs) for ours, theirs in pairs if criterion.concerns(theirs)]
        is_judged = criterion in judged
        lacking = [ours for ours, _ in concerned if ours.get(criterion.column) is None]
        if lacking and is_judged:
            reason = f"no {criterion.column} recorded, the baseline has it"
            return CellVerdict("missing", name, reason)
        if concerned and not lacking:
            bounds = None
            if interval and criterion.column in FRACTIONS:
                bounds = interval(concerned, criterion.column)
            differences.append(_difference(criterion, concerned, floor, bounds))
    judged_columns = {criterion.column for criterion in judged}
    if not any(difference.column in judged_columns for difference in differences):
        return CellVerdict("not measured", name, "the baseline has nothing that is judged")
    is_exact = all(_is_deterministic(ours) for ours, _ in pairs)
    verdict = _verdict_of(differences, is_exact=is_exact)
    unremarkable = ("same",) if verdict == "changed" else ("same", "changed")
    shown = [
        difference
        for difference in differences
        if difference.column == "accuracy" or difference.verdict not in unremarkable
    ]
    reason = "; ".join(difference.text for difference in shown or differences[:1])
    return CellVerdict(verdict, name, reason, tuple(differences))


def _fractions_beside(judged: Sequence[Judged]) -> list[Judged]:
    """Return the fractions that a kind does not judge: none of them may fall unseen."""
    columns = {criterion.column for criterion in judged}
    unseen = Tolerance(absolute=1.0, of_mean=True)
    return [Judged(name, unseen, highest=True) for name in FRACTIONS if name not in columns]


def _is_deterministic(record: Record) -> bool:
    """Return whether a cell that is measured again gives the same numbers: third parties' rows
    may depend on the number of threads."""
    row = Row.of(record)
    return not is_third_party(row.method) or row.method.startswith("kmaps.")


def _verdict_of(differences: Sequence[Difference], *, is_exact: bool) -> str:
    """Return the verdict of a cell: improved only where nothing that it has became worse."""
    verdicts = {difference.verdict for difference in differences}
    if "worse" in verdicts:
        return "worse"
    has_lost = any(difference.has_lost for difference in differences)
    if "improved" in verdicts:
        return "changed" if has_lost else "improved"
    return "changed" if "changed" in verdicts and is_exact else "same"


def _difference(
    criterion: Judged, pairs: list[Pair], floor: float, interval: tuple[float, float] | None
) -> Difference:
    values = [(ours[criterion.column], theirs[criterion.column]) for ours, theirs in pairs]
    for pair in values:
        for value in pair:
            if not is_number(value):
                raise InputError(
                    f"{criterion.column} is {value!r}: expected a finite number, up to 1e100"
                )
    if not criterion.tolerance.of_mean:
        return _deciding_split(criterion, values)
    baseline = [theirs for _, theirs in values]
    spread = stdev(baseline) if len(baseline) > 1 else 0.0
    standard = 2 * spread * sqrt(2 / len(baseline))
    tolerance = max(floor, standard, criterion.tolerance.absolute)
    mean = fmean(ours for ours, _ in values)
    difference = _compared(criterion, mean, fmean(baseline), tolerance)
    if difference.verdict == "same" and any(_differ(ours, theirs) for ours, theirs in values):
        difference = replace(difference, verdict="changed")
    return replace(difference, interval=interval)


def _deciding_split(criterion: Judged, values: Iterable[tuple[float, float]]) -> Difference:
    """Return the split with the largest loss if it is worse, else the one with the largest gain."""
    of_splits = [
        _compared(criterion, ours, theirs, criterion.tolerance.of(theirs))
        for ours, theirs in values
    ]
    by_gain = sorted(of_splits, key=lambda difference: difference.gain)
    deciding = by_gain[0] if by_gain[0].verdict == "worse" else by_gain[-1]
    if deciding.verdict == "same":
        differing = [difference for difference in by_gain if difference.verdict != "same"]
        deciding = differing[0] if differing else deciding
    return replace(deciding, has_lost=any(difference.has_lost for difference in of_splits))


def _compared(criterion: Judged, ours: float, baseline: float, tolerance: float) -> Difference:
    gain = ours - baseline if criterion.highest else baseline - ours
    verdict = "changed" if _differ(ours, baseline) else "same"
    if abs(gain) > tolerance + _ROUNDING * max(1.0, abs(baseline)):
        verdict = "worse" if gain < 0 else "improved"
    has_lost = gain < 0 and verdict != "same"
    return Difference(criterion.column, baseline, ours, tolerance, verdict, gain, has_lost)


def _differ(ours: float, baseline: float) -> bool:
    return abs(ours - baseline) > _ROUNDING * max(1.0, abs(baseline))


def count(verdicts: Iterable[CellVerdict]) -> dict[str, int]:
    """Return how many cells got each verdict, worst first."""
    of_cells = [cell.verdict for cell in verdicts]
    return {verdict: of_cells.count(verdict) for verdict in VERDICTS}


def outcome(verdicts: Iterable[CellVerdict], *, strict: bool = False) -> KmapsError | None:
    """Return the error the gate ends with, or None when it passes; ``strict``: nothing changed."""
    counts = count(verdicts)
    if counts["worse"] or counts["missing"]:
        return GateFailed(f"gate failed: {in_words(counts)}")
    if counts["not measured"]:
        return NothingMeasured(f"gate undecided: {in_words(counts)}")
    if counts["changed"] and strict:
        return GateFailed(f"gate failed: {in_words(counts)}, and nothing may change")
    return None


def in_words(counts: dict[str, int]) -> str:
    """Return the verdicts that there are with their numbers."""
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items() if number)
