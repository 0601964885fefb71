"""The figure of a scaling experiment: time and memory over the number of samples."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kmaps.bench.approximation_plots import COLORS
from kmaps.bench.growth import SHOWN, Growth, growth
from kmaps.bench.summary import MEASURES

_MARKERS = "osD^vP*X"
_DPI = 200
_TITLES = {
    "time": "fit + encode + convert + train, s",
    "train-memory": "peak memory of training, MB",
}


def draw_growth(records: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Draw each row as points with its power law; beyond the last point this is a prediction."""
    records = list(records)
    figure = Figure(figsize=(8.4, 3.9), layout="constrained")
    for ax, name in zip(figure.subplots(1, len(SHOWN)), SHOWN, strict=True):
        _panel(ax, growth(records, name), name)
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize="small"
    )
    figure.savefig(path, dpi=_DPI)


def _panel(ax: Axes, rows: list[Growth], name: str) -> None:
    largest = max(row.sizes[-1] for row in rows)
    scale = MEASURES[name].scale
    for i, row in enumerate(rows):
        color, marker = COLORS[i % len(COLORS)], _MARKERS[i % len(_MARKERS)]
        ax.plot(
            *(row.sizes, scale * row.values),
            *(marker,),
            color=color,
            markersize=5,
            markeredgecolor="white",
            markeredgewidth=0.6,
            label=row.name,
        )
        if np.isfinite(row.exponent):
            measured = row.sizes[-4:][[0, -1]]
            ax.plot(measured, scale * row.at(measured), color=color, linewidth=1.2)
            _mark_end(ax, row, scale, largest, color)
    ax.set(xscale="log", yscale="log", xlabel="training samples n")
    ax.set_title(_TITLES[name], fontsize="medium", loc="left")
    sizes = sorted({int(n) for row in rows for n in row.sizes})
    ax.set_xticks(sizes, [f"{n / 1000:g}k" for n in sizes], fontsize="small")
    ax.minorticks_off()
    ax.grid(color="0.9", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.04)
    ax.set_xlim(right=largest * 2.1)  # room for the exponents


def _mark_end(ax: Axes, row: Growth, scale: float, largest: int, color: str) -> None:
    """Write the exponent at the end of the line, which is predicted from the last point on."""
    if row.sizes[-1] < largest:
        rest = np.array([row.sizes[-1], largest])
        ax.plot(rest, scale * row.at(rest), color=color, linewidth=1.0, linestyle=(0, (2, 2)))
    ax.annotate(
        f"$n^{{{row.exponent:.2f}}}$",
        (largest, scale * row.at(largest)),
        xytext=(5, 0),
        textcoords="offset points",
        color=color,
        fontsize="small",
        va="center",
    )
