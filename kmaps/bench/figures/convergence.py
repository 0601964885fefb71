"""The figure ``convergence``: the error of random maps over the number of frequencies."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from kmaps.bench.figures import style
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.report.convergence import Convergence, convergence


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw the errors of each map, an axes for each kernel, with 1/√(2m) beside them.

    The part of an error that does not fall is a dashed line of the same colour.

    Parameters
    ----------
    records : sequence of dict
        Of random features, measured.
    arrays : mapping
        Not used.
    path : Path
        The file; its suffix says of which format.
    """
    panels: dict[str, list[Convergence]] = {}
    for row in convergence(records):
        panels.setdefault(row.kernel, []).append(row)
    labels = list(dict.fromkeys(row.label for rows in panels.values() for row in rows))
    figure, axes = style.panel_axes(len(panels), 4.3, 3.6, sharey=True)
    for ax, (kernel, rows) in zip(axes, panels.items(), strict=True):
        _panel(ax, rows, labels)
        style.title(ax, kernel)
        if ax.get_subplotspec().is_first_col():
            ax.set_ylabel("root mean square error of the kernel")
    style.legend_below(figure, axes)
    style.save(figure, path)


def _panel(ax: Axes, rows: list[Convergence], labels: list[str]) -> None:
    sizes = np.unique(np.concatenate([row.sizes for row in rows]))
    ax.plot(sizes, 1 / np.sqrt(2 * sizes), color="0.8", linewidth=3, label="1/√(2m)")
    ax.plot([], [], color="0.4", linewidth=1, linestyle="--", label="part that does not fall")
    lowest = min(row.rms.min() for row in rows) / 20  # what lies below is of no account
    stays: dict[float, str] = {}
    for row in rows:
        i = labels.index(row.label)
        ax.plot(
            row.sizes,
            row.rms,
            color=style.color(i),
            marker=style.marker(i),
            markersize=4.5,
            linewidth=style.LINE_WIDTH,
            label=row.label,
        )
        if row.additive_rms > lowest:
            stays.setdefault(row.additive_rms, style.color(i))
    for value, shade in stays.items():
        ax.axhline(value, color=shade, linewidth=1, linestyle="--")
    style.log_axis_at(ax.xaxis, [int(size) for size in sizes[::2]])
    style.log_axis(ax.yaxis)
    ax.set_xlabel("projections m")
    style.plain(ax, grid=True)
