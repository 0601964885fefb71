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
    findings = [(claim.id, finding) for claim in claims for finding in claim.judgement.findings]
    if not findings:
        return [table]
    return [table, _details(findings), *_criteria([claim.id for claim in claims])]


def _criteria(names: Sequence[str]) -> list[Part]:
    """Return the criteria of the papers' claims on a page, with their words and reasons."""
    used = [criterion for (name, _), criterion in criteria().items() if name in names]
    if not used:
        return []
    head = ["claim", "its words", "needed", "why"]
    rows = [
        [
            criterion.id,
            criterion.sentence,
            _NEEDED[criterion.relation].format(f"{criterion.by:g}"),
            criterion.reason,
        ]
        for criterion in used
    ]
    table = Table(head, rows, texts=4)
    return [Folded("The papers' words, and what each needs", [table])]


def verdict_of(claim: JudgedClaim) -> str:
    """Return the verdict of a claim in words."""
    return str(claim.judgement.verdict) if claim.judgement.findings else "not measured"


def interval_range(findings: Iterable[Finding]) -> str:
    """Return the ends of all intervals together: of the differences, and of the ratios.

    Where there is no interval the numbers themselves count, and that is said.
    """
    ends: dict[str, list[float]] = {}
    findings = list(findings)
    for finding in findings:
        unit = "×" if finding.comparison.relation == "smaller" else "points"
        if finding.interval:
            numbers: tuple[float, ...] = finding.interval
        elif isnan(finding.estimate.value):
            numbers = ()
        else:
            numbers = (finding.estimate.value,)
        ends.setdefault(unit, []).extend(numbers)
    words = [
        f"{_number(min(values), unit)} {unit}"
        if min(values) == max(values)
        else f"{_number(min(values), unit)} to {_number(max(values), unit)} {unit}"
        for unit, values in ends.items()
        if values
    ]
    without = sum(finding.interval is None for finding in findings)
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
    rows = [_detail(name, finding) for name, finding in findings]
    if any(finding.interval_beyond for _, finding in findings):
        head[-1] += ", on these training sets"
        head.append("for others too")
        for row, (_, finding) in zip(rows, findings, strict=True):
            beyond = finding.interval_beyond
            row.append(_interval(finding, beyond) if beyond else "")
    table = Table(head, rows, texts=4)
    methods: dict[str, None] = {}  # each once, in the order of the comparisons
    for _, finding in findings:
        estimate = finding.estimate
        note = f" ({estimate.note})" if estimate.note else ""
        methods[estimate.method + note] = None
    methods_text = f"Intervals: {'; '.join(methods)}."
    return Folded(f"All comparisons: {len(findings)}", [Text(_RULE), table, Text(methods_text)])


def _detail(name: str, finding: Finding) -> list[str]:
    comparison = finding.comparison
    unit = "×" if comparison.relation == "smaller" else "points"
    value = finding.estimate.value
    ours = "–" if isnan(value) else f"{_number(value, unit)} {unit}"
    verdict = str(finding.verdict)
    if finding.is_left_open_by_holm:
        verdict += " (Holm)"
    needed = _NEEDED[comparison.relation].format(f"{comparison.bound:g}")
    return [name, comparison.where, needed, verdict, ours, _interval(finding, finding.interval)]


def _interval(finding: Finding, interval: tuple[float, float] | None) -> str:
    if interval is None:
        return "none"
    low, high = interval
    if low == high:
        return "exact"
    unit = "×" if finding.comparison.relation == "smaller" else "points"
    return f"{_number(low, unit)} to {_number(high, unit)}"


def _number(value: float, unit: str) -> str:
    return f"{value:.3g}" if unit == "×" else f"{round(value, 2) + 0:+.2f}"  # never -0.00


def numbers_parts(comparisons: Iterable[PrintedComparison]) -> list[Part]:
    """Return the tables of the papers that some numbers stand in, each number printed / ours."""
    by_table: dict[tuple[str, str], list[PrintedComparison]] = {}
    for comparison in comparisons:
        by_table.setdefault((comparison.number.paper, comparison.number.table), []).append(
            comparison
        )
    return [_table(printed_tables()[key], group) for key, group in by_table.items()]


def texts(comparison: PrintedComparison) -> tuple[str, str]:
    """Return the printed number and ours as text, ours with as many digits."""
    if (
        comparison.number.unit == "s" and comparison.number.reason
    ):  # in seconds: of what, is not measured
        return f"{comparison.number.text} s", "–"
    if comparison.number.unit == "s":
        ours = "–" if comparison.ours is None else f"{comparison.ours:.3g} ×"
        return f"{comparison.printed:.3g} ×", ours
    if comparison.ours is None:
        return comparison.number.text, "–"
    if "e" in comparison.number.text:
        digits = len(comparison.number.text.partition("e")[0].partition(".")[2])
        return comparison.number.text, f"{comparison.ours:.{max(1, digits)}e}"
    return comparison.number.text, f"{comparison.ours:.{comparison.number.decimals}f}"


def deviation_text(comparison: PrintedComparison) -> str:
    """Return how far ours is from print, with its unit; nothing where there is none."""
    if comparison.deviation is None:
        return ""
    decimals = 2 if comparison.number.unit == "%" else 1
    return f"{comparison.deviation:+.{decimals}f} {comparison.number.off_unit}"


def _table(table: PrintedTable, group: Sequence[PrintedComparison]) -> Part:
    cells = {}
    difference_cells = {}
    outcomes: Counter[Outcome] = Counter()  # of the differences
    for comparison in group:
        place = (comparison.number.row, comparison.number.column)
        printed, ours = texts(comparison)
        cells[place] = _cell(printed, ours, comparison.outcome, _plain(comparison.linear))
        difference = comparison.to_exact
        if difference:
            printed = f"{difference.printed:+.2f}"
            ours = f"{difference.ours:+.2f}"
            linear = _signed(difference.linear)
            difference_cells[place] = _cell(printed, ours, difference.outcome, linear)
            outcomes[difference.outcome] += 1
    parts: list[Part] = [_summary(table, group), _grid("printed / ours", cells)]
    if difference_cells:
        text = _counted(outcomes, "differences to the exact kernel are reproduced")
        parts += [Text(text), _grid("less exact, printed / ours", difference_cells)]
    return Section(f"{table.paper}, {table.table}: {table.title}", parts)


Place = tuple[str, str]  # the row and the column of a number


def _grid(corner: str, cells: Mapping[Place, str]) -> Table:
    """Return a table of the cells, its rows and columns in the order in which they come first."""
    rows = dict.fromkeys(row for row, _ in cells)
    columns = dict.fromkeys(column for _, column in cells)
    body = []
    for row in rows:
        body.append([row, *(cells.get((row, column), "") for column in columns)])
    return Table([corner, *columns], body)


def _counted(counts: Counter[Outcome], words: str) -> str:
    n = sum(counts[outcome] for outcome in JUDGED)
    judged = (Outcome.BETTER, Outcome.WORSE, Outcome.DIFFERS)
    others = [f"{counts[outcome]} {outcome}" for outcome in judged if counts[outcome]]
    text = ", ".join([f"{counts[Outcome.REPRODUCED]} of {n} {words}", *others])
    n_not_decisive = counts[Outcome.NOT_DECISIVE]
    if n_not_decisive:
        text += f"; {n_not_decisive} not decisive"
    return f"{text}."


def _summary(table: PrintedTable, group: Sequence[PrintedComparison]) -> Text:
    counts = Counter(comparison.outcome for comparison in group)
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
