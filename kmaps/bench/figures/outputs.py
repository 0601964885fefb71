"""The figure ``outputs``: what maps make of a value, one line an output."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kmaps.bench.figures import style
from kmaps.bench.figures.panels import over
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import Row
from kmaps.bench.work.approximation import made_for, outputs
from kmaps.bench.work.errors import Range
from kmaps.maps import takes

_POINTS = 601
"""Values in a range: enough for steps to look upright."""


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw the outputs of each map over the values of its range, an axes for each row.

    Three stand side by side, in the order of the records.

    Parameters
    ----------
    records : sequence of dict
        Of approximations on ranges of values, measured; others are left out.
    arrays : mapping
        Not used: each map is fitted anew.
    path : Path
        The file; its suffix says of which format.
    """
    shown = over(records, Range, "LOW:HIGH")
    titles = _titles(shown)
    figure, axes = style.panel_axes(len(shown), 3.2, 2.1)
    for ax, title, record in zip(axes, titles, shown, strict=True):
        options = record["options"]
        made, _ = made_for(record["method"], record["params"], record["kernel"], options)
        values, encoded = outputs(made, options, _POINTS)
        for i, output in enumerate(encoded.T):
            ax.plot(values, output, color=style.color(i), linewidth=style.LINE_WIDTH)
        ax.margins(x=0)
        style.title(ax, title)
        style.plain(ax)
    style.save(figure, path)


def _titles(records: Sequence[Record]) -> list[str]:
    """Return the rows' labels, with their kernel and range where there are several."""
    labels, _ = short_labels(map(Row.of, records))
    ranges = {record["options"]["range"] for record in records}
    kernels = {record["kernel"] for record in records}
    return [
        ", ".join(
            [
                *([r["kernel"]] if len(kernels) > 1 and takes(r["method"], "kernel") else []),
                labels[Row.of(r).identity],
                *([r["options"]["range"]] if len(ranges) > 1 else []),
            ]
        )
        for r in records
    ]
