"""Figures of studies over ratios or differences: signatures, their errors, quadrants."""

from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kmaps.bench.figures.errors import COLORS, DPI, heat, plain, save_heat

if TYPE_CHECKING:
    from kmaps.bench.work.spans import SpanErrors

Panels = "dict[str, dict[str, SpanErrors]]"

_LABELS = {"ratios": "y / x", "differences": "y - x"}
_MOST_COLUMNS = 7
_SHOWN = 1.6  # largest error shown, as a multiple of the median of the maps' largest errors


def draw_signatures(panels: Panels, path: Path) -> None:
    """Draw the kernel and its approximations over the ratio or difference, one axes a panel."""

    def draw(ax: Axes, lines: "dict[str, SpanErrors]") -> None:
        first = next(iter(lines.values()))
        ax.plot(first.values, first.exact[0], color="black", linewidth=2.2, label="exact")
        for (label, result), style in zip(lines.items(), _styles(), strict=False):
            ax.plot(result.values, result.approximate[0], label=label, linewidth=1.2, **style)

    _draw_lines(panels, path, draw, "kernel")


def draw_gaps(panels: Panels, path: Path) -> None:
    """Draw the errors of the approximations over the ratio or difference, one axes a panel.

    Those of the worst maps may leave the axes, so that the others can be told apart.
    """

    def draw(ax: Axes, lines: "dict[str, SpanErrors]") -> None:
        for (label, result), style in zip(lines.items(), _styles(), strict=False):
            ax.plot(result.values, result.error[0], label=label, linewidth=1.1, **style)
        ax.axhline(0, color="black", linewidth=0.5)
        largest = [result.linf for result in lines.values()]
        limit = min(1.05 * max(largest), _SHOWN * median(largest))
        ax.set_ylim(-limit, limit)

    _draw_lines(panels, path, draw, "error")


def _styles() -> Iterator[dict[str, str]]:
    """Yield a colour and a line style for each map: the colours solid, dashed, then dotted."""
    for style in ("-", "--", ":"):
        for color in COLORS:
            yield {"color": color, "linestyle": style}


def _draw_lines(
    panels: Panels, path: Path, draw: "Callable[[Axes, dict[str, SpanErrors]], None]", what: str
) -> None:
    n_columns = len(panels) if len(panels) <= 3 else 2
    n_rows = -(-len(panels) // n_columns)
    figure = Figure(figsize=(5.4 * n_columns, 3.6 * n_rows + 0.8), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    for ax, (title, lines) in zip(axes, panels.items(), strict=False):
        draw(ax, lines)
        first = next(iter(lines.values()))
        if first.of == "ratios":
            ax.set_xscale("log")
        ax.set_xlabel(_LABELS[first.of])
        ax.set_ylabel(f"relative {what}" if first.relative else what)
        ax.set_title(title, fontsize="medium")
        ax.margins(x=0)
        plain(ax)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=n_columns, frameon=False)
    figure.savefig(path, dpi=DPI)


def draw_quadrants(panels: Panels, path: Path) -> None:
    """Draw the kernel of two inputs and its approximations over positive differences."""
    maps = [(label, result) for lines in panels.values() for label, result in lines.items()]
    n_columns = min(_MOST_COLUMNS, len(maps))
    n_rows = 1 + -(-len(maps) // n_columns)
    figure = Figure(figsize=(2.3 * n_columns, 2.6 * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    first = maps[0][1]
    heat(axes[0, 0], first.exact[0], first.values, "viridis", 0, first.exact[0].max())
    axes[0, 0].set_title("exact", fontsize="small")
    for ax in (*axes[0, 1:], *axes[1:].ravel()[len(maps) :]):
        ax.set_axis_off()
    for ax, (label, result) in zip(axes[1:].ravel(), maps, strict=False):
        heat(ax, result.approximate[0], result.values, "viridis", 0, first.exact[0].max())
        ax.set_title(label.replace(" ", "\n"), fontsize="x-small")
        ax.set_xlabel(f"{result.dim} outputs, L∞ {result.linf:.3g}", fontsize="x-small")
    for ax in axes.ravel():
        ax.tick_params(labelsize="xx-small")
    save_heat(figure, path)


DRAWN = {"signatures": draw_signatures, "gaps": draw_gaps, "quadrants": draw_quadrants}
"""The figures by name."""
