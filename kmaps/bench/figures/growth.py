"""The figure of a scaling experiment: time and memory over the number of samples."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kmaps.bench.figures.errors import COLORS
from kmaps.bench.records.summary import MEASURES
from kmaps.bench.report.growth import SHOWN, Growth, growth

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
    ends: list[tuple[float, str, str]] = []
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
            if row.sizes[-1] < largest:  # from the last point on the law is a prediction
                rest = np.array([row.sizes[-1], largest])
                dashes = (0, (2, 2))
                ax.plot(rest, scale * row.at(rest), color=color, linewidth=1, linestyle=dashes)
            ends.append((scale * row.at(largest), f"$n^{{{row.exponent:.2f}}}$", color))
    ax.set(xscale="log", yscale="log", xlabel="training samples n")
    ax.set_title(_TITLES[name], fontsize="medium", loc="left")
    sizes = sorted({int(n) for row in rows for n in row.sizes})
    ax.set_xticks(sizes, [f"{n / 1000:g}k" for n in sizes], fontsize="small")
    ax.minorticks_off()
    ax.grid(color="0.9", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.04)
    ax.set_xlim(right=largest * 2.1)  # room for the exponents
    _mark_ends(ax, largest, ends)


def _mark_ends(ax: Axes, largest: int, ends: list[tuple[float, str, str]]) -> None:
    """Write the exponents at the ends of their lines, one above the other where these are close."""
    low, high = np.log(ax.get_ylim())
    previous = -np.inf
    for value, text, color in sorted(ends):
        place = max((np.log(value) - low) / (high - low), previous + 0.055)
        previous = place
        ax.annotate(
            *(text, (largest * 1.12, place)),
            xycoords=ax.get_xaxis_transform(),
            color=color,
            fontsize="small",
            va="center",
        )
