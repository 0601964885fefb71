"""The figure ``falls``: errors on pairs of samples over anchors' spacing and over features."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from kmaps.bench.figures import style
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.report.falls import FEATURES, OF_FEATURES, OF_SPACING, Fall, falls

_GUIDES = {"bias": (2, "ε²"), "rms": (1, "ε"), "deviation": (-0.5, "1/√D")}
_AXES = {"ε": "spacing ε of the anchors", FEATURES: "features D"}


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw each error of each map, an axes for each kind of error, with a guide beside it.

    Parameters
    ----------
    records : sequence of dict
        Of pairs, measured.
    arrays : mapping
        Not used.
    path : Path
        The file; its suffix says of which format.
    """
    panels: dict[str, list[Fall]] = {}
    for fall in falls(records):
        panels.setdefault(fall.column, []).append(fall)
    several = len({fall.label for group in panels.values() for fall in group}) > 1
    names = {
        fall: f"{fall.kernel}, {fall.label}" if several else fall.kernel
        for group in panels.values()
        for fall in group
    }
    order = list(dict.fromkeys(names.values()))
    figure, axes = style.panel_axes(len(panels), 4.3, 3.6)
    words = {**OF_SPACING, **OF_FEATURES}
    for ax, (column, group) in zip(axes, panels.items(), strict=True):
        for fall in group:
            i = order.index(names[fall])
            ax.plot(
                fall.at,
                fall.values,
                color=style.color(i),
                marker=style.marker(i),
                markersize=4.5,
                linewidth=style.LINE_WIDTH,
                label=names[fall],
            )
        _guide(ax, group, *_GUIDES[column])
        style.log_axis(ax.xaxis)
        style.log_axis(ax.yaxis)
        ax.set_xlabel(_AXES[group[0].over])
        style.title(ax, f"{words[column]}, per feature")
        style.plain(ax, grid=True)
    style.legend_below(figure, axes)
    style.save(figure, path)


def _guide(ax: Axes, group: Sequence[Fall], power: float, name: str) -> None:
    """Draw a straight line of that power below the lines, through the lowest of them."""
    at = np.array(sorted({place for fall in group for place in fall.at}))
    lowest = min((fall.values / fall.at**power).min() for fall in group)
    ax.plot(at, lowest * at**power, color="0.8", linewidth=3, zorder=0, label=name)
