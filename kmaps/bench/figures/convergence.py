"""The figure of a study of random maps: the error over the number of projections."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kmaps.bench.figures.errors import COLORS
from kmaps.bench.report.convergence import Convergence, convergence

_COLORS = (*COLORS, "#000000")
_MARKERS = "osD^vP*X"
_DPI = 150


def draw_convergence(records: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Draw one axes a kernel: errors as points on lines, what stays of them dashed, 1/√2m grey."""
    panels: dict[str, list[Convergence]] = {}
    for row in convergence(records):
        panels.setdefault(row.kernel, []).append(row)
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(4.3 * columns, 3.6 * lines + 0.5), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False, sharey=True).ravel()
    labels = list(dict.fromkeys(_short(row) for rows in panels.values() for row in rows))
    for ax, (kernel, rows) in zip(axes, panels.items(), strict=False):
        _panel(ax, rows, labels)
        ax.set_title(kernel, fontsize="medium", loc="left")
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    shown: dict[str, Any] = {}
    for ax in axes:
        shown |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    figure.legend(
        *(shown.values(), shown.keys()),
        loc="outside lower center",
        ncols=4,
        frameon=False,
        fontsize="small",
    )
    figure.savefig(path, dpi=_DPI)


def _panel(ax: Axes, rows: list[Convergence], labels: list[str]) -> None:
    sizes = np.unique(np.concatenate([row.sizes for row in rows]))
    ax.plot(sizes, 1 / np.sqrt(2 * sizes), color="0.75", linewidth=3, label="1/√(2m)")
    stays: dict[float, str] = {}
    lowest = min(row.rms.min() for row in rows) / 20  # what lies below is of no account
    for row in rows:
        i = labels.index(_short(row))
        color, marker = _COLORS[i % len(_COLORS)], _MARKERS[i % len(_MARKERS)]
        ax.plot(
            *(row.sizes, row.rms, marker),
            color=color,
            markersize=4.5,
            linewidth=1.2,
            linestyle="-",
            label=_short(row),
        )
        if row.additive_rms > lowest:
            stays.setdefault(row.additive_rms, color)
    for value, color in stays.items():
        ax.axhline(value, color=color, linewidth=1, linestyle=(0, (4, 3)))
    ax.set(xscale="log", yscale="log", xlabel="projections m", ylabel="rms error of the kernel")
    ax.set_xticks(sizes[::2], [f"{m:,}" for m in sizes[::2]], fontsize="small")
    ax.minorticks_off()
    ax.grid(color="0.9", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)


def _short(row: Convergence) -> str:
    """Return what tells rows of one kernel apart: their parameters, but for a sigma of none."""
    return row.label.removeprefix(row.method).replace(" sigma=None", "").strip() or row.method
