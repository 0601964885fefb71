"""The figure ``scaling``: time and memory over the number of training samples."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from kmaps.bench.figures import style
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.report.growth import SHOWN, Growth, growth


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw each row as points with its power law; beyond the last point this is a prediction.

    Parameters
    ----------
    records : sequence of dict
        Of a scaling experiment, measured.
    arrays : mapping
        Not used.
    path : Path
        The file; its suffix says of which format.
    """
    known = {name: rows for name in SHOWN if (rows := growth(records, name))}
    figure, axes = style.panel_axes(len(known), 4.6, 3.9)
    for ax, (name, rows) in zip(axes, known.items(), strict=True):
        _panel(ax, rows, MEASURES[name].scale)
        style.title(ax, MEASURES[name].title)
    style.legend_below(figure, axes)
    style.save(figure, path)


def _panel(ax: Axes, rows: list[Growth], scale: float) -> None:
    largest = max(row.sizes[-1] for row in rows)
    for i, row in enumerate(rows):
        ax.plot(
            row.sizes,
            scale * row.values,
            linestyle="none",
            marker=style.marker(i),
            color=style.color(i),
            markersize=5,
            markeredgecolor="white",
            markeredgewidth=0.6,
            label=row.name,
        )
        if np.isfinite(row.exponent):
            _law(ax, row, scale, largest, style.color(i))
    sizes = sorted({int(n) for row in rows for n in row.sizes})
    style.log_axis_at(ax.xaxis, sizes)
    ax.tick_params(axis="x", rotation=30)
    style.log_axis(ax.yaxis)
    ax.set_xlabel("training samples n")
    style.plain(ax, grid=True)
    style.mark_ends(
        ax,
        [
            (scale * row.at(largest), f"$n^{{{row.exponent:.2f}}}$", style.color(i))
            for i, row in enumerate(rows)
            if np.isfinite(row.exponent)
        ],
    )


def _law(ax: Axes, row: Growth, scale: float, largest: int, color: str) -> None:
    fitted = row.sizes[-4:][[0, -1]]
    ax.plot(fitted, scale * row.at(fitted), color=color, linewidth=style.LINE_WIDTH)
    if row.sizes[-1] < largest:
        beyond = np.array([row.sizes[-1], largest])
        ax.plot(beyond, scale * row.at(beyond), color=color, linewidth=1, linestyle=":")
