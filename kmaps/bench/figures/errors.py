"""Figures of studies: surfaces, errors, sections, learned functions, each one PNG file.

A figure has panels, each a title (a kernel on a range) and what to compare there, by label.
"""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

if TYPE_CHECKING:
    from kmaps.bench.work.errors import Approximation
    from kmaps.bench.work.toy import ToyFit

Panels = "dict[str, dict[str, Approximation]]"

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666")
"""Distinct for colour-blind eyes (Okabe and Ito)."""

SECTION = 0.1
"""Where k(x, y₀) is cut: y₀ is this fraction of the range (hkm Fig. 2)."""

DPI = 150
_HEAT_DPI = 110  # a heat map is no sharper with more, only larger


def save_heat(figure: Figure, path: Path) -> None:
    """Save a figure of heat maps in 256 colours: a third of the bytes, and no step to be seen."""
    drawn = BytesIO()
    figure.savefig(drawn, dpi=_HEAT_DPI)
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(256).save(path, optimize=True)


def draw_sections(panels: Panels, path: Path, at: float = SECTION) -> None:
    """Draw k(x, y₀) and its approximations over x, one axes a panel."""
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.1 * rows + 0.4), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, (title, approximations) in zip(axes, panels.items(), strict=False):
        _section(ax, title, list(approximations.items()), at)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=min(4, len(labels)), frameon=False
    )
    figure.savefig(path, dpi=DPI)


def _section(ax: Axes, title: str, lines: "list[tuple[str, Approximation]]", at: float) -> None:
    first = lines[0][1]
    cut = int(np.abs(first.values - np.quantile(first.values, at)).argmin())
    ax.plot(first.values, first.exact[:, cut], color="black", linewidth=2.2, label="exact")
    for i, (label, result) in enumerate(lines):
        color = COLORS[i % len(COLORS)]
        ax.plot(result.values, result.approximate[:, cut], color=color, linewidth=1.2, label=label)
    ax.set_title(title, fontsize="medium")
    ax.set_xlabel("x")
    ax.set_ylabel(f"k(x, {first.values[cut]:.3g})")
    ax.margins(x=0)
    plain(ax)


def draw_surfaces(panels: Panels, path: Path) -> None:
    """Draw each kernel as a heat map, the exact one above its approximations."""
    labels = list(next(iter(panels.values())))
    figure, axes = _grid(1 + len(labels), panels)
    for column, approximations in enumerate(panels.values()):
        surfaces = [next(iter(approximations.values())).exact]
        surfaces += [result.approximate for result in approximations.values()]
        values = next(iter(approximations.values())).values
        for row, surface in enumerate(surfaces):
            image = heat(axes[row, column], surface, values, "viridis", 0, surfaces[0].max())
        figure.colorbar(image, ax=axes[:, column], shrink=0.8, location="bottom")
    _name_rows(axes, ["exact", *labels])
    save_heat(figure, path)


def draw_errors(panels: Panels, path: Path) -> None:
    """Draw the error of each map as a heat map, each with a colour scale of its own."""
    labels = list(next(iter(panels.values())))
    figure, axes = _grid(len(labels), panels)
    for column, approximations in enumerate(panels.values()):
        for row, result in enumerate(approximations.values()):
            ax = axes[row, column]
            limit = result.linf if 0 < result.linf < np.inf else 1
            image = heat(ax, result.error, result.values, "RdBu_r", -limit, limit)
            figure.colorbar(image, ax=ax, shrink=0.85)
            ax.set_xlabel(f"L∞ {result.linf:.3g}, RMS {result.rms:.3g}", fontsize="small")
    _name_rows(axes, labels)
    save_heat(figure, path)


def _grid(rows: int, panels: Panels) -> tuple[Figure, np.ndarray]:
    figure = Figure(figsize=(3.1 * len(panels) + 0.6, 2.7 * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, len(panels), squeeze=False, sharex="col", sharey="col")
    for ax, title in zip(axes[0], panels, strict=True):
        ax.set_title(title, fontsize="medium")
    return figure, axes


def heat(ax: Axes, surface, values, colors: str, low: float, high: float):
    """Draw a surface over the square of some values; return what a colour bar is made of."""
    ends = values[0], values[-1]
    return ax.imshow(
        surface.T, origin="lower", extent=(*ends, *ends), cmap=colors, vmin=low, vmax=high
    )


def _name_rows(axes: np.ndarray, labels: list[str]) -> None:
    for ax, label in zip(axes[:, 0], labels, strict=True):
        ax.set_ylabel(label.replace(" ", "\n"), fontsize="small")


def plain(ax: Axes) -> None:
    """Leave out the frame's upper and right lines."""
    ax.spines[["top", "right"]].set_visible(False)


def draw_functions(panels: "dict[str, dict[str, ToyFit]]", path: Path) -> None:
    """Draw the functions that maps learned of the toy problem, one axes a family of maps."""
    figure = Figure(figsize=(4.2 * len(panels), 3.6), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for ax, (title, fits) in zip(axes, panels.items(), strict=True):
        for i, (label, fit) in enumerate(fits.items()):
            style = "-" if i < len(COLORS) else "--"
            color = COLORS[i % len(COLORS)]
            ax.plot(fit.x, fit.function, style, color=color, linewidth=1.2, label=label)
        ax.set_title(title, fontsize="medium")
        ax.set_xlabel("x")
        ax.set_ylabel("learned f(x), mean taken off")
        ax.legend(fontsize="x-small", frameon=False)
        plain(ax)
    figure.savefig(path, dpi=DPI)


DRAWN = {"sections": draw_sections, "surfaces": draw_surfaces, "errors": draw_errors}
"""The figures by name."""
