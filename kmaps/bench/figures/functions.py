"""The figure ``functions``: what maps learn of the toy problem."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kmaps.bench.figures import style
from kmaps.bench.figures.panels import arrays_of
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.records.names import short_labels, words_of
from kmaps.bench.records.row import Row


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw the functions learned of the first coordinate, an axes for each map and kernel.

    Parameters
    ----------
    records : sequence of dict
        Of the toy problem, measured.
    arrays : mapping
        ``x`` and ``function`` (n,) of each, by its key.
    path : Path
        The file; its suffix says of which format.
    """
    labels, _ = short_labels(map(Row.of, records))
    panels: dict[str, list[Record]] = {}
    for record in records:
        name = words_of(record["method"]).name
        panels.setdefault(", ".join(filter(None, [name, record["kernel"]])), []).append(record)
    figure, axes = style.panel_axes(len(panels), 4.2, 4.4)
    for ax, (title, shown) in zip(axes, panels.items(), strict=True):
        for i, record in enumerate(shown):
            own = arrays_of(record, arrays)
            ax.plot(
                own["x"],
                own["function"],
                color=style.color(i),
                linestyle=style.dash(i),
                linewidth=style.LINE_WIDTH,
                label=labels[Row.of(record).identity],
            )
        ax.set_xlabel("x")
        ax.legend(
            loc="upper center",
            bbox_to_anchor=(0.5, -0.16),
            ncols=2,
            frameon=False,
            fontsize="x-small",
        )
        style.title(ax, title)
        style.plain(ax)
    axes[0].set_ylabel("learned f(x), mean taken off")
    style.save(figure, path)
