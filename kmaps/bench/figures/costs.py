"""The figure ``costs``: what rows reach over what they cost, with the front that none beats."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D

from kmaps.bench.figures import style
from kmaps.bench.records.columns import Record
from kmaps.bench.records.measures import MEASURES, accuracy_of
from kmaps.bench.records.summary import kernel_order
from kmaps.bench.report.front import COSTS, Point, front, points_of

TITLES = {  # titles of axes, shorter or plainer than those of tables
    "time": "training (fit, encode, convert, train), s",
    "predict": "all test samples, s",
    "memory": "peak memory beyond the data, MB",
    "storage": "stored training set, tables and model, MB",
}

_SIZE = 7.0
_LINE = 0.2  # inches of one of the legend
_TOGETHER = 0.035  # of an axes: points so close share the place of their numbers
_WIDTH = 0.022  # of an axes: a digit of a number
_FEW = 8  # ticks


def draw_costs(records: Sequence[Record], path: Path) -> None:
    """Draw the accuracy of each row of a classification over all that it costs."""
    draw_front(points_of(records, [accuracy_of(records), *COSTS]), path, accuracy_of(records))


def draw_front(
    points: Sequence[Point], path: Path, quality: str, costs: Sequence[str] = COSTS
) -> None:
    """Draw points over each of their costs, an axes for each group and cost.

    A line joins the points that no other one of their group beats; they are named by numbers, the
    others are pale. Bars are standard deviations over the splits.
    """
    panels = [
        (group, cost)
        for group in dict.fromkeys(point.group for point in points)
        for cost in costs
        if any(point.group == group and cost in point.values for point in points)
    ]
    fronts = [front(_of(points, group), cost, quality) for group, cost in panels]
    unbeaten = {id(point) for on_front in fronts for point in on_front}
    numbers = _numbers([point for point in points if id(point) in unbeaten])
    looks = _Looks(points)
    figure, axes = style.panel_axes(len(panels), 4.6, 3.7)
    for ax, (group, cost), on_front in zip(axes, panels, fronts, strict=True):
        shown = [point for point in _of(points, group) if cost in point.values]
        _draw_points(ax, shown, on_front, (cost, quality), looks)
        ax.margins(0.08, 0.1)  # for the numbers
        for axis, measure in ((ax.xaxis, cost), (ax.yaxis, quality)):
            _scale(axis, measure, (point.values[measure] for point in shown))
        _name_front(ax, on_front, (cost, quality), numbers)
        style.plain(ax, grid=True)
        ax.tick_params(labelsize="small")
        style.title(ax, group)
        ax.set(xlabel=TITLES.get(cost, MEASURES[cost].title), ylabel=MEASURES[quality].title)
    named = [*looks.handles(), *_key(points, numbers, looks)]
    lines = style.legend_of(figure, named, [str(handle.get_label()) for handle in named])
    figure.set_figheight(figure.get_figheight() + _LINE * (lines - 1))
    style.save(figure, path)


def _of(points: Iterable[Point], group: str) -> list[Point]:
    return [point for point in points if point.group == group]


def _numbers(unbeaten: Iterable[Point]) -> dict[str, int]:
    """Return a number for the name of each point that is on a front."""
    names = dict.fromkeys(point.name for point in unbeaten)
    return {name: i + 1 for i, name in enumerate(names)}


class _Looks:
    """The colours of methods and the markers of kernels; hollow where a colour comes again."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._methods = list(dict.fromkeys(point.method for point in points))
        self._kernels = sorted({point.kernel for point in points}, key=kernel_order)

    def of(self, point: Point) -> dict[str, Any]:
        """Return how a point is drawn, as keywords of matplotlib."""
        return self._look(point.method, self._kernels.index(point.kernel))

    def _look(self, method: str, kernel: int) -> dict[str, Any]:
        i = self._methods.index(method)
        color, again = style.color(i), i >= len(style.COLORS)
        return {
            "color": color,
            "marker": style.marker(kernel),
            "markerfacecolor": "white" if again else color,
            "markeredgecolor": color if again else "white",
            "markeredgewidth": 1.3 if again else 0.6,
        }

    def handles(self) -> list[Line2D]:
        """Return what a legend shows of both; of kernels only where there are several."""
        square = style.MARKERS.index("s")
        shown = [_handle(name, **self._look(name, square)) for name in self._methods]
        if len(self._kernels) > 1:
            shown += [
                _handle(name or "no kernel", color="0.35", marker=style.marker(i))
                for i, name in enumerate(self._kernels)
            ]
        return shown


def _key(points: Sequence[Point], numbers: Mapping[str, int], looks: _Looks) -> list[Line2D]:
    named = {point.name: point for point in points}
    return [
        _handle(f"{number}: {name}", **looks.of(named[name])) for name, number in numbers.items()
    ]


def _handle(label: str, **look: Any) -> Line2D:
    return Line2D([], [], linestyle="none", label=style.as_text(label), **look)


def _draw_points(
    ax: Axes,
    points: Sequence[Point],
    on_front: Sequence[Point],
    measures: tuple[str, str],
    looks: _Looks,
) -> None:
    cost, quality = measures
    ax.plot(
        [point.values[cost] for point in on_front],
        [point.values[quality] for point in on_front],
        color="0.55",
        linewidth=style.LINE_WIDTH,
        drawstyle="steps-post",
        zorder=1,
    )
    unbeaten = {id(point) for point in on_front}
    for point in points:
        first = id(point) in unbeaten
        ax.errorbar(
            point.values[cost],
            point.values[quality],
            yerr=point.spreads.get(quality),
            markersize=_SIZE if first else 0.75 * _SIZE,
            elinewidth=0.9,
            capsize=2 if first else 0,
            alpha=1.0 if first else 0.45,
            zorder=3 if first else 2,
            **looks.of(point),
        )


def _scale(axis: Axis, measure: str, values: Iterable[float]) -> None:
    """Make the axis of what has no upper end logarithmic; fractions stay linear."""
    distinct = sorted(set(values))
    if MEASURES[measure].highest or distinct[0] <= 0:
        return
    if MEASURES[measure].decimals == 0 and len(distinct) <= _FEW:
        style.log_axis_at(axis, map(int, distinct))
    else:
        style.log_axis(axis)


def _name_front(
    ax: Axes, on_front: Sequence[Point], measures: tuple[str, str], numbers: Mapping[str, int]
) -> None:
    """Write the numbers of the points of a front where no other point can be: to the better."""
    left, up = (1 if MEASURES[name].highest else -1 for name in measures)
    ax.get_xlim(), ax.get_ylim()  # brings the limits up to date
    to_axes = ax.transData + ax.transAxes.inverted()
    places: list[tuple[Any, list[int]]] = []  # a place in the axes, and the numbers there
    for point in on_front:
        place = to_axes.transform([point.values[name] for name in measures])
        if places and abs(place - places[-1][0]).max() < _TOGETHER:
            places[-1][1].append(numbers[point.name])
        else:
            places.append((place, [numbers[point.name]]))
    for (x, y), of_place in places:
        text = ", ".join(map(str, sorted(of_place)))
        inside = left > 0 or x > _WIDTH * len(text)  # else it would stand on the axis
        ax.annotate(
            text,
            (x if inside else _WIDTH, y),
            xycoords="axes fraction",
            xytext=(5 * left if inside else 0, 5 * up),
            textcoords="offset points",
            ha="right" if inside and left < 0 else "left",
            va="bottom" if up > 0 else "top",
            fontsize="small",
            fontweight="bold",
        )
