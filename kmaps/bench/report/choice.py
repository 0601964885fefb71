"""How C was chosen in a run, as Markdown: the grid, and the rows at an edge of it."""

from collections.abc import Mapping, Sequence

from kmaps.bench.records.columns import Record
from kmaps.bench.records.lines import ChosenRow, chosen_rows, compared_values
from kmaps.bench.report.forms import markdown_table

Edges = dict[str, tuple[int, int]]
"""By run: how many rows have a C at the edge of its grid, and how many have one chosen."""


def choice_section(records: Sequence[Record]) -> str:
    """Return how C was chosen and, folded, the rows at an edge; nothing without a choice."""
    rows = chosen_rows(records)
    if not rows:
        return ""
    parts = [
        f"By cross-validation in the training split, from {grid_text(records)}. {_edges(rows)}"
    ]
    at_edge = [row for row in rows if row.is_at_edge]
    if at_edge:
        head = ["row", "least C", "largest C", "of"]
        body = [
            [row.name, str(row.least or ""), str(row.largest or ""), str(row.n_records)]
            for row in at_edge
        ]
        summary = f"<summary>The {len(at_edge)} rows</summary>"
        parts.append(f"<details>\n{summary}\n\n{markdown_table(head, body)}\n\n</details>")
    return "\n\n".join(parts)


def edge_counts(records: Sequence[Record]) -> tuple[int, int]:
    """Return how many rows have a C at the edge of its grid, and how many have one chosen."""
    rows = chosen_rows(records)
    return sum(row.is_at_edge for row in rows), len(rows)


def edges_of_runs(runs: Mapping[str, Sequence[Record]]) -> Edges:
    """Return :func:`edge_counts` of each run in which C was chosen."""
    counts = {name: edge_counts(runs[name]) for name in sorted(runs)}
    return {name: (at_edge, chosen) for name, (at_edge, chosen) in counts.items() if chosen}


def grid_text(records: Sequence[Record]) -> str:
    """Return the values that C was chosen from in a run, the folds and the samples, in words."""
    chosen = [record for record in records if compared_values(record)]
    return "; ".join(dict.fromkeys(_grid(record) for record in chosen))


def _grid(record: Record) -> str:
    grid = record["C_grid"]
    values = ", ".join(f"{C:g}" for C in grid) if isinstance(grid, list) else "powers of √10 (auto)"
    samples = "" if record["C_samples"] is None else f" of {record['C_samples']:,} samples"
    return f"{values} on {record['C_folds']} folds{samples}"


def _edges(rows: Sequence[ChosenRow]) -> str:
    n_edge = sum(row.is_at_edge for row in rows)
    if not n_edge:
        return f"No row of {len(rows)} has its C at the edge of the values compared."
    return (
        f"In {n_edge} of {len(rows)} rows C is at the edge of the values compared, on one split or "
        "more: a better one may lie beyond."
    )
