"""The paper's numbers beside ours, in the layout of its tables, as Markdown."""

from collections.abc import Iterable, Sequence

from kmaps.bench.records.paper.numbers import Comparison, Outcome, PrintedTable, printed_tables
from kmaps.bench.report.markdown import markdown_table

_SIGNIFICANT = 3  # digits of times' ratios


def numbers_section(comparisons: Iterable[Comparison]) -> str:
    """Return the tables of the papers that some numbers stand in, each number printed / ours."""
    by_table: dict[tuple[str, str], list[Comparison]] = {}
    for found in comparisons:
        by_table.setdefault((found.number.paper, found.number.table), []).append(found)
    tables = [_table(printed_tables()[key], group) for key, group in by_table.items()]
    return "\n\n".join(tables)


def counts_of(comparisons: Iterable[Comparison]) -> dict[Outcome, int]:
    """Return how many numbers came out in each way."""
    outcomes = [found.outcome for found in comparisons]
    return {outcome: outcomes.count(outcome) for outcome in Outcome}


def texts(found: Comparison) -> tuple[str, str]:
    """Return the printed number and ours as text, ours with as many digits."""
    if found.number.unit == "s":
        printed, ours = (
            "–" if value is None else f"{value:.{_SIGNIFICANT}g} ×"
            for value in (found.printed, found.ours)
        )
        return printed, ours
    if found.ours is None:
        return found.number.text, "–"
    if "e" in found.number.text:
        digits = len(found.number.text.partition("e")[0].partition(".")[2])
        return found.number.text, f"{found.ours:.{max(1, digits)}e}"
    return found.number.text, f"{found.ours:.{found.number.decimals}f}"


def deviation(found: Comparison) -> str:
    """Return how far ours is from print: points for percentages, percent of print for others."""
    if found.ours is None:
        return ""
    if found.number.unit == "%":
        return f"{found.ours - found.printed:+.2f} points"
    return f"{100 * (found.ours / found.printed - 1):+.1f} %"


def _table(table: PrintedTable, group: Sequence[Comparison]) -> str:
    rows = list(dict.fromkeys(found.number.row for found in group))
    columns = list(dict.fromkeys(found.number.column for found in group))
    at = {(found.number.row, found.number.column): found for found in group}
    body = [[row, *(_cell(at.get((row, column))) for column in columns)] for row in rows]
    parts = [
        f"### {table.paper}, {table.table}: {table.title}",
        _summary(table, group),
        markdown_table(["printed / ours", *columns], body),
    ]
    return "\n\n".join(parts)


def _summary(table: PrintedTable, group: Sequence[Comparison]) -> str:
    counts = counts_of(group)
    judged = counts[Outcome.MET] + counts[Outcome.NOT_MET]
    sentences = [f"{counts[Outcome.MET]} of {judged} met or beaten, to the printed digits."]
    if counts[Outcome.NOT_MET]:
        sentences.append("Bold: not met.")
    if counts[Outcome.SHOWN]:
        sentences.append(
            f"Times are over that of {table.reference_row}, {table.reference_column}; they are "
            "shown, not judged."
        )
    if counts[Outcome.MISSING]:
        sentences.append(f"{counts[Outcome.MISSING]} missing among our records.")
    return " ".join([*sentences, table.note]).strip()


def _cell(found: Comparison | None) -> str:
    if found is None:
        return ""
    text = " / ".join(texts(found))
    return f"**{text}**" if found.outcome is Outcome.NOT_MET else text
