"""The report as text, as Markdown for a pull request, and as JUnit XML for CI systems."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from kmaps.bench.paper.reported import CheckFailure, Item
from kmaps.bench.paper.reproduced import Outcome
from kmaps.bench.paper.verdicts import Verdict
from kmaps.bench.report.choice import Edges
from kmaps.bench.report.forms import aligned, markdown, markdown_table
from kmaps.bench.report.gate_forms import Case, junit

_HEAD = ("verdict", "what", "printed", "ours", "difference")
_KINDS = {"number": "numbers", "difference": "differences to the exact kernel", "claim": "claims"}
_WIDEST = 60  # characters of a claim's sentence in a line of text
_NOT_DECIDED = (
    Outcome.NOT_MEASURED,
    Outcome.REFERENCE,
    Outcome.NOT_DECISIVE,
    Outcome.NOT_COMPARABLE,
    Verdict.UNDECIDED,
    Verdict.NOT_DECISIVE,
)


def summary(items: Iterable[Item], failures: Sequence[CheckFailure]) -> str:
    """Return one line: how many numbers and claims came out in each way, and the failures."""
    items = list(items)
    sentences = []
    for kind, plural in _KINDS.items():
        verdicts = [item.verdict for item in items if item.kind == kind]
        if verdicts:
            counts = [
                f"{n} {verdict if n == 1 else verdict.removesuffix('s')}"
                for verdict, n in Counter(verdicts).most_common()
            ]
            sentences.append(f"{len(verdicts)} {plural}: {', '.join(counts)}")
    if failures:
        sentences.append(f"{len(failures)} failed")
    return "; ".join(sentences)


def edges_text(edges: Edges) -> str:
    """Say in which runs C is at the edge of the values compared; nothing where it is nowhere."""
    named = [f"{name} {n} of {rows}" for name, (n, rows) in edges.items() if n]
    if not named:
        return ""
    n_edge = sum(n for n, _ in edges.values())
    n_rows = sum(rows for _, rows in edges.values())
    return (
        f"C at the edge of its grid, a better one may lie beyond: {n_edge} of {n_rows} rows "
        f"({', '.join(named)})"
    )


def as_text(
    items: Sequence[Item], failures: Sequence[CheckFailure], edges: Edges, *, every: bool = True
) -> str:
    """Return a line an item, aligned, then the failures, the summary, and the edges of C."""
    rows = [_HEAD, *(_row(item) for item in items)] if every else []
    last = filter(None, [summary(items, failures), edges_text(edges)])
    return "\n".join([*aligned(rows, texts=len(_HEAD)), *map(_failure, failures), *last])


def as_markdown(items: Sequence[Item], failures: Sequence[CheckFailure], edges: Edges) -> str:
    """Return the summary and the failures; all items in a block that folds."""
    table = markdown_table(_HEAD, map(_row, items), texts=3)
    parts = [
        "### What the papers report",
        f"{summary(items, failures)}.",
        "\n".join(f"- {markdown(_failure(failure))}" for failure in failures),
        markdown(edges_text(edges)),
        f"<details>\n<summary>All {len(items)} numbers and claims</summary>",
        table,
        "</details>",
    ]
    return "\n\n".join(filter(None, parts))


def as_junit(items: Sequence[Item], failures: Sequence[CheckFailure]) -> str:
    """Return a JUnit XML document: a case per item, and a case per cell that fails."""
    failed = {failure.name: failure for failure in failures}
    cases = [_case(item, failed.pop(item.name, None)) for item in items]
    for failure in failed.values():
        cases.append(Case(failure.name, failure.run, _verdict(failure), failure.reason))
    return junit("kmaps check --reported", cases)


def _case(item: Item, failure: CheckFailure | None) -> Case:
    run = item.run or "not measured"
    if failure:
        return Case(item.name, run, _verdict(failure), failure.reason)
    if item.verdict in _NOT_DECIDED:
        return Case(item.name, run, "skipped", item.reason or item.verdict)
    return Case(item.name, run)


def _verdict(failure: CheckFailure) -> Literal["failure", "error"]:
    return "error" if failure.undecided else "failure"


def _row(item: Item) -> tuple[str, ...]:
    printed = item.printed
    if len(printed) > _WIDEST:
        printed = f"{printed[: _WIDEST - 1]}…"
    return item.verdict, item.name, printed, item.ours, item.difference or item.reason


def _failure(failure: CheckFailure) -> str:
    run = f" ({failure.run})" if failure.run and failure.run not in failure.name else ""
    return f"FAILED {failure.name}{run}: {failure.reason}"
