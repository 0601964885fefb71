"""The figure ``stored``: errors on pairs of samples over the bytes of the stored training set."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kmaps.bench.figures import style
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.summary import Line, summarize


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw each map as a point, an axes for each kernel.

    Parameters
    ----------
    records : sequence of dict
        Of pairs, measured.
    arrays : mapping
        Not used.
    path : Path
        The file; its suffix says of which format.
    """
    points: dict[str, dict[str, dict[str, float]]] = {}
    for line in summarize(records, ["rms", "storage-train"]):
        row = points.setdefault(line["kernel"], {}).setdefault(_name(line), {})
        row[line["measure"]] = line["mean"]
    names = list(dict.fromkeys(name for rows in points.values() for name in rows))
    figure, axes = style.panel_axes(len(points), 4.3, 3.6, sharey=True)
    for ax, (kernel, rows) in zip(axes, points.items(), strict=True):
        for name, row in rows.items():
            i = names.index(name)
            ax.plot(
                MEASURES["storage-train"].scale * row["storage-train"],
                row["rms"],
                color=style.color(i),
                marker=style.marker(i // len(style.COLORS) + i),
                linestyle="none",
                label=name,
            )
        style.log_axis(ax.xaxis)
        style.log_axis(ax.yaxis)
        ax.set_xlabel("stored training set, MB")
        style.title(ax, kernel)
        if ax.get_subplotspec().is_first_col():
            ax.set_ylabel("root mean square error, per feature")
        style.plain(ax, grid=True)
    style.legend_below(figure, axes)
    style.save(figure, path)


def _name(line: Line) -> str:
    return ", ".join(filter(None, [line["label"], line["setting"]]))
