"""The figure ``quadrants``: kernels of two inputs over positive differences, as heat maps."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kmaps.bench.figures.panels import spans
from kmaps.bench.figures.tiles import Bar, Line, Tile, broken, draw_lines
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw each kernel of two inputs, and below it its approximations.

    Parameters
    ----------
    records : sequence of dict
        Of approximations over differences of two inputs, measured.
    arrays : mapping
        ``values`` (n,), ``corners`` (c, 2), ``exact`` and ``approximate`` (c, n, n), by key.
    path : Path
        The file; its suffix says of which format.
    """
    lines: list[Line] = []
    for title, results in spans(records, arrays).items():
        first = next(iter(results.values()))
        high = float(first.exact[0].max())
        lines.append((title, [("exact", Tile(first.exact[0], first.values, 0.0, high))]))
        tiles = {}
        for label, result in results.items():
            note = f"{result.dim} outputs, L∞ {result.linf:.3g}"
            tiles[label] = Tile(result.approximate[0], result.values, 0.0, high, note)
        lines += broken("", tiles)
    draw_lines(lines, Bar("viridis", ("0", "largest\nvalue")), path)
