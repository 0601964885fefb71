"""The figure ``sparsity``: what C does to the frequencies kept, the quality and the time."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes

from kmaps.bench.figures import style
from kmaps.bench.figures.trade_off import quality_title
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.report.tradeoff import Point, has_times, learners
from kmaps.errors import NothingMeasured


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw the frequencies kept, the quality and the time of a test over C, a colour per learner.

    Where no times may be published there are but the first two axes.

    Parameters
    ----------
    records : sequence of dict
        Of a trade-off, measured.
    arrays : mapping
        Not used.
    path : Path
        The file; its suffix says of which format.

    Raises
    ------
    NothingMeasured
        Of exact kernels alone.
    """
    sparse = [learner for learner in learners(records) if not learner.exact]
    if not sparse:
        raise NothingMeasured(style.NOTHING)
    titles = ["projections kept, %", f"{quality_title(records)}, %", "test, µs per sample"]
    if not has_times(sparse):
        titles.pop()
    figure, axes = style.panel_axes(len(titles), 3.9, 4.2)
    for i, learner in enumerate(sparse):
        for k, drawn in enumerate(sorted({point.drawn for point in learner.points})):
            own = [point for point in learner.points if point.drawn == drawn]
            own.sort(key=lambda point: point.C)
            _draw(axes, own, i, k, f"{learner.name}, m = {drawn:,}")
    for ax, title in zip(axes, titles, strict=True):
        ax.set(xlabel="C", ylabel=title)
        style.log_axis(ax.xaxis)
        style.plain(ax, grid=True)
    for ax in axes[2:]:
        style.log_axis(ax.yaxis)
    style.legend_below(figure, axes)
    style.save(figure, path)


def _draw(axes: Sequence[Axes], points: list[Point], i: int, k: int, label: str) -> None:
    values = (
        [100 * point.kept / point.drawn for point in points],
        [point.quality for point in points],
        [point.us for point in points],
    )
    for ax, shown in zip(axes, values, strict=False):  # the last may be left out
        ax.errorbar(
            [point.C for point in points],
            shown,
            yerr=[point.spread for point in points] if ax is axes[1] else None,
            color=style.color(i),
            marker=style.marker(i),
            linestyle=style.dash(k),
            markersize=4.5,
            linewidth=style.LINE_WIDTH,
            capsize=2,
            label=label,
        )
