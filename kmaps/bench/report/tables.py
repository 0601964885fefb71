"""Tables from records: rows by method and parameters, columns by kernel, mean ± std over splits.

One panel holds one measure under one multi-class reduction, so that one-vs-one and one-vs-rest
never share a column. A method without a kernel (linear) stands in the column ``any``. Side by side,
a panel has a row per method and kernel, and a column per measure.

The best row of each measure is marked, whoever's it is, and with it the rows that are not decided
to be worse. A row that lacks splits the others have is never marked, nor is a time that was taken
while other work ran or on another computer.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kmaps.bench.records.columns import WARNED, Record
from kmaps.bench.records.measures import MEASURES, Measure
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import Row, in_words
from kmaps.bench.records.summary import (
    LINE_IDENTITY,
    SETTING,
    Line,
    cells_by_line,
    kernel_order,
    summarize,
)
from kmaps.bench.report.document import Part, Table, Text, as_markdown
from kmaps.bench.report.forms import aligned, bold, latex_label, latex_table

REDUCTION_WORDS = {"ovo": "one-vs-one", "ovr": "one-vs-rest"}
ABSENT = "–"
UNLIKE = "†"
BUSY = "‡"
MARKS = {
    "unlike": f"{UNLIKE} not comparable: other computers or numbers of threads",
    "busy": f"{BUSY} other work ran meanwhile, or may have",
}
SIGNS = {"stopped": "¶", "clamped": "§", "skipped": "¤"}
"""The sign of what records warn of; accuracies and errors of kernels bear it."""
_JUDGED_UNITS = ("fraction", "kernel")

FORMATS = ("text", "md", "csv", "latex", "json")


Tied = Callable[[Sequence[Record], Sequence[Record], str], bool]
"""Whether two rows, by the records of their cells, are not decided to differ in a measure."""

_BEST = "best row, and what is not decided to be worse"


@dataclass(frozen=True)
class TableCell:
    """A number of a row as text, and whether it is the best of its measure."""

    text: str
    best: bool = False


@dataclass(frozen=True)
class Panel:
    """One table: its title, and its rows by their labels.

    Parameters
    ----------
    title : str
        What the numbers are of, in words.
    words : list of str
        The words that distinguish the panel from others.
    columns : list of str
        The kernels; side by side the measures.
    rows : list of (str, list of TableCell)
        Each row's label, and a cell per column.
    """

    title: str
    words: list[str]
    columns: list[str]
    rows: list[tuple[str, list[TableCell]]]


def render(
    records: Iterable[Record],
    form: str,
    measures: Sequence[str],
    *,
    together: bool = False,
    tied: Tied | None = None,
) -> str:
    """Return the tables of some measures of records as text in one of :data:`FORMATS`.

    CSV and JSON hold :func:`summarize` as it is, for programs; the others are for reading. There is
    a table per measure, or with ``together`` one with all of them side by side. ``tied`` says which
    rows are marked next to the best; without it those are that print the same.
    """
    records = list(records)
    summary = summarize(records, measures)
    if form in ("csv", "json"):
        from kmaps.bench.report.export import csv_of, summary_table  # pandas is slow to import

        table = summary_table(summary)
        if form == "csv":
            return csv_of(table)
        return table.to_json(orient="records", indent=2, double_precision=15) + "\n"
    renderers = {"text": _text, "md": _markdown, "latex": _latex}
    return renderers[form](*_panels(records, summary, together, tied))


def tables(
    records: Iterable[Record],
    measures: Sequence[str],
    *,
    together: bool = False,
    tied: Tied | None = None,
) -> list[Part]:
    """Return the tables of some measures of records as parts of a page, and their notes.

    ``together`` and ``tied`` are as in :func:`render`.
    """
    records = list(records)
    return _parts(*_panels(records, summarize(records, measures), together, tied))


def _panels(
    records: Sequence[Record], summary: Sequence[Line], together: bool, tied: Tied | None
) -> tuple[list[Panel], list[str]]:
    """Return the panels of a summary, and the notes below them."""
    cells = cells_by_line(records)
    is_best = _marker(summary, cells, tied)
    features = short_features(records)
    lay_out = _side_by_side if together else _by_kernel
    panels = [lay_out(lines, features, is_best) for lines in _split(summary, together).values()]
    return panels, [*notes(records), *_mark_notes(records, summary)]


def _split(summary: Sequence[Line], together: bool) -> dict[tuple, list[Line]]:
    """Return the lines of each panel: of a setting and reduction, and of one measure or of all."""
    names = SETTING if together else (*SETTING, "measure")
    panels: dict[tuple, list[Line]] = {}
    for line in summary:
        panels.setdefault(tuple(line[name] for name in names), []).append(line)
    return panels


def _marker(
    summary: Sequence[Line], cells: dict[tuple, list[Record]], tied: Tied | None
) -> Callable[[Line], bool]:
    """Return a function that says whether a line is marked as the best of its measure."""
    marked_ids: set[int] = set()
    for lines in _split(summary, together=False).values():
        measure = MEASURES[lines[0]["measure"]]
        most = _most_cells(lines)
        competitors = [line for line in lines if _competes(line, most)]
        if not competitors or not measure.ranked:
            continue
        best_of = max if measure.highest else min
        best = best_of(competitors, key=_middle)
        text = measure.format(_middle(best))
        records_of_best = cells[_identity(best)]
        for line in competitors:
            prints_the_same = measure.format(_middle(line)) == text
            if prints_the_same or (
                tied is not None and tied(cells[_identity(line)], records_of_best, line["measure"])
            ):
                marked_ids.add(id(line))
    return lambda line: id(line) in marked_ids


def _identity(line: Line) -> tuple:
    return tuple(line[name] for name in LINE_IDENTITY)


def _mark_notes(records: Sequence[Record], lines: Sequence[Line]) -> list[str]:
    """Return the meanings of a table's marks, and of the C that is one for all."""
    marks = [meaning for name, meaning in MARKS.items() if any(line[name] for line in lines)]
    for name, sign in SIGNS.items():
        if any(_sign(line, MEASURES[line["measure"]], name) for line in lines):
            marks.append(f"{sign} {WARNED[name]} in some cell")
    common_C = {line["C"] for record in records for line in record.get("common_repeats", ())}
    if common_C and any(line["measure"] == "time-common" for line in lines):
        marks.append(f"one C for all: {common_C.pop():g}")
    return marks


def notes(records: Iterable[Record]) -> list[str]:
    """Return the settings that all rows of a table share, which labels and titles leave out."""
    records = list(records)
    _, shared_settings = short_labels(map(Row.of, records))
    parameters = []
    for full_name, name in sorted(short_features(records).items()):
        if full_name != name:
            parameters.append(f"{name}: {full_name.removeprefix(name).strip()}")
    return [*shared_settings, *parameters]


def short_features(records: Iterable[Record]) -> dict[str, str]:
    """Return the names of features, without parameters where these distinguish none of them."""
    parameters = {record["features"]: record.get("feature_params") or {} for record in records}
    names = {full: full.removesuffix(in_words(params)) for full, params in parameters.items()}
    counts = Counter(names.values())
    return {full: name if counts[name] == 1 else full for full, name in names.items()}


def _by_kernel(
    lines: Sequence[Line], features: dict[str, str], is_best: Callable[[Line], bool]
) -> Panel:
    """Return the panel of a measure: a row per method, a column per kernel."""
    measure = MEASURES[lines[0]["measure"]]
    most = _most_cells(lines)
    kernels = sorted({line["kernel"] for line in lines}, key=kernel_order)
    rows: dict[str, dict[str, TableCell]] = {}
    for line in lines:
        row = rows.setdefault(line["label"], {})
        row[line["kernel"]] = TableCell(_number(line, measure, most), is_best(line))
    return Panel(
        _title(lines, measure.title, features[lines[0]["features"]]),
        _words(lines[0], features, [lines[0]["measure"]]),
        [kernel or "any" for kernel in kernels],
        [
            (label, [row.get(kernel, TableCell(ABSENT)) for kernel in kernels])
            for label, row in rows.items()
        ],
    )


def _side_by_side(
    lines: Sequence[Line], features: dict[str, str], is_best: Callable[[Line], bool]
) -> Panel:
    """Return the panel of a setting: a row per method and kernel, a column per measure."""
    by_measure: dict[str, list[Line]] = {}
    for line in lines:
        by_measure.setdefault(line["measure"], []).append(line)
    several_kernels = len({line["kernel"] for line in lines}) > 1
    rows: dict[str, dict[str, TableCell]] = {}
    for name, of_measure in by_measure.items():
        most = _most_cells(of_measure)
        for line in of_measure:
            words = (line["label"], line["kernel"] if several_kernels else "")
            row = rows.setdefault(", ".join(filter(None, words)), {})
            row[name] = TableCell(_number(line, MEASURES[name], most), is_best(line))
    return Panel(
        _title(lines, "side by side", features[lines[0]["features"]]),
        _words(lines[0], features, by_measure),
        [MEASURES[name].heading for name in by_measure],
        [
            (label, [row.get(name, TableCell(ABSENT)) for name in by_measure])
            for label, row in rows.items()
        ],
    )


def _most_cells(lines: Iterable[Line]) -> dict[str, int]:
    """Return how many splits, and how many draws, the rows have that have the most.

    An exact kernel has no draws, so next to random maps it lacks none.
    """
    most: dict[str, int] = {}
    for line in lines:
        most[line["over"]] = max(line["n"], most.get(line["over"], 0))
    return most


def _words(line: Line, features: dict[str, str], measures: Iterable[str]) -> list[str]:
    """Return the words that distinguish a table from tables of other settings and measures."""
    return [
        line["experiment"],
        line["setting"],
        line["dataset"],
        features[line["features"]],
        "" if line["normalize"] == "none" else line["normalize"],
        line["reduction"],
        *measures,
    ]


def _competes(line: Line, most: dict[str, int]) -> bool:
    """Return whether a line may be the best: it has all cells, and its times compare."""
    is_whole = 0 < line["n"] == most[line["over"]]
    return is_whole and not line["busy"] and not line["unlike"]


def _middle(line: Line) -> float:
    """Return the value of a line to print: the median of repeated times, else the mean."""
    return line["median"] if line["repeats"] else line["mean"]


def _number(line: Line, measure: Measure, most: dict[str, int]) -> str:
    """Return the number of a line with its spread, its signs, and what it lacks."""
    if not line["n"]:
        return f"failed ({line['failed']})" if line["failed"] else ABSENT
    text = measure.format(_middle(line))
    if line["repeats"]:
        low, high = (measure.format(line[name], like=line["median"]) for name in ("q1", "q3"))
        text += f" ({low}–{high})" if line["repeats"] > 1 else ""
    elif line["std"] is not None:
        spread = measure.format(line["std"], like=line["mean"])
        text += f" ± {spread}" if float(spread) else ""  # the printed digits may not vary
    if line["unlike"]:
        text += f" {UNLIKE}"
    if line["busy"]:
        text += f" {BUSY}"
    signs = "".join(_sign(line, measure, name) for name in SIGNS)
    if signs:
        text += f" {signs}"
    if line["form"]:
        text += f" {line['form']}"
    failed = f", failed {line['failed']}" if line["failed"] else ""
    lacks_cells = line["n"] < most[line["over"]]
    return f"{text} (n={line['n']}{failed})" if failed or lacks_cells else text


def _sign(line: Line, measure: Measure, name: str) -> str:
    """Return the sign of a warning where a number bears it: accuracies and errors of kernels."""
    return SIGNS[name] if measure.unit in _JUDGED_UNITS and line["n"] and line[name] else ""


def _title(lines: Sequence[Line], content: str, features: str) -> str:
    """Return what a panel is of in words: its data, reduction and content, and over how many."""
    line = max(lines, key=lambda line: line["n"])
    if line["normalize"] not in ("", "none"):
        features = f"{features or 'columns'} ({line['normalize']})"
    reduction = REDUCTION_WORDS.get(line["reduction"], line["reduction"])
    words = (line["setting"], line["dataset"], features, reduction)
    title = f"{', '.join(filter(None, words))}: {content}"
    return "; ".join(filter(None, [title, _repeats(lines), _replicates(lines, line)]))


def _repeats(lines: Sequence[Line]) -> str:
    """Say how often the cells that were timed again were timed."""
    repeats = {line["repeats"] for line in lines} - {0}
    if not repeats:
        return ""
    least = min(repeats)
    most = max(repeats)
    count = str(least) if least == most else f"{least}–{most}"
    plural = "" if repeats == {1} else "s"
    has_timed_once = any(not line["repeats"] for line in lines)
    note = ", the others timed once" if has_timed_once else ""
    return f"median (quartiles) of {count} repeat{plural}{note}"


def _replicates(lines: Sequence[Line], line: Line) -> str:
    """Say over how many splits or draws the numbers of a block are."""
    if line["n"] > 1:
        has_means = any(not row["repeats"] for row in lines)
        spread = "mean ± std over " if has_means else ""
        return f"{spread}{line['n']} {line['over']}"
    return f"1 {line['over'].removesuffix('s')}" if line["over"] else ""


def _sentence(phrases: Sequence[str]) -> str:
    return f"{'; '.join(phrases)}." if phrases else ""


def _text(panels: Sequence[Panel], phrases: Sequence[str]) -> str:
    notes = [_sentence(phrases), f"* {_BEST}."]
    note_lines = "\n".join(note for note in notes if note)
    return "\n\n".join([*map(_text_panel, panels), note_lines]) + "\n"


def _text_panel(panel: Panel) -> str:
    # A separate column for the mark keeps the digits aligned.
    body = [
        [label, *(f"{cell.text}{'*' if cell.best else ' '}" for cell in cells)]
        for label, cells in panel.rows
    ]
    grid = [["", *(f"{name} " for name in panel.columns)], *body]
    return "\n".join([panel.title, *aligned(grid)])


def _markdown(panels: Sequence[Panel], phrases: Sequence[str]) -> str:
    return "\n\n".join(as_markdown(part, 3) for part in _parts(panels, phrases)) + "\n"


def _parts(panels: Iterable[Panel], phrases: Sequence[str]) -> list[Part]:
    notes = [_sentence(phrases), f"Bold: {_BEST}."]
    return [*map(_table, panels), Text(" ".join(note for note in notes if note))]


def _table(panel: Panel) -> Table:
    rows = [[label, *(bold(cell.text, cell.best) for cell in cells)] for label, cells in panel.rows]
    return Table(["", *panel.columns], rows, title=panel.title)


def _latex(panels: Sequence[Panel], phrases: Sequence[str]) -> str:
    head = "% needs \\usepackage{booktabs,graphicx}\n"
    environments = []
    for panel in panels:
        rows = [(label, [(cell.text, cell.best) for cell in cells]) for label, cells in panel.rows]
        note = _sentence([*_notes_below(panel, phrases), f"bold: {_BEST}"])
        label = latex_label(panel.words)
        environments.append(latex_table(panel.title, label, panel.columns, rows, note))
    return head + "\n".join(environments)


def _notes_below(panel: Panel, phrases: Sequence[str]) -> list[str]:
    """Return the notes below a panel that stands alone, without notes on absent marks."""
    text = "".join(cell.text for _, cells in panel.rows for cell in cells)
    absent = [mark for mark in (UNLIKE, BUSY, *SIGNS.values()) if mark not in text]
    return [phrase for phrase in phrases if not phrase.startswith(tuple(absent))]
