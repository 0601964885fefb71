"""The rows of a run next to one of them: paired differences with 95 % intervals."""

from collections.abc import Iterable, Mapping, Sequence

from kmaps.bench.paper.claims import estimate
from kmaps.bench.paper.compared_runs import difference_cells, number_text
from kmaps.bench.records.arrays import Correct
from kmaps.bench.records.columns import Record
from kmaps.bench.records.lines import Line, Lines, line_labels, lines_of, side_by_side
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.report.document import Table
from kmaps.errors import ConfigError, suggest


def difference_tables(
    records: Iterable[Record],
    measures: Sequence[str],
    reference: str,
    correct: Mapping[str, Correct],
) -> list[Table]:
    """Return a table per measure: each row, and its difference to a chosen row.

    Fractions are compared by their difference in points on the same test samples, all other
    measures by their ratio. A row is compared with the chosen row of its own kernel where there is
    one.

    Parameters
    ----------
    records : iterable of dict
        The records of a run.
    measures : sequence of str
        Names of measures.
    reference : str
        The label of the chosen row, as tables have it, perhaps after its kernel and a space.
    correct : mapping
        Which test samples records got right, by their keys, where that is on record.

    Returns
    -------
    list of Table
        The tables, in the order of the measures.

    Raises
    ------
    ConfigError
        When no row has the label.
    """
    lines = lines_of(records)
    labels = line_labels(lines)
    chosen = [line for line in lines if reference in _names(line, labels)]
    if not chosen:
        names = sorted({labels[line] for line in lines})
        raise ConfigError(
            f"intervals={reference!r}: no row has this label{suggest(reference, names)} "
            f"(rows: {', '.join(names)})"
        )
    head = ["", "value", f"to {reference}", "95 % interval"]
    tables = []
    for measure in measures:
        rows = [
            _cells(line, _reference_of(line, chosen), lines, labels, measure, correct)
            for line in lines
        ]
        measured = [row for row in rows if row[1] != "–"]
        tables.append(Table(head, measured, title=MEASURES[measure].title))
    return tables


def _names(line: Line, labels: Mapping[Line, str]) -> tuple[str, str]:
    return labels[line], f"{line.kernel} {labels[line]}"


def _reference_of(line: Line, chosen: Sequence[Line]) -> Line | None:
    """Return the chosen row that a row is compared with: of its reduction, and of its kernel."""
    comparable = [
        reference
        for reference in chosen
        if (reference.setting, reference.reduction) == (line.setting, line.reduction)
    ]
    of_kernel = [reference for reference in comparable if reference.kernel == line.kernel]
    if of_kernel:
        return of_kernel[0]
    return comparable[0] if len(comparable) == 1 else None


def _cells(
    line: Line,
    reference: Line | None,
    lines: Lines,
    labels: Mapping[Line, str],
    measure: str,
    correct: Mapping[str, Correct],
) -> list[str]:
    """Return the cells of a row: its name, its number, and its difference with the interval."""
    is_fraction = MEASURES[measure].unit == "fraction"
    words = (line.setting, line.reduction, line.kernel, labels[line])
    name = " ".join(word for word in words if word)
    if reference is None:
        difference = ["–", "several rows have this label"]
    elif reference == line:
        difference = ["", ""]
    else:
        # A difference is the first of a pair less the second, a ratio the second over the first.
        pair = (line, reference) if is_fraction else (reference, line)
        pairs = side_by_side(*(lines[compared] for compared in pair))
        relation = "above" if is_fraction else "smaller"
        estimated = estimate(pairs, relation, measure, correct)
        difference = difference_cells(estimated, "points" if is_fraction else "×")
    return [name, number_text(lines[line].values(), measure), *difference]
