"""The figure ``periods``: the periods of homogeneous maps over their order."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kmaps.bench.figures import style
from kmaps.bench.figures.decay import families
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw the periods, an axes for each kernel: published ones as curves, others as points.

    Parameters
    ----------
    records : sequence of dict
        Of approximations by homogeneous maps, measured; others are left out.
    arrays : mapping
        Not used.
    path : Path
        The file; its suffix says of which format.
    """
    panels = families([record for record in records if record["period"] is not None])
    figure, axes = style.panel_axes(len(panels), 4.4, 3.4)
    windows: list[str] = []
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        for label, line in lines.items():
            window = line[0]["params"].get("window", "rectangular")
            windows += [window] if window not in windows else []
            published = line[0]["params"].get("period") is None
            ax.plot(
                [record["params"].get("order", 1) for record in line],
                [record["period"] for record in line],
                color=style.color(windows.index(window)),
                linestyle="-" if published else "none",
                marker="" if published else style.marker(windows.index(window)),
                markersize=4.5,
                linewidth=style.LINE_WIDTH,
                label=label,
            )
        ax.set(xlabel="order n", ylabel="period Λ, in units of log x")
        style.title(ax, title)
        style.plain(ax, grid=True)
    style.legend_below(figure, axes)
    style.save(figure, path)
