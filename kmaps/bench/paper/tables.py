"""Claims and printed numbers as tables of a page."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isnan

from kmaps.bench.paper.claims import JudgedClaim
from kmaps.bench.paper.numbers import PrintedTable, printed_tables
from kmaps.bench.paper.reproduced import JUDGED, Outcome, PrintedComparison
from kmaps.bench.paper.statements import criteria
from kmaps.bench.paper.verdicts import Finding, Verdict, needed
from kmaps.bench.report.document import Folded, Part, Section, Table, Text
from kmaps.bench.report.forms import bold

_RULE = (
    "A comparison holds when its whole 95 % interval meets the bound; for 'within' the 90 % "
    "interval counts (two one-sided tests of 5 %). It fails when its whole 95 % interval, with "
    "Holm's correction for the other comparisons of its claim, misses the bound. Else it is "
    "undecided: 'undecided (Holm)' if it would fail without the correction. A claim holds when "
    "all its comparisons hold, and fails when one fails. If a dataset has official training "
    "sets, or there is one split, the deciding interval is about these training sets; with "
    "several of them, the interval for other training sets stands next to it. The number of draws "
    "that would decide follows from the variances of samples and splits, at the same difference."
)
_NEEDED = {"above": "at least {} points", "about": "within ± {} points", "smaller": "at least {} ×"}


def claims_parts(claims: Sequence[JudgedClaim]) -> list[Part]:
    """Return the claims as a table, and their comparisons in a part that folds."""
    head = ["claim", "", "verdict", "comparisons", "intervals"]
    table = Table(head, list(map(_line, claims)), texts=5)
    findings = [(claim.id, found) for claim in claims for found in claim.judgement.findings]
    if not findings:
        return [table]
    return [table, _details(findings), *_criteria([claim.id for claim in claims])]


def _criteria(names: Sequence[str]) -> list[Part]:
    """Return the criteria of the papers' claims on a page, with their words and reasons."""
    used = [one for (name, _), one in criteria().items() if name in names]
    head = ["claim", "its words", "needed", "why"]
    rows = [
        [one.id, one.sentence, _NEEDED[one.relation].format(f"{one.by:g}"), one.reason]
        for one in used
    ]
    table = Table(head, rows, texts=4)
    return [Folded("The papers' words, and what each needs", [table])] if used else []


def verdict_of(claim: JudgedClaim) -> str:
    """Return the verdict of a claim in words."""
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
    counts = "; ".join(filter(None, [counts, needed(claim.judgement)]))
    return [claim.id, claim.text, shown, counts, interval_range(claim.judgement.findings)]


def _details(findings: Sequence[tuple[str, Finding]]) -> Part:
    head = ["claim", "compared", "needed", "verdict", "ours", "interval"]
    rows = [_detail(name, found) for name, found in findings]
    if any(found.interval_beyond for _, found in findings):
        head[-1] += ", on these training sets"
        head.append("for others too")
        for row, (_, found) in zip(rows, findings, strict=True):
            known = found.interval_beyond
            row.append(_interval(found, known) if known else "")
    table = Table(head, rows, texts=4)
    estimates = [found.estimate for _, found in findings]
    methods = dict.fromkeys(e.method + (f" ({e.note})" if e.note else "") for e in estimates)
    made = f"Intervals: {'; '.join(methods)}."
    return Folded(f"All comparisons: {len(findings)}", [Text(_RULE), table, Text(made)])


def _detail(name: str, found: Finding) -> list[str]:
    comparison = found.comparison
    unit = "×" if comparison.relation == "smaller" else "points"
    value = found.estimate.value
    ours = "–" if isnan(value) else f"{_number(value, unit)} {unit}"
    verdict = found.verdict + " (Holm)" * found.is_left_open_by_holm
    needed = _NEEDED[comparison.relation].format(f"{comparison.bound:g}")
    return [name, comparison.where, needed, verdict, ours, _interval(found, found.interval)]


def _interval(found: Finding, interval: tuple[float, float] | None) -> str:
    if interval is None:
        return "none"
    low, high = interval
    if low == high:
        return "exact"
    unit = "×" if found.comparison.relation == "smaller" else "points"
    return f"{_number(low, unit)} to {_number(high, unit)}"


def _number(value: float, unit: str) -> str:
    return f"{value:.3g}" if unit == "×" else f"{round(value, 2) + 0:+.2f}"  # never -0.00


def numbers_parts(comparisons: Iterable[PrintedComparison]) -> list[Part]:
    """Return the tables of the papers that some numbers stand in, each number printed / ours."""
    by_table: dict[tuple[str, str], list[PrintedComparison]] = {}
    for found in comparisons:
        by_table.setdefault((found.number.paper, found.number.table), []).append(found)
    return [_table(printed_tables()[key], group) for key, group in by_table.items()]


def texts(found: PrintedComparison) -> tuple[str, str]:
    """Return the printed number and ours as text, ours with as many digits."""
    if found.number.unit == "s" and found.number.reason:  # in seconds: of what, is not measured
        return f"{found.number.text} s", "–"
    if found.number.unit == "s":
        ours = "–" if found.ours is None else f"{found.ours:.3g} ×"
        return f"{found.printed:.3g} ×", ours
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


def _table(table: PrintedTable, group: Sequence[PrintedComparison]) -> Part:
    cells = {
        _place(found): _cell(*texts(found), found.outcome, _plain(found.linear)) for found in group
    }
    parts: list[Part] = [_summary(table, group), _grid(group, "printed / ours", cells)]
    differences = [(found, found.to_exact) for found in group if found.to_exact]
    if differences:
        cells = {
            _place(found): _cell(
                f"{of.printed:+.2f}", f"{of.ours:+.2f}", of.outcome, _signed(of.linear)
            )
            for found, of in differences
        }
        outcomes = Counter(to_exact.outcome for _, to_exact in differences)
        text = _counted(outcomes, "differences to the exact kernel are reproduced")
        grid = _grid([found for found, _ in differences], "less exact, printed / ours", cells)
        parts += [Text(text), grid]
    return Section(f"{table.paper}, {table.table}: {table.title}", parts)


Place = tuple[str, str]  # the row and the column of a number


def _place(found: PrintedComparison) -> Place:
    return found.number.row, found.number.column


def _grid(group: Iterable[PrintedComparison], corner: str, cells: Mapping[Place, str]) -> Table:
    group = list(group)
    rows = list(dict.fromkeys(found.number.row for found in group))
    columns = list(dict.fromkeys(found.number.column for found in group))
    body = [[row, *(cells.get((row, column), "") for column in columns)] for row in rows]
    return Table([corner, *columns], body)


def _counted(counts: Counter[Outcome], words: str) -> str:
    n = sum(counts[outcome] for outcome in JUDGED)
    judged = (Outcome.BETTER, Outcome.WORSE, Outcome.DIFFERS)
    others = [f"{counts[outcome]} {outcome}" for outcome in judged if counts[outcome]]
    text = ", ".join([f"{counts[Outcome.REPRODUCED]} of {n} {words}", *others])
    return (
        f"{text}; {n_open} not decisive."
        if (n_open := counts[Outcome.NOT_DECISIVE])
        else f"{text}."
    )


def _summary(table: PrintedTable, group: Sequence[PrintedComparison]) -> Text:
    counts = Counter(found.outcome for found in group)
    sentences = [_counted(counts, "numbers are reproduced")]
    if counts[Outcome.WORSE]:
        sentences.append("Bold: worse.")
    if counts[Outcome.REFERENCE]:
        sentences.append(f"Times are relative to {table.reference_row}, {table.reference_column}.")
    if counts[Outcome.NOT_COMPARABLE]:
        sentences.append(f"Times are not comparable: {table.times_reason}.")
    if counts[Outcome.MISSING]:
        sentences.append(f"{counts[Outcome.MISSING]} missing among our records.")
    return Text(" ".join([*sentences, table.note]).strip())


def _plain(linear: float | None) -> str:
    return "" if linear is None else f"{linear:.2f}"


def _signed(linear: float | None) -> str:
    return "" if linear is None else f"{linear:+.2f}"


def _cell(printed: str, ours: str, outcome: Outcome, linear: str = "") -> str:
    """Return a printed number, ours, and what is not plain: better, differs, or not decisive."""
    notes = {
        Outcome.BETTER: " (better)",
        Outcome.DIFFERS: " (differs)",
        Outcome.NOT_COMPARABLE: " (not comparable)",
        Outcome.NOT_DECISIVE: f" (not decisive: linear {linear})",
    }
    return bold(f"{printed} / {ours}{notes.get(outcome, '')}", outcome is Outcome.WORSE)
