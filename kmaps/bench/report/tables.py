"""Tables from records: rows by method and parameters, columns by kernel, mean ± std over splits.

One block holds one measure under one multi-class reduction, so that one-vs-one and one-vs-rest
never share a column. A method without a kernel (linear) stands in the column ``any``.

The best cell of a column is marked among the maps alone: linear, exact and exact-coded are the
references that maps are read against. Cells that print the same mean are all marked, and a cell
that lacks splits the others have is never the best.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan

import pandas as pd

from kmaps.bench.records.summary import (
    MEASURES,
    REFERENCES,
    ROW,
    SETTING,
    Measure,
    default_measures,
    kernel_order,
    summarize,
)

REDUCTIONS = {"ovo": "one-vs-one", "ovr": "one-vs-rest"}
NO_KERNEL = "any"
ABSENT = "–"


@dataclass(frozen=True)
class Cell:
    """The text of one cell and whether it is the best of its column."""

    text: str
    best: bool = False


@dataclass(frozen=True)
class Block:
    """One printed table: a title, the kernels of its columns, its rows of (label, cells)."""

    title: str
    columns: list[str]
    rows: list[tuple[str, list[Cell]]]


def lay_out(summary: pd.DataFrame) -> list[Block]:
    """Lay a summary out as one block per setting, reduction and measure."""
    parts = summary.groupby([*SETTING, "measure"], sort=False)
    return [_block(part.to_dict("records")) for _, part in parts]


def _block(lines: list[dict]) -> Block:
    measure = MEASURES[lines[0]["measure"]]
    n = max(line["n"] for line in lines)
    kernels = sorted({line["kernel"] for line in lines}, key=kernel_order)
    best = {kernel: _best_text(lines, kernel, measure, n) for kernel in kernels}
    rows: dict[tuple, dict[str, Cell]] = {}
    for line in lines:
        marked = _competes(line, n) and measure.format(line["mean"]) == best[line["kernel"]]
        row = rows.setdefault(tuple(line[name] for name in ROW), {})
        row[line["kernel"]] = Cell(_text(line, measure, n), marked)
    return Block(
        _title(lines[0], measure, n),
        [kernel or NO_KERNEL for kernel in kernels],
        [(key[1], [row.get(k, Cell(ABSENT)) for k in kernels]) for key, row in rows.items()],
    )


def _competes(line: dict, n: int) -> bool:
    return line["method"] not in REFERENCES and 0 < n == line["n"]


def _best_text(lines: list[dict], kernel: str, measure: Measure, n: int) -> str | None:
    means = [line["mean"] for line in lines if line["kernel"] == kernel and _competes(line, n)]
    return measure.format((max if measure.highest else min)(means)) if means else None


def _text(line: dict, measure: Measure, n: int) -> str:
    if not line["n"]:
        return f"failed ({line['failed']})" if line["failed"] else ABSENT
    text = measure.format(line["mean"])
    if not isnan(line["std"]):
        text += f" ± {measure.format(line['std'], like=line['mean'])}"
    failed = f", failed {line['failed']}" if line["failed"] else ""
    return f"{text} (n={line['n']}{failed})" if failed or line["n"] < n else text


def _title(line: dict, measure: Measure, n: int) -> str:
    normalize = f" ({line['normalize']})" if line["normalize"] not in ("", "none") else ""
    reduction = REDUCTIONS.get(line["reduction"], line["reduction"])
    setting = ", ".join(filter(None, [line["dataset"], line["features"] + normalize, reduction]))
    if not line["reduction"]:  # a study: no splits
        return f"{setting}: {measure.title}"
    splits = "1 split" if n == 1 else f"mean ± std over {n} splits"
    return f"{setting}: {measure.title}; {splits}"


def _render_text(table: list[Block]) -> str:
    return "\n\n".join(_text_block(block) for block in table) + "\n\n* best map of its column\n"


def _text_block(block: Block) -> str:
    # A column of its own for the mark keeps the digits aligned.
    body = [
        [label, *(f"{cell.text}{'*' if cell.best else ' '}" for cell in cells)]
        for label, cells in block.rows
    ]
    grid = [["", *(f"{name} " for name in block.columns)], *body]
    widths = [max(len(row[i]) for row in grid) for i in range(len(grid[0]))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in grid
    ]
    return "\n".join([block.title, *lines])


def _render_markdown(table: list[Block]) -> str:
    return (
        "\n".join(_markdown_block(block) for block in table) + "\nBold: best map of its column.\n"
    )


def _markdown_block(block: Block) -> str:
    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |\n"

    head = line(["", *block.columns]) + line(["---", *("---:" for _ in block.columns)])
    body = [
        line([label, *(f"**{cell.text}**" if cell.best else cell.text for cell in cells)])
        for label, cells in block.rows
    ]
    return f"### {block.title}\n\n{head}{''.join(body)}"


_LATEX_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "±": r"$\pm$",
    ABSENT: "--",
}


def _latex(text: str) -> str:
    return "".join(_LATEX_ESCAPES.get(character, character) for character in text)


def _render_latex(table: list[Block]) -> str:
    head = "% needs \\usepackage{booktabs}; bold: best map of its column\n"
    return head + "\n".join(_latex_block(block) for block in table)


def _latex_block(block: Block) -> str:
    rows = [[_latex(label), *(_latex_cell(cell) for cell in cells)] for label, cells in block.rows]
    lines = [
        r"\begin{table}",
        rf"\caption{{{_latex(block.title)}}}",
        rf"\begin{{tabular}}{{l{'r' * len(block.columns)}}}",
        r"\toprule",
        " & ".join(["", *map(_latex, block.columns)]) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_cell(cell: Cell) -> str:
    return rf"\textbf{{{_latex(cell.text)}}}" if cell.best else _latex(cell.text)


FORMATS = ("text", "md", "csv", "latex", "json")


def render(
    records: Iterable[dict], form: str = "text", measures: Sequence[str] | None = None
) -> str:
    """Return the table of some records as text in one of :data:`FORMATS`.

    Parameters
    ----------
    records : iterable of dict
        As read from ``records.jsonl``.
    form : {"text", "md", "latex", "csv", "json"}
        The first three are for reading: percent, seconds, megabytes, one block per measure and
        reduction. The last two hold :func:`summarize` as it is, for programs.
    measures : sequence of str, optional
        Keys of :data:`MEASURES`; by default :func:`default_measures`.

    Returns
    -------
    str
        Ends with a newline.

    Examples
    --------
    >>> cell = {"status": "ok", "method": "exact", "label": "exact", "kernel": "chi2", "split": 0}
    >>> cell |= {"dataset": "digits", "features": "intensity", "reduction": "ovo"}
    >>> print(render([cell | {"accuracy": 0.9}], measures=["accuracy"]), end="")
    digits, intensity, one-vs-one: accuracy, %; 1 split
            chi2
    exact  90.00
    <BLANKLINE>
    * best map of its column
    """
    records = list(records)
    summary = summarize(records, default_measures(records) if measures is None else measures)
    if form == "csv":
        return summary.to_csv(index=False, lineterminator="\n")
    if form == "json":
        return summary.to_json(orient="records", indent=2, double_precision=15) + "\n"
    renderers = {"text": _render_text, "md": _render_markdown, "latex": _render_latex}
    return renderers[form](lay_out(summary))
