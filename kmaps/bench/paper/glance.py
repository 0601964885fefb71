"""All runs at a glance: the numbers of each paper that are reproduced, and the missing ones."""

from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from statistics import median

from kmaps.bench.paper.entries import paper_of
from kmaps.bench.paper.numbers import PrintedNumber, printed_numbers, printed_tables
from kmaps.bench.paper.reported import Item, Runs
from kmaps.bench.paper.reported_forms import summary
from kmaps.bench.paper.reproduced import FACTOR, JUDGED, PERCENT, POINTS, Outcome
from kmaps.bench.paper.statements import Paper, claims, elsewhere, papers
from kmaps.bench.report.choice import edges_of_runs, grid_text
from kmaps.bench.report.document import Page, Part, Section, Table, Text
from kmaps.bench.report.forms import Markdown, bold, link

_EDGES = """\
C is chosen by cross-validation inside the training split. A row is at an edge if the C of one of
its splits is the least or the largest tried value: a better value may lie beyond. `C: auto` extends
the grid until the best value is inside."""


def glance(items: Sequence[Item], records: Runs, experiments: Iterable[str]) -> Page:
    """Return the page on all runs: the numbers and the claims of each paper, and the choices of
    C."""
    runs = sorted(records)
    introduction = (files("kmaps.bench.paper") / "introduction.md").read_text("utf-8")
    margins = {"points": POINTS, "factor": FACTOR, "percent": PERCENT}
    parts: list[Part] = [Text(Markdown(introduction.strip().format_map(margins)))]
    parts.append(Text(Markdown(f"**All together**: {summary(items, ())}.")))
    parts += [_paper(paper, items, runs) for paper in papers()]
    parts += [_besides(items, runs), Section("Choice of C", _choices(records))]
    without_run = [f"`{name}`" for name in experiments if name not in runs]
    if without_run:
        parts.append(Text(Markdown(f"Experiments without a run: {', '.join(without_run)}.")))
    return Page("Results", parts)


def _paper(paper: Paper, items: Sequence[Item], runs: Sequence[str]) -> Section:
    rows = [_table(key, items) for key in printed_tables() if key[0] == paper.name]
    head = ["table or figure", *JUDGED, "differences to exact reproduced"]
    head += ["median and range off print", "not judged", "run"]
    claimed = [_claim(name, items) for name in claims() if name.startswith(paper.letter)]
    of_paper = [name for name in runs if paper_of(name) == paper.name]
    its = [item for item in items if item.of.startswith((f"{paper.name} ", paper.letter))]
    parts: list[Part] = [Text(f"{summary(its, ())} (a claim once per run).")] if its else []
    parts += [Table(head, rows, texts=len(head))] if rows else []
    parts += [Table(["claim", "", "verdict"], claimed, texts=3), _listed("Runs", of_paper)]
    return Section(f"{paper.name}: {paper.title}", parts)


def _listed(what: str, runs: Iterable[str]) -> Text:
    return Text(Markdown(f"{what}: {', '.join(map(_link, runs))}."))


def _table(key: tuple[str, str], items: Sequence[Item]) -> list[str]:
    """Return the line of a printed table: reproduced numbers, differences, missing numbers."""
    printed = [number for number in printed_numbers() if (number.paper, number.table) == key]
    of_table = [item for item in items if item.of == " ".join(key)]
    numbers = [item for item in of_table if item.kind == "number"]
    to_exact = [item.verdict for item in of_table if item.kind == "difference"]
    decided = [verdict for verdict in to_exact if verdict in JUDGED]
    differences = f"{decided.count(JUDGED[0])} of {len(decided)}" if to_exact else ""
    n_not_decisive = len(to_exact) - len(decided)
    if n_not_decisive:
        differences += f"; {n_not_decisive} not decisive"
    judged = [item for item in numbers if item.verdict in JUDGED]
    counts = Counter(item.verdict for item in judged)
    others = Counter(_why_not(item) for item in numbers if item not in judged)
    runs = dict.fromkeys(number.experiment for number in printed if number.experiment)
    return [
        key[1],
        *(str(counts[outcome]) for outcome in JUDGED),
        differences,
        _spread(printed, judged),
        "; ".join(f"{n} {why}" for why, n in others.items()),
        Markdown(", ".join(map(_link, runs))),
    ]


def _why_not(item: Item) -> str:
    """Return why a number is not judged, with the word for it."""
    if item.verdict == Outcome.NOT_COMPARABLE:
        return f"{item.verdict}: {item.reason}"
    return item.reason or item.verdict


def _spread(printed: Iterable[PrintedNumber], judged: Iterable[Item]) -> str:
    """Return the median and the range of the differences, unit by unit; not of ratios of times."""
    units = {number.name: number.off_unit for number in printed if number.unit != "s"}
    by_unit: dict[str, list[float]] = {}
    for item in judged:
        if item.off is not None and item.name in units:
            by_unit.setdefault(units[item.name], []).append(item.off)
    return "; ".join(
        f"{median(v):+.2f} ({min(v):+.2f} to {max(v):+.2f}) {unit}" for unit, v in by_unit.items()
    )


def _claim(name: str, items: Sequence[Item]) -> list[str]:
    judged = [item for item in items if item.of == name]
    decisions = []
    for item in judged:
        counts = "; ".join(filter(None, [item.ours, item.needs]))
        decisions.append(f"{_marked(item.verdict)}: {_link(item.run)} ({counts})")
    for check in elsewhere():
        if check.id == name:
            note = f" ({check.note})" if check.note else ""
            decisions.append(f"holds: `{check.test}`{note}")
    return [name, claims()[name].text, Markdown("; ".join(decisions))]


def _marked(verdict: str) -> str:
    return bold(verdict, verdict == "fails")


def _besides(items: Sequence[Item], runs: Sequence[str]) -> Section:
    ours = [item for item in items if item.kind == "claim" and item.of not in claims()]
    rows = [
        [_link(item.run), item.printed, _marked(item.verdict), item.ours, item.difference]
        for item in ours
    ]
    head = ["run", "what", "verdict", "comparisons", "intervals"]
    others = [name for name in runs if not paper_of(name)]
    parts: list[Part] = [Table(head, rows, texts=5)] if rows else []
    parts += [_listed("Other runs", others)] if others else []
    return Section("Besides the papers", parts)


def _choices(records: Runs) -> list[Part]:
    """Return the runs in which C was chosen: the values tried, and how many rows are at an edge."""
    body = [
        [_link(name), grid_text(records[name]), f"{at_edge} of {chosen}"]
        for name, (at_edge, chosen) in edges_of_runs(records).items()
    ]
    head = ["run", "C chosen from", "rows at an edge of it"]
    return [Text(Markdown(_EDGES)), Table(head, body, texts=2)]


def _link(run: str) -> str:
    return link(run, f"{run}/README.md")
