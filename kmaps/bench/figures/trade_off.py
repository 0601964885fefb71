"""The figure ``trade-off``: how good machines are over the time of a test."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes

from kmaps.bench.figures import style
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.report.tradeoff import Learner, Point, has_times, learners, quality

_COSTS = {"us": "test, µs per sample", "kept": "projections to compute"}
_EXACT = "*PXd"  # in black


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw quality over the time of a test and over the frequencies left, a colour per learner.

    Where no times may be published there is but the second axes. A line joins the points of a
    learner; bars are standard deviations. An exact kernel is a black point and a line across, at
    its best C.

    Parameters
    ----------
    records : sequence of dict
        Of a trade-off, measured.
    arrays : mapping
        Not used.
    path : Path
        The file; its suffix says of which format.
    """
    found = learners(records)
    costs = {name: title for name, title in _COSTS.items() if name != "us" or has_times(found)}
    figure, panels = style.panel_axes(len(costs), 5.5, 4.8, sharey=True)
    axes = dict(zip(costs, panels, strict=True))
    levels = _draw_exact(axes, [learner for learner in found if learner.exact])
    for i, learner in enumerate(one for one in found if not one.exact):
        for k, (what, points) in enumerate(lines_of(learner.points)):
            _draw_line(axes, points, i, k, f"{learner.name}{what}")
    panels[0].set(ylabel=f"{quality_title(records)}, %")
    for name, ax in axes.items():
        ax.set(xlabel=costs[name])
        style.log_axis(ax.xaxis)
        style.plain(ax, grid=True)
    style.mark_ends(panels[-1], levels)
    style.legend_below(figure, panels)
    style.save(figure, path)


def quality_title(records: Sequence[Record]) -> str:
    """Return the name of the measure of a trade-off."""
    return quality(records).replace("_", " ")


def _draw_exact(axes: Mapping[str, Axes], exact: list[Learner]) -> list[tuple[float, str, str]]:
    """Draw the exact kernels; return what is to be written at the ends of their lines."""
    levels = []
    for i, learner in enumerate(exact):
        best = max(learner.points, key=lambda point: point.quality)
        if "us" in axes:
            axes["us"].plot(
                best.us,
                best.quality,
                color="black",
                marker=_EXACT[i % len(_EXACT)],
                linestyle="none",
                markersize=10,
                label=learner.name,
                zorder=4,
            )
        levels.append((best.quality, learner.name, "black"))
        for ax in axes.values():
            ax.axhline(best.quality, color="0.4", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    return levels


def _draw_line(axes: Mapping[str, Axes], points: list[Point], i: int, k: int, label: str) -> None:
    for name, ax in axes.items():
        ax.errorbar(
            [getattr(point, name) for point in points],
            [point.quality for point in points],
            yerr=[point.spread for point in points],
            color=style.color(i),
            marker=style.marker(i),
            linestyle=style.dash(k),
            markersize=5,
            linewidth=style.LINE_WIDTH,
            capsize=2,
            label=label,
        )


def lines_of(points: list[Point]) -> list[tuple[str, list[Point]]]:
    """Return the lines that join the points of a learner, with what tells them apart.

    They go over the frequencies that it was told to keep of the most drawn; or over C, if it has
    more of these than of frequencies drawn; or over the frequencies drawn.
    """
    sizes, values = {point.drawn for point in points}, {point.setting for point in points}
    if any(point.told for point in points):
        most = max(sizes)
        own = [point for point in points if point.drawn == most]
        return [(f" of {most:,}", sorted(own, key=lambda point: point.told))]
    if len(values) > len(sizes):
        return [
            (f", m = {m:,}", sorted(_drawn(points, m), key=lambda point: point.C))
            for m in sorted(sizes)
        ]
    lines = []
    for chosen, C in sorted(values):
        own = [point for point in points if point.setting == (chosen, C)]
        what = (", C chosen" if chosen else f", C = {C:g}") if len(values) > 1 else ""
        lines.append((what, sorted(own, key=lambda point: point.drawn)))
    return lines


def _drawn(points: list[Point], m: int) -> list[Point]:
    return [point for point in points if point.drawn == m]
