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
    """An axis: its title with the unit, its scale, and ticks at some places only.

    ``limits`` are computed from the data when None; ``rotation`` is of the ticks' texts, degrees.
    """

    title: str = ""
    log: bool = False
    at: Sequence[int] = ()
    limits: tuple[float, float] | None = None
    rotation: int = 0


Axes_ = Axis | Mapping[str, Axis]
"""An axis of all panels, or the axis of each."""


@dataclass(frozen=True, eq=False)
class Series:
    """A series of a figure.

    Parameters
    ----------
    panel : str
        The title of its axes.
    label : str
        Its name in the legend; ``""`` leaves it out.
    x, y : array_like
        Its points; of a ``level`` the single y.
    style : str
        A key of :data:`STYLES`.
    error : array_like, optional
        Half the lengths of error bars.
    hue : hashable, optional
        Series of the same hue have the same colour and marker; by default those of one label.
    dash : int, optional
        The number of its dashes; by default a curve has those of its hue, a line none.
    end : str
        A text at the right end of the axes, as high as the last point.
    look : mapping
        Keywords of matplotlib that replace those of the style.
    """

    panel: str
    label: str
    x: ArrayLike
    y: ArrayLike
    style: str = "line"
    error: ArrayLike | None = None
    hue: Hashable = None
    dash: int | None = None
    end: str = ""
    look: Mapping[str, Any] = field(default_factory=dict)


def draw_series(
    series: Iterable[Series],
    path: Path,
    x: Axes_,
    y: Axes_,
    *,
    size: tuple[float, float] = (4.3, 3.6),
    grid: bool = True,
    sharey: bool = False,
    columns: int | None = None,
    titles: bool = True,
    legend_each: bool = False,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Draw series, an axes for each panel in the order in which they come, and the legend.

    Parameters
    ----------
    series : iterable of Series
    path : Path
        The file; its suffix says of which format.
    x, y : Axis or mapping of str to Axis
        For all panels, or by panel. The title of a common y is written at the left end only.
    size : (float, float)
        Of an axes, inches.
    grid, sharey, titles : bool
        Whether to draw a grid, to share the y axis, to write the titles of the axes.
    columns : int, optional
        Axes side by side.
    legend_each : bool
        Whether each axes has a legend and hues of its own.
    notes : mapping, optional
        A text in the lower left corner, by panel.

    Raises
    ------
    NothingMeasured
        When there is no series.
    """
    panels: dict[str, list[Series]] = {}
    for one in series:
        panels.setdefault(one.panel, []).append(one)
    figure, axes = style.panel_axes(len(panels), *size, sharey=sharey, columns=columns)
    hues = _hues(one for shown in panels.values() for one in shown)
    for ax, (panel, shown) in zip(axes, panels.items(), strict=True):
        found = _hues(shown) if legend_each else hues
        ends = [end for one in shown for end in _draw(ax, one, found)]
        if all(one.style in ("curve", "exact", "guide") for one in shown):
            ax.margins(x=0)
        _dress(ax, ax.xaxis, x[panel] if isinstance(x, Mapping) else x)
        _dress(ax, ax.yaxis, y[panel] if isinstance(y, Mapping) else y)
        if isinstance(y, Axis) and not ax.get_subplotspec().is_first_col():
            ax.set_ylabel("")
        style.title(ax, panel if titles else "")
        style.plain(ax, grid=grid)
        if notes and notes.get(panel):
            ax.text(0.02, 0.02, notes[panel], transform=ax.transAxes, fontsize="small")
        style.mark_ends(ax, ends)
        if legend_each:
            style.legend_under(ax)
    if not legend_each:
        style.legend_below(figure, axes)
    style.save(figure, path)


def _hues(series: Iterable[Series]) -> list[Hashable]:
    """Return the hues in the order in which they come."""
    coloured = [one for one in series if one.style not in _WITHOUT_HUE and "color" not in one.look]
    return list(dict.fromkeys(_hue(one) for one in coloured))


def _hue(one: Series) -> Hashable:
    return one.label if one.hue is None else one.hue


def _draw(ax: Axes, one: Series, hues: Sequence[Hashable]) -> list[tuple[float, str, str]]:
    """Draw a series; return the text at its end, with its place and its colour."""
    i = hues.index(_hue(one)) if _hue(one) in hues else 0
    dash = one.dash if one.dash is not None else i if one.style == "curve" else 0
    # Where colours come again, markers are others.
    marker = style.marker(i + i // len(style.COLORS))
    look: dict[str, Any] = {
        "color": style.color(i),
        "marker": marker,
        "linestyle": style.dash(dash),
    }
    look |= {"label": one.label, **STYLES[one.style], **one.look}
    x, y = np.asarray(one.x), np.asarray(one.y)
    if one.style == "bars":
        ax.bar(x, y, color=look["color"], label=one.label)
    elif one.style == "level":
        ax.axhline(float(y), **look)
    elif one.error is not None:
        ax.errorbar(x, y, yerr=one.error, capsize=2, **look)
    else:
        ax.plot(x, y, **look)
    return [(float(y.flat[-1]), one.end, look["color"])] if one.end else []


def _dress(ax: Axes, line: AxisLine, axis: Axis) -> None:
    """Give an axis its title, scale, ticks and limits."""
    line.set_label_text(axis.title)
    if axis.log and axis.at:
        style.log_axis_at(line, axis.at)
    elif axis.log:
        style.log_axis(line)
    elif axis.at:
        line.set_ticks(axis.at)
        if len(axis.at) == 1:  # else error bars side by side would fill the axes, as if far apart
            ax.set_xlim(axis.at[0] - 1, axis.at[0] + 1)
    if axis.limits is not None:
        ax.set_ylim(axis.limits)
    if axis.rotation:
        line.set_tick_params(rotation=axis.rotation)
