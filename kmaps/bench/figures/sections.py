"""The figure ``sections``: a kernel and its approximations, with one of the inputs held."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from kmaps.bench.figures import style
from kmaps.bench.figures.panels import squares
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.work.errors import SquareErrors

SECTION = 0.1
"""Where k(x, y₀) is cut: y₀ is this fraction of the range (hkm Fig. 2)."""


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw k(x, y₀) and its approximations over x, an axes for each kernel and range.

    Parameters
    ----------
    records, arrays, path
        As of :func:`kmaps.bench.figures.errors.draw`.
    """
    panels = squares(records, arrays)
    figure, axes = style.panel_axes(len(panels), 4.2, 3.1)
    for ax, (title, results) in zip(axes, panels.items(), strict=True):
        _section(ax, results)
        style.title(ax, title)
    style.legend_below(figure, axes)
    style.save(figure, path)


def _section(ax: Axes, results: Mapping[str, SquareErrors]) -> None:
    first = next(iter(results.values()))
    values = first.values
    cut = int(np.abs(values - np.quantile(values, SECTION)).argmin())
    exact = first.exact[:, cut]
    ax.plot(values, exact, color="black", linewidth=style.EXACT_WIDTH, label="exact")
    for i, (label, result) in enumerate(results.items()):
        ax.plot(
            values,
            result.approximate[:, cut],
            color=style.color(i),
            linestyle=style.dash(i),
            linewidth=style.LINE_WIDTH,
            label=label,
        )
    ax.set(xlabel="x", ylabel=f"k(x, {values[cut]:.3g})")
    ax.margins(x=0)
    style.plain(ax)
