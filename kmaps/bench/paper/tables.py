"""Claims and printed numbers as tables in Markdown."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isnan

from kmaps.bench.paper.claims import JudgedClaim
from kmaps.bench.paper.numbers import Outcome, PrintedComparison, PrintedTable, printed_tables
from kmaps.bench.paper.verdicts import Finding, Verdict
from kmaps.bench.report.forms import bold, markdown, markdown_table

_RULE = (
    "A comparison holds, or fails, when all of its 95 % interval does, with Holm's correction for "
    "the others of its claim; else it is undecided. A claim holds when all its comparisons hold, "
    "and fails when one fails."
)
_NEEDED = {
    "above": "at least {} points",
    "about": "within ± {} points",
    "smaller": "at least {} ×",
}


def claims_section(claims: Sequence[JudgedClaim]) -> str:
    """Return the claims as a table, and their comparisons in a block that folds."""
    head = ["claim", "", "verdict", "comparisons", "intervals"]
    table = markdown_table(head, map(_line, claims), texts=5)
    findings = [(claim.id, found) for claim in claims for found in claim.judgement.findings]
    if not findings:
        return table
    return "\n\n".join(filter(None, [_RULE, table, _left_open(claims), _details(findings)]))


def _left_open(claims: Iterable[JudgedClaim]) -> str:
    """Say which verdicts Holm's correction leaves open; nothing where it changes none."""
    counts = {
        claim.id: sum(found.is_left_open_by_holm for found in claim.judgement.findings)
        for claim in claims
    }
    named = ", ".join(f"{n} of {markdown(name)}" for name, n in counts.items() if n)
    if not named:
        return ""
    return (
        f"Undecided (Holm), {named}: the interval of the comparison alone decides it, but among so "
        "many under one claim some would by chance, and Holm's correction asks each for more."
    )


def verdict_of(claim: JudgedClaim) -> str:
    """Return the verdict of a claim in a word or two."""
    return str(claim.judgement.verdict) if claim.judgement.findings else "not measured"


def interval_range(findings: Iterable[Finding]) -> str:
    """Return the ends of all intervals together: of the differences, and of the ratios.

    Where there is no interval the numbers themselves count, and that is said.
    """
    ends: dict[str, list[float]] = {}
    findings = list(findings)
    for found in findings:
        unit = "×" if found.comparison.relation == "smaller" else "points"
        known = () if isnan(found.estimate.value) else (found.estimate.value,)
        ends.setdefault(unit, []).extend(found.interval or known)
    words = [
        f"{_number(min(values), unit)} {unit}"
        if min(values) == max(values)
        else f"{_number(min(values), unit)} to {_number(max(values), unit)} {unit}"
        for unit, values in ends.items()
        if values
    ]
    without = sum(found.interval is None for found in findings)
    missing = f" ({without} of {len(findings)} without an interval)" if without else ""
    return ("; ".join(words) + missing).strip()


def _line(claim: JudgedClaim) -> list[str]:
    verdict = verdict_of(claim)
    shown = bold(verdict, verdict == Verdict.FAILS)
    counts = claim.judgement.counts if claim.judgement.findings else ""
    return [claim.id, claim.text, shown, counts, interval_range(claim.judgement.findings)]


def _details(findings: Sequence[tuple[str, Finding]]) -> str:
    head = ["claim", "compared", "needed", "verdict", "ours", "95 % interval"]
    table = markdown_table(head, (_detail(name, found) for name, found in findings), texts=4)
    estimates = [found.estimate for _, found in findings]
    methods = dict.fromkeys(e.method + (f" ({e.note})" if e.note else "") for e in estimates)
    summary = f"<summary>All {len(findings)} comparisons</summary>"
    made = f"Intervals: {'; '.join(methods)}."
    return f"<details>\n{summary}\n\n{table}\n\n{made}\n\n</details>"


def _detail(name: str, found: Finding) -> list[str]:
    comparison = found.comparison
    unit = "×" if comparison.relation == "smaller" else "points"
    value = found.estimate.value
    ours = "–" if isnan(value) else f"{_number(value, unit)} {unit}"
    verdict = found.verdict + " (Holm)" * found.is_left_open_by_holm
    needed = _NEEDED[comparison.relation].format(f"{comparison.bound:g}")
    return [name, comparison.where, needed, verdict, ours, _interval(found)]


def _interval(found: Finding) -> str:
    if found.interval is None:
        return "none"
    low, high = found.interval
    if low == high:
        return "exact"
    unit = "×" if found.comparison.relation == "smaller" else "points"
    return f"{_number(low, unit)} to {_number(high, unit)}"


def _number(value: float, unit: str) -> str:
    return f"{value:.3g}" if unit == "×" else f"{round(value, 2) + 0:+.2f}"  # never -0.00


_SIGNIFICANT = 3  # digits of times' ratios


def numbers_section(comparisons: Iterable[PrintedComparison]) -> str:
    """Return the tables of the papers that some numbers stand in, each number printed / ours."""
    by_table: dict[tuple[str, str], list[PrintedComparison]] = {}
    for found in comparisons:
        by_table.setdefault((found.number.paper, found.number.table), []).append(found)
    tables = [_table(printed_tables()[key], group) for key, group in by_table.items()]
    return "\n\n".join(tables)


def texts(found: PrintedComparison) -> tuple[str, str]:
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


def deviation_text(found: PrintedComparison) -> str:
    """Return how far ours is from print, with its unit; nothing where there is none."""
    if found.deviation is None:
        return ""
    decimals = 2 if found.number.unit == "%" else 1
    return f"{found.deviation:+.{decimals}f} {found.number.off_unit}"


def _table(table: PrintedTable, group: Sequence[PrintedComparison]) -> str:
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


def _summary(table: PrintedTable, group: Sequence[PrintedComparison]) -> str:
    counts = Counter(found.outcome for found in group)
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


def _cell(found: PrintedComparison | None) -> str:
    if found is None:
        return ""
    text = " / ".join(texts(found))
    return bold(text, found.outcome is Outcome.NOT_MET)
