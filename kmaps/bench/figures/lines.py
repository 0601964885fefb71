"""One function that draws the series of a figure: panels of lines, points, levels and guides."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis as AxisLine
from numpy.typing import ArrayLike

from kmaps.bench.figures import style

STYLES: dict[str, dict[str, Any]] = {
    "line": {"markersize": 4.5, "linewidth": style.LINE_WIDTH},
    "points": {"markersize": 6, "linestyle": "none", **style.WHITE_EDGE},
    "curve": {"marker": "", "linewidth": style.LINE_WIDTH},
    "law": {"marker": "", "linewidth": style.LINE_WIDTH},
    "thin": {"marker": "", "linewidth": 1, "linestyle": ":"},
    "level": {"marker": "", "linewidth": 1, "linestyle": "--"},
    "exact": {"marker": "", "linestyle": "-", "color": "black", "linewidth": style.EXACT_WIDTH},
    "guide": {"marker": "", "linestyle": "-", "color": "0.8", "linewidth": 3, "zorder": 0},
    "bars": {"color": "0.8"},
}
"""How a series is drawn, as keywords of matplotlib, besides its colour, marker and dashes."""

_WITHOUT_HUE = ("exact", "guide", "bars")


@dataclass(frozen=True)
class Axis:
    """An axis: its title with the unit, its scale, its ticks."""

    title: str = ""
    log: bool = False
    at: Sequence[int] = ()  # ticks at these places only
    limits: tuple[float, float] | None = None
    rotation: int = 0  # of the ticks' texts, in degrees


PanelAxes = Axis | Mapping[str, Axis]  # an axis of all panels, or the axis of each


@dataclass(frozen=True, eq=False)
class Series:
    """A series of a figure, in the panel of that title; without a label it is in no legend."""

    panel: str
    label: str
    x: ArrayLike
    y: ArrayLike  # for the style "level", a single y
    style: str = "line"  # a key of STYLES
    error: ArrayLike | None = None
    hue: Hashable = None  # equal hues share a colour and a marker; by default the label
    dash: int | None = None  # for lines and curves; by default the dashes of the hue
    end: str = ""  # a text at the right end of the axes, next to the last point
    look: Mapping[str, Any] = field(default_factory=dict)  # replaces arguments of the style


def draw_series(
    series: Iterable[Series],
    path: Path,
    x: PanelAxes,
    y: PanelAxes,
    *,
    size: tuple[float, float] = (4.3, 3.6),
    grid: bool = True,
    sharey: bool | str = False,
    columns: int | None = None,
    titles: bool = True,
    legend_each: bool = False,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Draw series, an axes for each panel in the order in which they come, and the legend.

    An axes is ``size`` inches. The title of a common y is written at the left end only; with
    ``legend_each`` each axes has a legend and hues; ``notes`` stand in the lower left corner.
    """
    panels: dict[str, list[Series]] = {}
    for line in series:
        panels.setdefault(line.panel, []).append(line)
    figure, axes = style.panel_axes(len(panels), *size, sharey=sharey, columns=columns)
    hues = _hues(line for lines in panels.values() for line in lines)
    for ax, (panel, lines) in zip(axes, panels.items(), strict=True):
        panel_hues = _hues(lines) if legend_each else hues
        ends = []
        for line in lines:
            shade = _draw(ax, line, panel_hues)
            if line.end:
                ends.append((float(np.asarray(line.y).flat[-1]), line.end, shade))
        if all(line.style in ("curve", "exact", "guide") for line in lines):
            ax.margins(x=0)
        _dress(ax, ax.xaxis, x[panel] if isinstance(x, Mapping) else x)
        _dress(ax, ax.yaxis, y[panel] if isinstance(y, Mapping) else y)
        style.mark_ends(ax, ends)
        if isinstance(y, Axis) and not ax.get_subplotspec().is_first_col():
            ax.set_ylabel("")
        style.title(ax, panel if titles else "")
        style.plain(ax, grid=grid)
        if notes and notes.get(panel):
            ax.text(0.02, 0.02, style.as_text(notes[panel]), transform=ax.transAxes, size="small")
        if legend_each:
            ax.legend(
                loc="upper center",
                bbox_to_anchor=(0.5, -0.16),
                ncols=2,
                frameon=False,
                fontsize="x-small",
            )
    if not legend_each:
        style.legend_below(figure, axes)
    style.save(figure, path)


def _hues(series: Iterable[Series]) -> list[Hashable]:
    """Return the hues of the series that have one, each once."""
    hues = [
        _hue(line) for line in series if line.style not in _WITHOUT_HUE and "color" not in line.look
    ]
    return list(dict.fromkeys(hues))


def _hue(series: Series) -> Hashable:
    return series.label if series.hue is None else series.hue


def _draw(ax: Axes, series: Series, hues: Sequence[Hashable]) -> str:
    """Draw a series and return its colour."""
    i = hues.index(_hue(series)) if _hue(series) in hues else 0
    dash = series.dash
    if dash is None:
        dash = i if series.style in ("curve", "line") else 0
    # If colours repeat, markers differ; a marker that hides another series is smaller.
    look: dict[str, Any] = {
        "color": style.color(i),
        "marker": style.marker(i + i // len(style.COLORS)),
        "linestyle": style.dash(dash),
    }
    label = style.as_text(series.label)
    look |= {"label": label, **STYLES[series.style], **series.look}
    if series.style == "line":
        look = {"markerfacecolor": "white" if i % 2 else look["color"], **look}
        look["markersize"] += 2 - i % 4
    x = np.asarray(series.x)
    y = np.asarray(series.y)
    if series.style == "bars":
        ax.bar(x, y, color=look["color"], label=label)
    elif series.style == "level":
        ax.axhline(float(y), **look)
    elif series.error is not None:
        ax.errorbar(x, y, yerr=series.error, capsize=2, **look)
    else:
        ax.plot(x, y, **look)
    return look["color"]


def _dress(ax: Axes, line: AxisLine, axis: Axis) -> None:
    line.set_label_text(axis.title)
    if axis.log and axis.at:
        style.log_axis_at(line, axis.at)
    elif axis.log:
        style.log_axis(line)
    elif axis.at:
        line.set_ticks(axis.at)
        if len(axis.at) == 1:  # error bars next to each other must not fill the axes
            ax.set_xlim(axis.at[0] - 1, axis.at[0] + 1)
    if axis.limits is not None:
        ax.set_ylim(axis.limits)
    if axis.rotation:
        line.set_tick_params(rotation=axis.rotation)
