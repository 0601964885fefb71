"""The figure ``decay``: the largest error of maps over their outputs, with the bounds they have."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes

from kmaps.bench.figures import style
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import Row

SIZES = ("order", "dim", "n_bins", "max_error", "n_frequencies")
"""The parameters that say how large a map is; rows that differ in them alone are one line."""


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw the error over the outputs, an axes for each kernel and range, both logarithmic.

    A bound is a dotted line of the same colour.

    Parameters
    ----------
    records : sequence of dict
        Of approximations, measured.
    arrays : mapping
        Not used.
    path : Path
        The file; its suffix says of which format.
    """
    panels = families(records)
    figure, axes = style.panel_axes(len(panels), 4.4, 3.6)
    labels = list(dict.fromkeys(label for lines in panels.values() for label in lines))
    of_several = any(record["options"].get("inputs", 1) > 1 for record in records)
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        for label, line in lines.items():
            _line(ax, label, line, labels.index(label))
        style.log_axis_at(ax.xaxis, _ticks(lines))
        style.log_axis(ax.yaxis)
        ax.set_xlabel("outputs" if of_several else "outputs per feature")
        ax.set_ylabel("largest error")
        style.title(ax, title)
        style.plain(ax, grid=True)
    style.legend_below(figure, axes)
    style.save(figure, path)


def families(records: Sequence[Record]) -> dict[str, dict[str, list[Record]]]:
    """Return the records line by line: by title of the panel, and by label without the size."""
    rows = {record["key"]: _without_size(Row.of(record)) for record in records}
    labels, _ = short_labels(rows.values())
    several = len({record["setting"] for record in records}) > 1
    panels: dict[str, dict[str, list[Record]]] = {}
    for record in sorted(records, key=lambda record: record["dim"]):
        title = f"{record['kernel']}, {record['setting']}" if several else record["kernel"]
        label = labels[rows[record["key"]].identity]
        panels.setdefault(title, {}).setdefault(label, []).append(record)
    order = [record["kernel"] for record in records]
    return dict(sorted(panels.items(), key=lambda panel: order.index(panel[0].split(",")[0])))


def _without_size(row: Row) -> Row:
    for name in SIZES:
        row = row.without(name)
    return row


def _ticks(lines: Mapping[str, list[Record]]) -> list[int]:
    """Return numbers of outputs that leave room between their labels."""
    ticks: list[int] = []
    for dim in sorted({record["dim"] for line in lines.values() for record in line}):
        if not ticks or dim > 1.2 * ticks[-1]:
            ticks.append(dim)
    return ticks


def _line(ax: Axes, label: str, line: Sequence[Record], i: int) -> None:
    dims = [record["dim"] for record in line]
    ax.plot(
        dims,
        [record["linf"] for record in line],
        color=style.color(i),
        marker=style.marker(i),
        markersize=4.5,
        linewidth=style.LINE_WIDTH,
        label=label,
    )
    bounds = [record["error_bound"] for record in line]
    if all(bounds):
        ax.plot(
            dims, bounds, color=style.color(i), linewidth=1, linestyle=":", label=f"{label}: bound"
        )
