"""How C was chosen in a run, as a part of a page: the grid, and the rows at an edge of it."""

from collections.abc import Mapping, Sequence

from kmaps.bench.records.columns import Record
from kmaps.bench.records.lines import chosen_rows, compared_values
from kmaps.bench.report.document import Folded, Part, Table, Text

Edges = dict[str, tuple[int, int]]
"""By run: how many rows have a C at the edge of its grid, and how many have one chosen."""


def choice_parts(records: Sequence[Record]) -> list[Part]:
    """Return how C was chosen and, folded, the rows at an edge; nothing without a choice."""
    rows = chosen_rows(records)
    if not rows:
        return []
    is_chosen_once = any(record["C_chosen_on"] for record in records)
    samples = "set of the first split, one C for all splits" if is_chosen_once else "split"
    rule = f"C is chosen by cross-validation in the training {samples}, from {grid_text(records)}."
    edge_rows = [row for row in rows if row.is_at_edge]
    if not edge_rows:
        return [Text(f"{rule} No row of {len(rows)} has its C at the edge of the tried values.")]
    edges = (
        f"In {len(edge_rows)} of {len(rows)} rows C is at the edge of the tried values, on one "
        "split or more: a better value may lie beyond."
    )
    head = ["row", "least C", "largest C", "of"]
    body = [
        [row.name, str(row.least or ""), str(row.largest or ""), str(row.n_records)]
        for row in edge_rows
    ]
    return [Text(f"{rule} {edges}"), Folded(f"The {len(edge_rows)} rows", [Table(head, body)])]


def edges_of_runs(runs: Mapping[str, Sequence[Record]]) -> Edges:
    """Return of each run in which C was chosen how many rows have it at an edge, and how many."""
    edges = {}
    for name in sorted(runs):
        rows = chosen_rows(runs[name])
        if rows:
            edges[name] = (sum(row.is_at_edge for row in rows), len(rows))
    return edges


def grid_text(records: Sequence[Record]) -> str:
    """Return the values that C was chosen from in a run, the folds and the samples, in words."""
    texts: dict[str, None] = {}
    for record in filter(compared_values, records):
        grid = record["C_grid"]
        n_samples = record["C_samples"]
        values = "powers of √10 (auto)"
        if isinstance(grid, list):
            values = ", ".join(f"{C:g}" for C in grid)
        samples = "" if n_samples is None else f" of {n_samples:,} samples"
        texts[f"{values} on {record['C_folds']} folds{samples}"] = None
    return "; ".join(texts)
