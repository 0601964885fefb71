"""Runs side by side: the rows they share, their differences with intervals, and the conditions."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import fmean, median, stdev
from typing import Any

from kmaps.bench.paper.claims import estimate
from kmaps.bench.paper.verdicts import ALPHA, Estimate, unknown
from kmaps.bench.records.arrays import Correct
from kmaps.bench.records.columns import Record
from kmaps.bench.records.lines import Line, Lines, Pair, line_labels, lines_of, side_by_side
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.times import CONDITIONS
from kmaps.bench.report import document
from kmaps.bench.report.document import Table
from kmaps.errors import NothingMeasured

_SAME_SAMPLES = ("dataset", "data_digest", "protocol")
"""Columns that two records of one split agree in when they are of the same test samples."""

_CHANGED = (
    "dataset",
    "protocol",
    "features",
    "feature_params",
    "feature_version",
    "normalize",
    "n_train",
    "n_test",
    "C_grid",
    "C_folds",
    "map_version",
    "commit",
    "python",
    *CONDITIONS,
)


@dataclass(frozen=True)
class Run:
    """A run to compare: its name on the page, its records, and which test samples were right."""

    name: str
    records: Sequence[Record]
    correct: Mapping[str, Correct]


@dataclass(frozen=True)
class Compared:
    """A row by one measure: its numbers in every run, and each next to the first's."""

    row: str
    measure: str
    values: tuple[tuple[float, ...], ...]  # run by run, split by split; may be empty
    texts: tuple[str, ...]  # of each run the number that tables print
    estimates: tuple[Estimate | None, ...]  # of each run after the first; None without a pair


def compare_runs(runs: Sequence[Run], measures: Sequence[str]) -> list[Compared]:
    """Return the rows of several runs, measure by measure; each run is compared with the first.

    Fractions are compared by their difference in points, all other measures by the ratio of a run
    to the first one. There is no interval where two runs are not of the same test samples.
    """
    # Records under keys that say of which run they are: the same cell has one key in all of them.
    lines = [
        lines_of([record | {"key": f"{number}:{record['key']}"} for record in run.records])
        for number, run in enumerate(runs)
    ]
    correct = {}
    for number, run in enumerate(runs):
        for key, of_cell in run.correct.items():
            correct[f"{number}:{key}"] = of_cell
    labels = line_labels(line for run_lines in lines for line in run_lines)
    compared = [
        _compared(line, lines, measure, labels[line], correct)
        for measure in measures
        for line in labels
    ]
    shown = [row for row in compared if any(row.values)]
    if not any(_n_runs_with(row) > 1 for row in shown):
        names = ", ".join(run.name for run in runs)
        raise NothingMeasured(f"{names}: have no row in common by {', '.join(measures)}")
    return shown


def _n_runs_with(row: Compared) -> int:
    """Return in how many runs a row has numbers."""
    return sum(1 for values in row.values if values)


def _compared(
    line: Line, lines: Sequence[Lines], measure: str, label: str, correct: Mapping[str, Correct]
) -> Compared:
    by_run = [run_lines.get(line, {}) for run_lines in lines]
    values = tuple(measured(of_run.values(), measure) for of_run in by_run)
    texts = tuple(number_text(of_run.values(), measure) for of_run in by_run)
    estimates = tuple(
        _estimate(side_by_side(by_run[0], other), measure, correct) for other in by_run[1:]
    )
    words = (line.setting, line.reduction, line.kernel, label)
    return Compared(" ".join(filter(None, words)), measure, values, texts, estimates)


def _estimate(
    pairs: Sequence[Pair], measure: str, correct: Mapping[str, Correct]
) -> Estimate | None:
    if MEASURES[measure].unit != "fraction":
        return estimate(pairs, "smaller", measure, correct)
    pairs = [(other, first) for first, other in pairs]  # a difference is left - right
    if all(left[name] == right[name] for left, right in pairs for name in _SAME_SAMPLES):
        return estimate(pairs, "above", measure, correct)
    value = MEASURES[measure].value
    left_values: list[float] = []
    right_values: list[float] = []
    for left, right in pairs:
        left_value = value(left)
        right_value = value(right)
        if left_value is not None and right_value is not None:
            left_values.append(left_value)
            right_values.append(right_value)
    if not left_values:
        return None
    points = 100 * (fmean(left_values) - fmean(right_values))
    return unknown(points, "other data or splits")


def changed_conditions(runs: Sequence[Run]) -> list[list[str]]:
    """Return the conditions that differ between the runs: name, and values run by run."""
    texts = {name: [_values(run.records, name) for run in runs] for name in _CHANGED}
    versions = [_versions(run.records) for run in runs]
    packages = {name for of_run in versions for name in of_run}
    for package in sorted(packages):
        texts[f"version of {package}"] = [of_run.get(package, "–") for of_run in versions]
    return [[name, *values] for name, values in texts.items() if len(set(values)) > 1]


def _values(records: Iterable[Record], name: str) -> str:
    texts = set()
    for record in records:
        value = record.get(name)
        if value is not None:
            texts.add(value if isinstance(value, str) else json.dumps(value, sort_keys=True))
    return ", ".join(sorted(texts)) or "–"


def _versions(records: Iterable[Record]) -> dict[str, str]:
    by_package: dict[str, set[str]] = {}
    for record in records:
        for package, version in (record.get("versions") or {}).items():
            by_package.setdefault(package, set()).add(str(version))
    return {package: ", ".join(sorted(versions)) for package, versions in by_package.items()}


def tables(runs: Sequence[Run], rows: Sequence[Compared]) -> list[Table]:
    """Return a table per measure, and one of the conditions that differ."""
    by_measure = []
    for measure in dict.fromkeys(row.measure for row in rows):
        head = ["", runs[0].name]
        for run in runs[1:]:
            head += [run.name, "to the first", "95 % interval"]
        body = [_line(row) for row in rows if row.measure == measure]
        by_measure.append(Table(head, body, title=MEASURES[measure].title))
    changed = changed_conditions(runs)
    if not changed:
        return by_measure
    head = ["", *(run.name for run in runs)]
    return [*by_measure, Table(head, changed, texts=len(head), title="What differs")]


def _line(row: Compared) -> list[str]:
    measure = MEASURES[row.measure]
    cells = [row.row, row.texts[0]]
    unit = "points" if measure.unit == "fraction" else "×"
    for text, difference in zip(row.texts[1:], row.estimates, strict=True):
        cells += [text, *difference_cells(difference, unit)]
    return cells


def measured(records: Iterable[Record], name: str) -> tuple[float, ...]:
    """Return the numbers of a measure that records have, in their order."""
    values = [MEASURES[name].value(record) for record in records]
    return tuple(value for value in values if value is not None)


def number_text(records: Iterable[Record], name: str) -> str:
    """Return the number that tables print of a row's records, with its standard deviation.

    It is the mean, or the median of all repeats where the row was timed again.
    """
    measure = MEASURES[name]
    records = list(records)
    values = measured(records, name)
    if not values:
        return "–"
    repeats = [seconds for record in records for seconds in measure.repeats(record)]
    middle = median(repeats) if repeats else fmean(values)
    spread = measure.format(stdev(values), like=middle) if len(values) > 1 else "0"
    return measure.format(middle) + (f" ± {spread}" if float(spread) else "")


def difference_cells(difference: Estimate | None, unit: str) -> list[str]:
    """Return a difference in points, or a ratio, and its 95 % interval, as two cells."""
    if difference is None or isnan(difference.value):
        return ["–", difference.note if difference else ""]
    form = "{:+.2f}" if unit == "points" else "{:.3g}"
    value = f"{form.format(difference.value)} {unit}"
    if difference.bounds is None:
        return [value, difference.note]
    low, high = difference.bounds(ALPHA)
    if low == high:
        return [value, "exact"]
    return [value, f"{form.format(low)} to {form.format(high)}"]


def as_text(runs: Sequence[Run], rows: Sequence[Compared]) -> str:
    """Return the tables of some runs as text."""
    return document.as_text(tables(runs, rows)) + "\n"


def as_markdown(runs: Sequence[Run], rows: Sequence[Compared]) -> str:
    """Return the tables of some runs as Markdown."""
    return "\n\n".join(document.as_markdown(table, 3) for table in tables(runs, rows)) + "\n"


def as_json(runs: Sequence[Run], rows: Sequence[Compared]) -> str:
    """Return rows and conditions as a JSON object, in plain units."""
    lines: list[dict[str, Any]] = [
        {
            "row": row.row,
            "measure": row.measure,
            "runs": {run.name: list(v) for run, v in zip(runs, row.values, strict=True)},
            "to_first": [_plain(difference) for difference in row.estimates],
        }
        for row in rows
    ]
    changed = {name: values for name, *values in changed_conditions(runs)}
    return json.dumps({"rows": lines, "differs": changed}, indent=2, ensure_ascii=False) + "\n"


def _plain(difference: Estimate | None) -> dict[str, Any] | None:
    if difference is None or isnan(difference.value):
        return None
    interval = list(difference.bounds(ALPHA)) if difference.bounds else None
    return {
        "value": difference.value,
        "interval": interval,
        "method": difference.method,
        "note": difference.note,
    }
