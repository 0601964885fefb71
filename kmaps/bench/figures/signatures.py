"""The figure ``signatures``: kernels and approximations over the ratio or difference of inputs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes

from kmaps.bench.figures import style
from kmaps.bench.figures.panels import spans
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.work.spans import SpanErrors

AXES = {"ratios": "y / x", "differences": "y - x"}


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw the kernel and its approximations, an axes for each kernel and range.

    Parameters
    ----------
    records : sequence of dict
        Of approximations over ratios or differences, measured.
    arrays : mapping
        ``values`` (n,), ``corners`` (c, inputs), ``exact`` and ``approximate`` (c, n, …), by key.
    path : Path
        The file; its suffix says of which format.
    """
    panels = spans(records, arrays)
    figure, axes = style.panel_axes(len(panels), 5.2, 3.5)
    for ax, (title, results) in zip(axes, panels.items(), strict=True):
        first = next(iter(results.values()))
        exact = first.exact[0]
        ax.plot(first.values, exact, color="black", linewidth=style.EXACT_WIDTH, label="exact")
        for i, (label, result) in enumerate(results.items()):
            ax.plot(
                result.values,
                result.approximate[0],
                color=style.color(i),
                linestyle=style.dash(i),
                linewidth=style.LINE_WIDTH,
                label=label,
            )
        ax.set_ylabel("kernel")
        dress(ax, title, first)
    style.legend_below(figure, axes)
    style.save(figure, path)


def dress(ax: Axes, title: str, shown: SpanErrors) -> None:
    """Give an axes over ratios or differences its horizontal axis and its title."""
    ax.margins(x=0)
    if shown.of == "ratios":
        style.log_axis(ax.xaxis)
    ax.set_xlabel(AXES[shown.of])
    style.title(ax, title)
    style.plain(ax)
