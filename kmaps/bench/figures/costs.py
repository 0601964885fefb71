"""The figure ``costs``: a quality of rows over their costs, with the Pareto front."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis

from kmaps.bench.figures import style
from kmaps.bench.records.columns import Record
from kmaps.bench.records.measures import MEASURES, accuracy_of
from kmaps.bench.records.summary import kernel_order
from kmaps.bench.report.front import COSTS, FrontPoint, front, points_of

TITLES = {  # titles of axes are shorter or plainer than in tables
    "time": "training (fit, encode, convert, train), s",
    "predict": "all test samples, s",
    "memory": "peak memory beyond the data, MB",
    "storage": "stored training set, tables and model, MB",
}

BUSY_NOTE = "‡ other work ran meanwhile, or may have"
LEFT_OUT_NOTE = "Times are left out: other work ran meanwhile, or may have."

_MARKER_SIZE = 7.0
_ROW_INCHES = 0.17  # the height of the name of a row
_LETTER_INCHES = 0.075  # the width of a letter of it
_MOST_TICKS = 8


class FrontDisplay:
    """Rows of a run over their costs, and the Pareto front, which no other row beats.

    Use it for choosing among the rows of `kmaps run`.
    Bars are standard deviations over splits or draws. A row has the colour of its method and the
    marker of its kernel; those that another row beats are pale.

    Parameters
    ----------
    points : sequence of FrontPoint
        Rows, as :func:`kmaps.bench.report.front.points_of` returns them.
    cost, quality : str
        Measures of ``kmaps table``.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Where they were drawn last.

    See Also
    --------
    KernelErrorDisplay : The error of one map.

    Examples
    --------
    >>> from kmaps.bench.report.front import FrontPoint
    >>> values = {"dim": 3, "accuracy": 90.0}
    >>> rows = [FrontPoint("", "chi2 homogeneous, r = 3", "homogeneous", "chi2", values)]
    >>> FrontDisplay(rows, "dim", "accuracy").plot().name().ax_.get_ylabel()
    'accuracy, %'
    """

    def __init__(self, points: Sequence[FrontPoint], cost: str, quality: str) -> None:
        self.points = points
        self.cost = cost
        self.quality = quality
        self._methods = list(dict.fromkeys(point.method for point in points))
        self._kernels = sorted({point.kernel for point in points}, key=kernel_order)

    @classmethod
    def from_records(
        cls,
        records: Sequence[Record],
        *,
        cost: str = "time",
        quality: str = "accuracy",
        ax: Axes | None = None,
    ) -> "FrontDisplay":
        """Draw records, as ``kmaps run`` writes them, and return the display.

        Parameters
        ----------
        records : sequence of Record
            Records of a run, one for each row and split or draw.
        cost, quality : str, default="time" and "accuracy"
            Measures of ``kmaps table``: the horizontal and the vertical axis.
        ax : matplotlib.axes.Axes, optional
            The axes to draw in. By default they are new.

        Returns
        -------
        FrontDisplay
            The drawn display, with the names of its rows.
        """
        return cls(points_of(records, [quality, cost]), cost, quality).plot(ax).name()

    def plot(self, ax: Axes | None = None) -> "FrontDisplay":
        """Draw the rows into an axes, by default a new one.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            The axes to draw in; None: new ones.

        Returns
        -------
        FrontDisplay
            The display itself.
        """
        self.ax_ = ax = style.one_axes() if ax is None else ax
        points = [point for point in self.points if self.cost in point.values]
        unbeaten = front(points, self.cost, self.quality)
        ax.plot(
            [point.values[self.cost] for point in unbeaten],
            [point.values[self.quality] for point in unbeaten],
            drawstyle="steps-post",
            color="0.55",
            linewidth=style.LINE_WIDTH,
            zorder=1,
        )
        for point in points:
            is_unbeaten = any(point is member for member in unbeaten)
            ax.errorbar(
                point.values[self.cost],
                point.values[self.quality],
                yerr=point.spreads.get(self.quality),
                markersize=_MARKER_SIZE if is_unbeaten else 0.75 * _MARKER_SIZE,
                elinewidth=0.9,
                capsize=2 if is_unbeaten else 0,
                alpha=1.0 if is_unbeaten else 0.45,
                zorder=3 if is_unbeaten else 2,
                **self._look(point),
            )
        for axis, measure in ((ax.xaxis, self.cost), (ax.yaxis, self.quality)):
            _scale(axis, measure, (point.values[measure] for point in points))
        style.plain(ax, grid=True)
        ax.tick_params(labelsize="small")
        title = TITLES.get(self.cost, MEASURES[self.cost].title)
        if any(self.cost in point.busy for point in points):
            title += f"\n{BUSY_NOTE}"
        ax.set(xlabel=title, ylabel=MEASURES[self.quality].title)
        return self

    def name(self) -> "FrontDisplay":
        """Name every row at the right end of the axes, as high as it is, and lead to its point.

        Returns
        -------
        FrontDisplay
            The display itself. It must have been drawn by :meth:`plot`.
        """
        limits = self.ax_.get_xlim()
        ends = []
        for point in self.points:
            y = point.values[self.quality]
            shade = self._look(point)["color"]
            ends.append((y, point.brief or point.name, shade))
            x = point.values.get(self.cost, limits[1])
            self.ax_.hlines(y, x, limits[1], shade, linewidth=0.6, alpha=0.5, zorder=0)
        self.ax_.set_xlim(limits)
        style.mark_ends(
            self.ax_, ends, _ROW_INCHES / self.ax_.bbox.height * self.ax_.figure.dpi, 1.12
        )
        return self

    def _look(self, point: FrontPoint) -> dict[str, Any]:
        """Return how a point is drawn, as keywords of matplotlib; hollow where a colour comes
        again."""
        i = self._methods.index(point.method)
        color = style.color(i)
        is_hollow = i >= len(style.COLORS)
        return {
            "color": color,
            "marker": style.marker(self._kernels.index(point.kernel)),
            "markerfacecolor": "white" if is_hollow else color,
            "markeredgecolor": color if is_hollow else "white",
            "markeredgewidth": 1.3 if is_hollow else 0.6,
        }


def draw_costs(records: Sequence[Record], path: Path) -> None:
    """Draw the accuracy of each row of a classification over all that it costs."""
    points = points_of(records, [accuracy_of(records), *COSTS])
    untimed = all(record["train_s"] is None for record in records)
    draw_front(points, path, accuracy_of(records), note=LEFT_OUT_NOTE if untimed else "")


def draw_front(
    points: Sequence[FrontPoint],
    path: Path,
    quality: str,
    costs: Sequence[str] = COSTS,
    note: str = "",
) -> None:
    """Draw a :class:`FrontDisplay` for each group and cost; a row of axes has its names once."""
    groups: dict[str, list[FrontPoint]] = {}
    for point in points:
        groups.setdefault(point.group, []).append(point)
    panels = []
    for group, rows in groups.items():
        for cost in costs:
            if any(cost in point.values for point in rows):
                panels.append((group, cost))
    n_rows = max(map(len, groups.values()), default=0)
    figure, axes = style.panel_axes(len(panels), 4.2, max(3.4, _ROW_INCHES * n_rows + 0.7))
    displays: dict[str, list[FrontDisplay]] = {}
    for ax, (group, cost) in zip(axes, panels, strict=True):
        display = FrontDisplay(groups[group], cost, quality).plot(ax)
        displays.setdefault(group, []).append(display)
    for group, of_group in displays.items():
        ends = [end for display in of_group for end in display.ax_.get_ylim()]
        for display in of_group:
            display.ax_.set_ylim(min(ends), max(ends))
            style.title(display.ax_, group)
    longest = max((len(point.brief or point.name) for point in points), default=0)
    figure.set_figwidth(figure.get_figwidth() + _LETTER_INCHES * longest)
    if note:
        figure.supxlabel(note, fontsize="small")
    figure.draw_without_rendering()  # gives the heights of the axes
    all_displays = [display for of_group in displays.values() for display in of_group]
    for display in all_displays:
        if display.ax_.get_subplotspec().is_last_col() or display is all_displays[-1]:
            display.name()
    style.save(figure, path)


def _scale(axis: Axis, measure: str, values: Iterable[float]) -> None:
    """Make the axis logarithmic if its measure has no upper end; fractions stay linear."""
    distinct = sorted(set(values))
    if MEASURES[measure].highest or distinct[0] <= 0:
        return
    if MEASURES[measure].decimals == 0 and len(distinct) <= _MOST_TICKS:
        style.log_axis_at(axis, map(int, distinct))
    else:
        style.log_axis(axis)
