"""Tables from records: rows by method and parameters, columns by kernel, mean ± std over splits.

One block holds one measure under one multi-class reduction, so that one-vs-one and one-vs-rest
never share a column. A method without a kernel (linear) stands in the column ``any``.

The best cell of a column is marked among the maps, where no third-party classifier is better:
linear, exact and exact on codes are the references that maps are read against. Cells that print
the same mean are all marked, and a cell that lacks splits the others have is never the best.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kmaps.bench.records.columns import WARNED, Record
from kmaps.bench.records.measures import MEASURES, Measure
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import BY_ITSELF, REFERENCES, Row, in_words
from kmaps.bench.records.summary import SETTING, Line, kernel_order, summarize
from kmaps.bench.report.document import Part, Table, Text, as_markdown
from kmaps.bench.report.forms import aligned, bold, latex_label, latex_table

REDUCTION_WORDS = {"ovo": "one-vs-one", "ovr": "one-vs-rest"}
ABSENT = "–"
UNLIKE, BUSY = "†", "‡"
MARKS = {
    "unlike": f"{UNLIKE} not comparable: other computers or numbers of threads",
    "busy": f"{BUSY} other work ran meanwhile",
}
SIGNS = {"stopped": "¶", "clamped": "§", "skipped": "¤"}
"""The sign of what records warn of; accuracies and errors of kernels bear it."""
_JUDGED_UNITS = ("fraction", "kernel")

FORMATS = ("text", "md", "csv", "latex", "json")


@dataclass(frozen=True)
class Entry:
    text: str
    best: bool = False


@dataclass(frozen=True)
class Block:
    title: str
    words: list[str]  # the words that distinguish it from others
    columns: list[str]  # the kernels
    rows: list[tuple[str, list[Entry]]]  # by their labels


def render(
    records: Iterable[Record], form: str, measures: Sequence[str], *, together: bool = False
) -> str:
    """Return the tables of some measures of records as text in one of :data:`FORMATS`.

    CSV and JSON hold :func:`summarize` as it is, for programs; the others are for reading. There is
    a table per measure, or with ``together`` one with the measures of each kernel side by side.
    """
    records = list(records)
    summary = summarize(records, measures)
    if form in ("csv", "json"):
        from kmaps.bench.report.export import csv_of, summary_table  # pandas is slow to import

        table = summary_table(summary)
        as_json = {"orient": "records", "indent": 2, "double_precision": 15}
        return csv_of(table) if form == "csv" else table.to_json(**as_json) + "\n"
    renderers = {"text": _text, "md": _markdown, "latex": _latex}
    said = [*notes(records), *_mark_notes(records, summary)]
    blocks = lay_out(summary, short_features(records))
    return renderers[form](_joined(blocks) if together else blocks, said)


def tables(records: Iterable[Record], measures: Sequence[str]) -> list[Part]:
    """Return the tables of some measures of records as parts of a page, and their marks."""
    records = list(records)
    summary = summarize(records, measures)
    said = [*notes(records), *_mark_notes(records, summary)]
    return _parts(lay_out(summary, short_features(records)), said)


def _mark_notes(records: Sequence[Record], lines: Sequence[Line]) -> list[str]:
    """Return the meanings of a table's marks, and of the C that is one for all."""
    marks = [meaning for name, meaning in MARKS.items() if any(line[name] for line in lines)]
    common = {line["C"] for record in records for line in record.get("common_repeats", ())}
    shown = bool(common) and "time-common" in {line["measure"] for line in lines}
    marks += [
        f"{sign} {WARNED[name]} in some cell"
        for name, sign in SIGNS.items()
        if any(_signs(line, MEASURES[line["measure"]], name) for line in lines)
    ]
    return [*marks, *([f"one C for all: {common.pop():g}"] if shown else [])]


def notes(records: Iterable[Record]) -> list[str]:
    """Return the settings that all rows of a table share, which labels and titles leave out."""
    records = list(records)
    _, said_once = short_labels(map(Row.of, records))
    short = short_features(records)
    left_out = [(name, whole) for whole, name in sorted(short.items()) if whole != name]
    parameters = (f"{name}: {whole.removeprefix(name).strip()}" for name, whole in left_out)
    return [*said_once, *parameters]


def short_features(records: Iterable[Record]) -> dict[str, str]:
    """Return the names of features, without parameters where these distinguish none of them."""
    given = {record["features"]: record.get("feature_params") or {} for record in records}
    names = {whole: whole.removesuffix(in_words(params)) for whole, params in given.items()}
    alone = list(names.values())
    return {whole: name if alone.count(name) == 1 else whole for whole, name in names.items()}


def lay_out(summary: Sequence[Line], features: dict[str, str]) -> list[Block]:
    """Lay a summary out as one block per setting, reduction and measure."""
    parts: dict[tuple, list[Line]] = {}
    for line in summary:
        parts.setdefault(tuple(line[name] for name in (*SETTING, "measure")), []).append(line)
    return [_block(part, features) for part in parts.values()]


def _block(lines: list[dict[str, Any]], features: dict[str, str]) -> Block:
    measure = MEASURES[lines[0]["measure"]]
    # An exact kernel has no draws, so next to random maps it lacks none.
    most: dict[str, int] = {}
    for line in lines:
        most[line["over"]] = max(line["n"], most.get(line["over"], 0))
    kernels = sorted({line["kernel"] for line in lines}, key=kernel_order)
    best = {kernel: _best_text(lines, kernel, measure, most) for kernel in kernels}
    rows: dict[str, dict[str, Entry]] = {}
    for line in lines:
        competes = _competes(line, most) and line["solver"] != BY_ITSELF
        marked = competes and measure.format(_middle(line)) == best[line["kernel"]]
        row = rows.setdefault(line["label"], {})
        row[line["kernel"]] = Entry(_entry(line, measure, most[line["over"]]), marked)
    return Block(
        _title(lines, measure, features[lines[0]["features"]]),
        _words(lines[0], features),
        [kernel or "any" for kernel in kernels],
        [(label, [row.get(k, Entry(ABSENT)) for k in kernels]) for label, row in rows.items()],
    )


def _joined(blocks: Iterable[Block]) -> list[Block]:
    """Return blocks that differ in the measure alone as one, a column per kernel and measure."""
    groups: dict[tuple[str, ...], list[Block]] = {}
    for block in blocks:
        groups.setdefault(tuple(block.words[:-1]), []).append(block)
    return [_side_by_side(group) for group in groups.values()]


def _side_by_side(blocks: Sequence[Block]) -> Block:
    kernels = dict.fromkeys(kernel for block in blocks for kernel in block.columns)
    places = [(kernel, block) for kernel in kernels for block in blocks if kernel in block.columns]
    cells: dict[str, list[Entry]] = {label: [] for block in blocks for label, _ in block.rows}
    for kernel, block in places:
        entries = {label: row[block.columns.index(kernel)] for label, row in block.rows}
        for label, row in cells.items():
            row.append(entries.get(label, Entry(ABSENT)))
    setting, _, first = blocks[0].title.partition(": ")
    measured = [first, *(block.title.partition(": ")[2] for block in blocks[1:])]
    return Block(
        f"{setting}: {' | '.join(measured)}",
        [*blocks[0].words[:-1], *(block.words[-1] for block in blocks)],
        [f"{kernel} {block.words[-1]}" for kernel, block in places],
        list(cells.items()),
    )


def _words(line: dict[str, Any], features: dict[str, str]) -> list[str]:
    """Return the words that distinguish a table from tables of other settings and measures."""
    normalize = "" if line["normalize"] == "none" else line["normalize"]
    setting = line["experiment"], line["setting"], line["dataset"], features[line["features"]]
    return [*setting, normalize, line["reduction"], line["measure"]]


def _competes(line: dict[str, Any], most: dict[str, int]) -> bool:
    return line["method"] not in REFERENCES and 0 < line["n"] == most[line["over"]]


def _best_text(
    lines: list[dict[str, Any]], kernel: str, measure: Measure, most: dict[str, int]
) -> str | None:
    found = [_middle(line) for line in lines if line["kernel"] == kernel and _competes(line, most)]
    best = max if measure.highest else min
    return measure.format(best(found)) if found and measure.ranked else None


def _middle(line: dict[str, Any]) -> float:
    """Return the value of a line to print: the median of repeated times, else the mean."""
    return line["median"] if line["repeats"] else line["mean"]


def _entry(line: dict[str, Any], measure: Measure, n: int) -> str:
    if not line["n"]:
        return f"failed ({line['failed']})" if line["failed"] else ABSENT
    text = measure.format(_middle(line))
    if line["repeats"]:
        low, high = (measure.format(line[name], like=line["median"]) for name in ("q1", "q3"))
        text += f" ({low}–{high})" if line["repeats"] > 1 else ""
    elif line["std"] is not None:
        spread = measure.format(line["std"], like=line["mean"])
        text += f" ± {spread}" if float(spread) else ""  # the printed digits may not vary
    text += f" {UNLIKE}" * line["unlike"] + f" {BUSY}" * line["busy"]
    signs = "".join(_signs(line, measure, name) for name in SIGNS)
    text += f" {signs}" if signs else ""
    if line["form"]:
        text += f" {line['form']}"
    failed = f", failed {line['failed']}" if line["failed"] else ""
    return f"{text} (n={line['n']}{failed})" if failed or line["n"] < n else text


def _signs(line: dict[str, Any], measure: Measure, name: str) -> str:
    """Return the sign of a warning where a number bears it: accuracies and errors of kernels."""
    return SIGNS[name] if measure.unit in _JUDGED_UNITS and line["n"] and line[name] else ""


def _title(lines: list[dict[str, Any]], measure: Measure, features: str) -> str:
    line = max(lines, key=lambda line: line["n"])
    if line["normalize"] not in ("", "none"):
        features = f"{features or 'columns'} ({line['normalize']})"
    reduction = REDUCTION_WORDS.get(line["reduction"], line["reduction"])
    words = line["setting"], line["dataset"], features, reduction
    title = f"{', '.join(filter(None, words))}: {measure.title}"
    return "; ".join(filter(None, [title, _repeats(lines), _replicates(lines, line)]))


def _repeats(lines: list[dict[str, Any]]) -> str:
    """Say how often the cells that were timed again were timed."""
    repeats = {line["repeats"] for line in lines} - {0}
    if not repeats:
        return ""
    counted = "–".join(map(str, sorted({min(repeats), max(repeats)})))
    plural = "" if repeats == {1} else "s"
    others = ", the others timed once" if any(not line["repeats"] for line in lines) else ""
    return f"median (quartiles) of {counted} repeat{plural}{others}"


def _replicates(lines: list[dict[str, Any]], line: dict[str, Any]) -> str:
    """Say over how many splits or draws the numbers of a block are."""
    if line["n"] > 1:
        spread = "mean ± std over " if any(not one["repeats"] for one in lines) else ""
        return f"{spread}{line['n']} {line['over']}"
    return f"1 {line['over'].removesuffix('s')}" if line["over"] else ""


def _sentence(said: Sequence[str]) -> str:
    return f"{'; '.join(said)}." if said else ""


def _text(blocks: list[Block], said: list[str]) -> str:
    last = "\n".join(filter(None, [_sentence(said), "* best map of its column"]))
    return "\n\n".join([*map(_text_block, blocks), last]) + "\n"


def _text_block(block: Block) -> str:
    # A separate column for the mark keeps the digits aligned.
    body = [
        [label, *(f"{entry.text}{'*' if entry.best else ' '}" for entry in entries)]
        for label, entries in block.rows
    ]
    grid = [["", *(f"{name} " for name in block.columns)], *body]
    return "\n".join([block.title, *aligned(grid)])


def _markdown(blocks: list[Block], said: list[str]) -> str:
    return "\n\n".join(as_markdown(part, 3) for part in _parts(blocks, said)) + "\n"


def _parts(blocks: Iterable[Block], said: Sequence[str]) -> list[Part]:
    last = " ".join(filter(None, [_sentence(said), "Bold: best map of its column."]))
    return [*map(_table, blocks), Text(last)]


def _table(block: Block) -> Table:
    rows = [
        [label, *(bold(entry.text, entry.best) for entry in entries)]
        for label, entries in block.rows
    ]
    return Table(["", *block.columns], rows, title=block.title)


def _latex(blocks: list[Block], said: list[str]) -> str:
    head = "% needs \\usepackage{booktabs,graphicx}; bold: best map of its column\n"
    tables = []
    for block in blocks:
        rows = [
            (label, [(entry.text, entry.best) for entry in entries])
            for label, entries in block.rows
        ]
        label, note = latex_label(block.words), _sentence(_said_of(block, said))
        tables.append(latex_table(block.title, label, block.columns, rows, note))
    return head + "\n".join(tables)


def _said_of(block: Block, said: Sequence[str]) -> list[str]:
    """Return the notes below a block that stands alone, without notes on absent marks."""
    shown = "".join(entry.text for _, entries in block.rows for entry in entries)
    lacking = [mark for mark in (UNLIKE, BUSY, *SIGNS.values()) if mark not in shown]
    return [text for text in said if not text.startswith(tuple(lacking))]
