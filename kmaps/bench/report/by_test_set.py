"""Accuracies test set by test set, where a protocol combines training sets with several of them.

The spread over all combinations mixes two things: which test set it is, and which training sets.
"""

from collections.abc import Sequence
from statistics import fmean, stdev

from kmaps.bench.records.columns import Record
from kmaps.bench.records.lines import line_labels, lines_of
from kmaps.bench.records.measures import MEASURES, accuracy_of
from kmaps.bench.report.document import Table


def has_test_sets(records: Sequence[Record]) -> bool:
    """Return whether the records are of several test sets."""
    protocol = records[0]["protocol"]
    names = protocol["test"] if "choose" in protocol else [""]
    return len({record["split"] % len(names) for record in records}) > 1


def by_test_set(records: Sequence[Record]) -> Table:
    """Return a table: rows, and mean ± std over the training sets per test set."""
    names = records[0]["protocol"]["test"]
    measure = MEASURES[accuracy_of(list(records))]
    lines = lines_of(records)
    labels = line_labels(lines)
    rows = []
    for line, cells in lines.items():
        values: list[list[float]] = [[] for _ in names]
        for record in cells.values():  # splits count test sets first, then training sets
            value = measure.value(record)
            if value is not None:
                values[record["split"] % len(names)].append(value)
        words = (line.reduction, line.kernel, labels[line])
        name = " ".join(word for word in words if word)
        rows.append([name, *map(_percent, values)])
    title = f"{measure.title}; mean ± std over the training sets"
    return Table([title, *names], rows)


def _percent(values: Sequence[float]) -> str:
    if not values:
        return "–"
    spread = f" ± {100 * stdev(values):.2f}" if len(values) > 1 else ""
    return f"{100 * fmean(values):.2f}{spread}"
