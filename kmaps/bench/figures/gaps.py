"""The figure ``gaps``: the errors of approximations over the ratio or difference of the inputs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from kmaps.bench.figures import style
from kmaps.bench.figures.panels import spans
from kmaps.bench.figures.signatures import dress
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record

_SHOWN = 1.6  # largest error shown, as a multiple of the median of the maps' largest errors


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw the errors, an axes for each kernel and range.

    Those of the worst maps may leave the axes, so that the others can be told apart.

    Parameters
    ----------
    records, arrays, path
        As of :func:`kmaps.bench.figures.signatures.draw`.
    """
    panels = spans(records, arrays)
    figure, axes = style.panel_axes(len(panels), 5.2, 3.5)
    for ax, (title, results) in zip(axes, panels.items(), strict=True):
        for i, (label, result) in enumerate(results.items()):
            ax.plot(
                result.values,
                result.error[0],
                color=style.color(i),
                linestyle=style.dash(i),
                linewidth=style.LINE_WIDTH,
                label=label,
            )
        ax.axhline(0, color="black", linewidth=0.5)
        largest = [result.linf for result in results.values()]
        limit = min(1.05 * max(largest), _SHOWN * median(largest))
        ax.set_ylim(-limit, limit)
        first = next(iter(results.values()))
        ax.set_ylabel("relative error" if first.relative else "error")
        dress(ax, title, first)
    style.legend_below(figure, axes)
    style.save(figure, path)
