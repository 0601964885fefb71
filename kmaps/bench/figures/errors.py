"""The figure ``errors``: the error of each map on all pairs of values, as heat maps."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from kmaps.bench.figures.panels import squares
from kmaps.bench.figures.tiles import Bar, Tile, draw_tiles
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.work.errors import SquareErrors


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw the errors of each map, coloured from its largest one below to that above the kernel.

    Parameters
    ----------
    records : sequence of dict
        Of approximations, measured.
    arrays : mapping
        ``values`` (n,), ``exact`` and ``approximate`` (n, n) of each, by its key.
    path : Path
        The file; its suffix says of which format.
    """
    panels = {
        title: {label: _tile(result) for label, result in results.items()}
        for title, results in squares(records, arrays).items()
    }
    draw_tiles(panels, Bar("RdBu_r", ("-L∞", "0", "L∞")), path)


def _tile(result: SquareErrors) -> Tile:
    limit = result.linf if 0 < result.linf < np.inf else 1.0
    relative = "relative\n" if result.relative else ""
    note = f"{relative}L∞ {result.linf:.3g}, RMS {result.rms:.3g}"
    return Tile(result.error, result.values, -limit, limit, note)
