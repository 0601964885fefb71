"""All runs at a glance: what of each paper is reproduced, how well, and what is missing."""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from kmaps.bench.paper.entries import paper_of
from kmaps.bench.paper.numbers import Outcome, PrintedNumber, printed_numbers, printed_tables
from kmaps.bench.paper.reported import Item, Runs
from kmaps.bench.paper.reported_forms import summary
from kmaps.bench.paper.statements import Paper, claims, elsewhere, papers
from kmaps.bench.report.choice import edges_of_runs, grid_text
from kmaps.bench.report.forms import Markdown, bold, link, markdown_table

_INTRODUCTION = """\
# Results

Our runs, one folder per experiment: `records.jsonl` (one line per cell, as `kmaps run` wrote it),
`correct.npz` (which test samples each cell got right, one bit per sample; earlier runs have none),
`README.md` (by `kmaps report`: the command, the environment, the commit, the paper's numbers next
to ours, its claims, the tables), the figures (the arrays that some need, `arrays.npz`, are not kept
here), and `NOTES.md`, what we make of it. Every column of a record is described in
`kmaps/bench/records/columns.csv`.

    kmaps run NAME --out results/NAME          # resumes; all done: says so
    kmaps report results/NAME --force
    kmaps report --all results --force         # this page, and reported.json
    kmaps check results --reported             # every number and claim

A number is met when ours, to the printed digits, is at least as good. A claim holds, fails, or is
undecided, by the 95 % intervals of its comparisons; of one split without `correct.npz` there is
none. `reported.json` keeps what is reported here, so that a change does not go unnoticed.
`quickstart` is the baseline that CI compares every change with."""

_EDGES = """\
By cross-validation inside the training split. A row is at an edge where the C of one of its splits
is the least or the largest value compared: a better one may lie beyond. `C: auto` goes on until the
best is inside."""


def glance(items: Sequence[Item], records: Runs, experiments: Iterable[str]) -> str:
    """Return the page on a folder of runs."""
    runs, experiments = sorted(records), list(experiments)
    parts = [_INTRODUCTION, f"**All together**: {summary(items, ())}."]
    for paper in papers():
        parts += _paper(paper, items, runs)
    parts += _besides(items, runs)
    parts += ["## Choice of C", _choices(records)]
    unrun = [name for name in experiments if name not in runs]
    if unrun:
        parts.append(f"Experiments without a run: {', '.join(f'`{name}`' for name in unrun)}.")
    return "\n\n".join(parts) + "\n"


def _paper(paper: Paper, items: Sequence[Item], runs: Sequence[str]) -> list[str]:
    rows = [_table(key, items) for key in printed_tables() if key[0] == paper.name]
    head = ["table or figure", "met", "median and range of the difference", "not judged", "run"]
    claimed = [_claim(name, items) for name in claims() if name.startswith(paper.letter)]
    parts = [f"## {paper.name}: {paper.title}"]
    if rows:
        parts.append(markdown_table(head, rows, texts=5))
    parts.append(markdown_table(["claim", "", "verdict"], claimed, texts=3))
    of_paper = [name for name in runs if paper_of(name) == paper.name]
    parts.append(f"Runs: {', '.join(map(_link, of_paper))}.")
    return parts


def _table(key: tuple[str, str], items: Sequence[Item]) -> list[str]:
    """Return the line of a printed table: how many are met, how far off, what is not judged."""
    printed = [number for number in printed_numbers() if (number.paper, number.table) == key]
    of_table = [item for item in items if item.of == " ".join(key)]
    judged = [item for item in of_table if item.verdict in (Outcome.MET, Outcome.NOT_MET)]
    met = sum(item.verdict == Outcome.MET for item in judged)
    others = Counter(
        "times, shown as ratios" if item.verdict == Outcome.SHOWN else item.reason
        for item in of_table
        if item not in judged
    )
    return [
        key[1],
        f"{met} of {len(judged)}",
        _spread(printed, judged),
        "; ".join(f"{n} {why}" for why, n in others.items()),
        Markdown(
            ", ".join(map(_link, dict.fromkeys(n.experiment for n in printed if n.experiment)))
        ),
    ]


def _spread(printed: Iterable[PrintedNumber], judged: Iterable[Item]) -> str:
    """Return the median and the range of the differences, unit by unit."""
    units = {number.name: number.off_unit for number in printed}
    by_unit: dict[str, list[float]] = {}
    for item in judged:
        if item.off is not None:
            by_unit.setdefault(units[item.name], []).append(item.off)
    words = [
        f"{median(v):+.2f} ({min(v):+.2f} to {max(v):+.2f}) {unit}" for unit, v in by_unit.items()
    ]
    return "; ".join(words)


def _claim(name: str, items: Sequence[Item]) -> list[str]:
    found = [item for item in items if item.of == name]
    decided = [f"{_marked(item.verdict)}: {_link(item.run)} ({item.ours})" for item in found]
    decided += [
        f"holds: `{check.test}`" + (f" ({check.note})" if check.note else "")
        for check in elsewhere()
        if check.id == name
    ]
    return [name, claims()[name].text, Markdown("<br>".join(decided))]


def _marked(verdict: str) -> str:
    return bold(verdict, verdict == "fails")


def _besides(items: Sequence[Item], runs: Sequence[str]) -> list[str]:
    ours = [item for item in items if item.kind == "claim" and item.of not in claims()]
    rows = [
        [_link(item.run), item.printed, _marked(item.verdict), item.ours, item.difference]
        for item in ours
    ]
    head = ["run", "what", "verdict", "comparisons", "intervals"]
    others = [name for name in runs if not paper_of(name)]
    parts = ["## Besides the papers"]
    parts += [markdown_table(head, rows, texts=5)] if rows else []
    parts += [f"Other runs: {', '.join(map(_link, others))}."] if others else []
    return parts


def _choices(records: Runs) -> str:
    """Return the runs in which C was chosen: from what, and how many rows are at an edge of it."""
    body = [
        [_link(name), grid_text(records[name]), f"{at_edge} of {chosen}"]
        for name, (at_edge, chosen) in edges_of_runs(records).items()
    ]
    head = ["run", "C chosen from", "rows at an edge of it"]
    return f"{_EDGES}\n\n{markdown_table(head, body, texts=2)}"


def _link(run: str) -> str:
    return link(run, f"{run}/README.md")
