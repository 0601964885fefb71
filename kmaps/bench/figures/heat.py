"""Heat maps side by side under one colour bar: errors, kernels, kernels of two inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kmaps.bench.figures.approximation import ERROR, spans, squares
from kmaps.bench.figures.style import as_text, save_heat
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.work.errors import SquareErrors

_MOST_COLUMNS = 7
_SIDE = 1.75  # inches
_LINEAR = 1e-3  # part of the largest error: below it, colours are linear
_XY = "x to the right, y upwards"
_TITLE = 20  # characters that fit above a tile


@dataclass(frozen=True, eq=False)
class Tile:
    """A heat map: a surface over the square of some values, between two limits, and a note."""

    surface: NDArray[np.float64]
    values: NDArray[np.float64]
    low: float
    high: float
    note: str = ""


@dataclass(frozen=True)
class Bar:
    """The colour bar of all tiles: its title, its colours, texts from the lowest to the highest."""

    title: str
    colors: str
    texts: Sequence[str]
    places: Sequence[float] = ()  # of the texts, from 0 to 1; by default at equal distances


TileLine = tuple[str, list[tuple[str, Tile | None]]]  # its heading, titles and tiles


def draw_tiles(panels: Mapping[str, Mapping[str, Tile]], bar: Bar, path: Path) -> None:
    """Draw the tiles of each panel by their labels, in as few lines as fit.

    Panels are columns where there are as many as labels; else lines, broken where they are long.
    """
    labels = list(dict.fromkeys(label for tiles in panels.values() for label in tiles))
    if len(panels) >= len(labels):
        lines: list[TileLine] = []
        for i, label in enumerate(labels):
            line = []
            for name, tiles in panels.items():
                title = wrapped(name) if i == 0 else ""
                line.append((title, tiles.get(label)))
            lines.append((label, line))
    else:
        lines = []
        for name, tiles in panels.items():
            lines += broken_lines(name, tiles)
    draw_lines(lines, bar, path)


def broken_lines(heading: str, tiles: Mapping[str, Tile]) -> list[TileLine]:
    """Return the tiles of a panel in lines of equal length, the heading before the first."""
    n_lines = -(-len(tiles) // _MOST_COLUMNS)
    length = -(-len(tiles) // n_lines)
    entries = [(wrapped(label), tile) for label, tile in tiles.items()]
    starts = range(0, len(entries), length)
    return [(heading if i == 0 else "", entries[i : i + length]) for i in starts]


def draw_lines(lines: Sequence[TileLine], bar: Bar, path: Path, axes_are: str = _XY) -> None:
    """Draw lines of tiles, each with its heading, the names of the axes, and the colour bar."""
    n_columns = max(len(tiles) for _, tiles in lines)
    size = _SIDE * n_columns + 0.9, (_SIDE + 0.35) * len(lines) + 0.5
    figure = Figure(figsize=size, layout="compressed")
    grid = figure.subplots(len(lines), n_columns, squeeze=False)
    for axes, (heading, tiles) in zip(grid, lines, strict=True):
        for ax, (title, tile) in zip(axes, tiles, strict=False):
            if tile is None:
                ax.set_axis_off()
            else:
                _draw(ax, title, tile, bar.colors)
        for ax in axes[len(tiles) :]:
            ax.set_axis_off()
        axes[0].set_ylabel(wrapped(heading), fontsize="small")
    figure.supxlabel(axes_are, fontsize="small")
    colorbar = figure.colorbar(
        ScalarMappable(cmap=bar.colors),
        ax=grid,
        location="right",
        shrink=min(0.6, 2 / len(grid)),  # at most as high as two tiles
        aspect=20,
    )
    places = bar.places or np.linspace(0, 1, len(bar.texts))
    colorbar.set_ticks(places, labels=bar.texts, fontsize="small")
    colorbar.set_label(bar.title, fontsize="small")
    save_heat(figure, path, bar.colors)


def wrapped(text: str) -> str:
    """Break a label after commas, so that it fits above a tile."""
    lines = [""]
    for phrase in as_text(text).split(", "):
        longer = f"{lines[-1]}, {phrase}" if lines[-1] else phrase
        if len(longer) <= _TITLE or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(phrase)
    return "\n".join(lines)


def _draw(ax: Axes, title: str, tile: Tile, colors: str) -> None:
    ends = (tile.values[0], tile.values[-1])
    ax.imshow(
        tile.surface.T,
        origin="lower",
        extent=(*ends, *ends),
        cmap=colors,
        vmin=tile.low,
        vmax=tile.high,
    )
    texts = [f"{end:.4g}" for end in ends]
    ax.set_xticks(ends, texts, fontsize="x-small")
    ax.set_yticks(ends, texts, fontsize="x-small")
    ax.set_title(title, fontsize="small")
    ax.set_xlabel(tile.note, fontsize="x-small")


# ---- the figures


_VALUES = Bar("kernel or its approximation", "viridis", ("0", "largest\nvalue"))
_DIFFERENCES = "difference of the first inputs to the right, of the second upwards"


def draw_errors(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw the errors of each map on all pairs of values, on one logarithmic scale."""
    approximations = squares(records, arrays)
    all_results = [result for results in approximations.values() for result in results.values()]
    largest = [result.linf for result in all_results if 0 < result.linf < np.inf]
    scale = Scale(largest or [1.0])
    panels: dict[str, dict[str, Tile]] = {}
    for title, results in approximations.items():
        panels[title] = {label: _error_tile(result, scale) for label, result in results.items()}
    draw_tiles(panels, scale.bar(ERROR[all_results[0].relative]), path)


class Scale:
    """A scale of errors: linear up to half of the least of some, logarithmic to the largest."""

    def __init__(self, largest: Sequence[float]) -> None:
        self.limit = max(largest)
        self.linear = max(_LINEAR, min(largest) / self.limit / 2)

    def __call__(self, errors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the place of errors between -1 and 1."""
        shares = errors / self.limit
        return np.sign(shares) * np.log1p(np.abs(shares) / self.linear) / np.log1p(1 / self.linear)

    def bar(self, title: str) -> Bar:
        """Return the colour bar of the scale."""
        shares = np.array([share for share in (0.01, 0.1, 1.0) if share >= self.linear])
        ticks = np.concatenate([-shares[::-1], [0.0], shares]) * self.limit
        places = (0.5 + 0.5 * self(ticks)).tolist()
        return Bar(title, "RdBu_r", [f"{tick:.2g}" for tick in ticks], places)


def _error_tile(result: SquareErrors, scale: Scale) -> Tile:
    relative = "relative\n" if result.relative else ""
    note = f"{relative}L∞ {result.linf:.3g}, RMS {result.rms:.3g}"
    return Tile(scale(result.error), result.values, -1, 1, note)


def draw_surfaces(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw each kernel and its approximations on all pairs, up to the kernel's largest value."""
    panels: dict[str, dict[str, Tile]] = {}
    for title, results in squares(records, arrays).items():
        first = next(iter(results.values()))
        high = float(first.exact.max())
        tiles = {"exact": Tile(first.exact, first.values, 0.0, high)}
        for label, result in results.items():
            tiles[label] = Tile(result.approximate, result.values, 0.0, high)
        panels[title] = tiles
    draw_tiles(panels, _VALUES, path)


def draw_quadrants(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw each kernel of two inputs over positive differences, then its approximations."""
    lines: list[TileLine] = []
    for title, results in spans(records, arrays).items():
        first = next(iter(results.values()))
        high = float(first.exact[0].max())
        tiles = {"exact": Tile(first.exact[0], first.values, 0.0, high)}
        for label, result in results.items():
            note = f"{result.dim} outputs, L∞ {result.linf:.3g}"
            tiles[label] = Tile(result.approximate[0], result.values, 0.0, high, note)
        lines += broken_lines(title, tiles)
    draw_lines(lines, _VALUES, path, _DIFFERENCES)
