"""The figure ``surfaces``: a kernel and its approximations on all pairs of values."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kmaps.bench.figures.panels import squares
from kmaps.bench.figures.tiles import Bar, Tile, draw_tiles
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.work.errors import SquareErrors


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw each kernel and its approximations as heat maps, from 0 to the kernel's largest value.

    Parameters
    ----------
    records, arrays, path
        As of :func:`kmaps.bench.figures.errors.draw`.
    """
    panels = {title: _tiles(results) for title, results in squares(records, arrays).items()}
    draw_tiles(panels, Bar("viridis", ("0", "largest\nvalue")), path)


def _tiles(results: Mapping[str, SquareErrors]) -> dict[str, Tile]:
    first = next(iter(results.values()))
    high = float(first.exact.max())
    tiles = {"exact": Tile(first.exact, first.values, 0.0, high)}
    for label, result in results.items():
        tiles[label] = Tile(result.approximate, result.values, 0.0, high)
    return tiles
