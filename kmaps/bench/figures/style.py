"""The one style of the figures: colours, markers, sizes, axes, legends, files."""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from PIL import Image

from kmaps.bench.report.forms import one_line
from kmaps.errors import NothingMeasured
from kmaps.io import atomic_file

COLORS = (  # distinct for colour-blind eyes (Okabe and Ito), and grey
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#666666",
    "#000000",
)

MARKERS = "osD^vP*X"
DASHES = ("-", "--", "-.")
"""Three dashes and eight colours have no common divisor: 24 lines differ in one or both."""

DPI = 150
HEAT_DPI = 110  # more would make heat maps larger, not sharper

_AS_TEXT = {
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "kmaps",
    "font.sans-serif": ["DejaVu Sans", "Verdana"],  # an SVG repeats this list in every text
}
_EMBEDDED_PNG = re.compile(rb"data:image/png;base64,([A-Za-z0-9+/=\s]+)")

WHITE_EDGE = {"markeredgecolor": "white", "markeredgewidth": 0.6}
EXACT_WIDTH = 2.4
LINE_WIDTH = 1.3
_MOST_COLUMNS = 3
_GREYS = 32  # greys for text, in a palette of 256 colours
_POWER = re.compile(r"\$n\^\{[-\d.]+\}\$")  # the only formula at the ends of lines
_FEW_DECADES = 3.0  # a shorter logarithmic axis has numbers between powers of ten


def color(i: int) -> str:
    """Return the colour of the i-th series; after eight they come again."""
    return COLORS[i % len(COLORS)]


def dash(i: int) -> str:
    """Return the dashes of the i-th series; after three they come again."""
    return DASHES[i % len(DASHES)]


NOTHING = "none of the measured rows belongs in this figure"


def marker(i: int) -> str:
    """Return the marker of the i-th series; after eight they come again."""
    return MARKERS[i % len(MARKERS)]


def panel_axes(
    n: int, width: float, height: float, *, sharey: bool | str = False, columns: int | None = None
) -> tuple[Figure, list[Axes]]:
    """Return a figure with n axes of some inches, at most three in a row by default."""
    if n == 0:
        raise NothingMeasured(NOTHING)
    if columns is None:
        columns = 2 if n == 4 else min(n, _MOST_COLUMNS)
    rows = -(-n // columns)
    figure = Figure(figsize=(width * columns, height * rows + 0.4), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False, sharey=sharey).ravel())
    for ax in axes[n:]:
        ax.set_axis_off()
    return figure, axes[:n]


def one_axes() -> Axes:
    """Return a new axes of pyplot, which a notebook shows."""
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def plain(ax: Axes, *, grid: bool = False) -> None:
    """Leave out the frame's upper and right lines; draw a pale grid where it is wanted."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid:
        ax.grid(color="0.9", linewidth=0.6)
        ax.set_axisbelow(True)


def as_text(name: str) -> str:
    """Return a name as matplotlib and SVG show it: no formula, no control characters."""
    return one_line(name).replace("$", r"\$")


def title(ax: Axes, text: str) -> None:
    """Write the title of an axes at its left end."""
    ax.set_title(as_text(text), fontsize="medium", loc="left")


def log_axis(axis: Axis) -> None:
    """Make an axis logarithmic, with plain numbers: 1, 2, 5, 10 where there is room for them."""
    _make_log(axis)
    low, high = np.log10(axis.get_view_interval())
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high - low < _FEW_DECADES else (1,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _number(value)))
    axis.set_minor_formatter(NullFormatter())


def log_axis_at(axis: Axis, values: Iterable[int]) -> None:
    """Make an axis logarithmic, with ticks at some whole numbers only."""
    _make_log(axis)
    values = list(values)
    axis.set_ticks(values, [f"{value:,}" for value in values], fontsize="small")
    axis.set_minor_locator(NullLocator())


def _make_log(axis: Axis) -> None:
    if axis.axis_name == "x":  # type: ignore[attr-defined]  # not in matplotlib's types
        axis.axes.set_xscale("log")
    else:
        axis.axes.set_yscale("log")


def _number(value: float) -> str:
    if 1e-4 <= value < 1e6:
        return f"{value:,.6g}"
    exponent = int(np.floor(np.log10(value) + 1e-9))
    factor = round(value / 10.0**exponent)
    power = f"10^{{{exponent}}}"
    return f"${power}$" if factor == 1 else rf"${factor}\cdot{power}$"


def legend_below(figure: Figure, axes: Iterable[Axes]) -> None:
    """Name the series of the axes once, below the axes, in as many columns as fit."""
    handles_by_label: dict[str, Artist] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        for handle, label in zip(handles, labels, strict=True):
            handles_by_label.setdefault(label, handle)
    legend_of(figure, list(handles_by_label.values()), list(handles_by_label))


def legend_of(figure: Figure, handles: Sequence[Artist], labels: Sequence[str]) -> None:
    """Name handles below the axes, in as many columns as there is room for."""
    if not labels:
        return
    entry = 0.6 + 0.078 * max(map(len, labels))  # inches per entry, in small type
    most_columns = max(1, min(len(labels), int(figure.get_figwidth() / entry)))
    n_lines = -(-len(labels) // most_columns)
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=-(-len(labels) // n_lines),  # lines of equal length
        frameon=False,
        fontsize="small",
    )


def mark_ends(
    ax: Axes, ends: Iterable[tuple[float, str, str]], gap: float = 0.055, at_x: float = 1.04
) -> None:
    """Write texts, given as (y, text, colour), at the right end, ``gap`` of the height apart."""
    right = ax.get_xlim()[1]
    ax.get_ylim()  # updates the limits
    to_axes = ax.transData + ax.transAxes.inverted()
    ends = sorted(ends)
    heights = [float(to_axes.transform((right, value))[1]) for value, *_ in ends]
    places = heights.copy()  # of the texts
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + gap)
    for i in reversed(range(len(places))):  # back inside the axes
        places[i] = min(places[i], places[i + 1] - gap if i + 1 < len(places) else 1.0)
    arrow = {"arrowstyle": "-", "linewidth": 0.5, "shrinkB": 0, "relpos": (0, 0.5)}
    for (_, text, shade), height, place in zip(ends, heights, places, strict=True):
        ax.annotate(
            text if _POWER.fullmatch(text) else as_text(text),
            (1.0, height),
            (at_x, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=shade,
            fontsize="small",
            va="center",
            annotation_clip=False,
            arrowprops=arrow | {"color": shade},
        )


def save(figure: Figure, path: Path, *, has_photographs: bool = False) -> None:
    """Write a figure; in PDF and SVG letters stay text, and the bytes do not vary.

    PNG, and images in SVG, have 256 colours, which are enough for lines, unless the figure has
    photographs.
    """
    form = path.suffix.lower().removeprefix(".")
    buffer = BytesIO()
    no_date = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
    with rc_context(_AS_TEXT):
        figure.savefig(buffer, format=form, dpi=DPI, metadata=no_date.get(form))
    if has_photographs:
        with atomic_file(path, force=True) as file:
            file.write(buffer.getvalue())
        return
    if form == "svg":
        buffer = BytesIO(_EMBEDDED_PNG.sub(_with_palette, buffer.getvalue()))
    _write(buffer, path)


def _with_palette(embedded: re.Match[bytes]) -> bytes:
    """Return an image that an SVG embeds with at most 256 colours, where this makes it smaller."""
    content = b64decode(embedded[1])
    with Image.open(BytesIO(content)) as image:
        is_opaque = image.convert("RGBA").getextrema()[3] == (255, 255)
        if is_opaque:
            indexed = image.convert("RGB").quantize(
                method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
            )
        else:  # the only method that keeps transparency
            indexed = image.convert("RGBA").quantize(
                method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
            )
    smaller = BytesIO()
    indexed.save(smaller, format="PNG", optimize=True)
    shortest = min(content, smaller.getvalue(), key=len)
    return b"data:image/png;base64," + b64encode(shortest)


def _write(buffer: BytesIO, path: Path, palette: Image.Image | None = None) -> None:
    """Write the bytes of a figure; PNG with 256 colours, rare ones too: a third of the size."""
    with atomic_file(path, force=True) as file:
        if path.suffix.lower() != ".png":
            file.write(buffer.getvalue())
            return
        with Image.open(buffer) as image:
            indexed = image.convert("RGB").quantize(
                method=Image.Quantize.MAXCOVERAGE, palette=palette, dither=Image.Dither.NONE
            )
        indexed.save(file, format="PNG", optimize=True)


def save_heat(figure: Figure, path: Path, colors: str) -> None:
    """Write a figure of heat maps; as PNG with 256 colours, of a colour map and grey."""
    if path.suffix != ".png":
        save(figure, path)
        return
    buffer = BytesIO()
    figure.savefig(buffer, dpi=HEAT_DPI, bbox_inches="tight")
    map_colors = colormaps[colors](np.linspace(0, 1, 256 - _GREYS))[:, :3]
    greys = np.repeat(np.linspace(0, 1, _GREYS)[:, None], 3, axis=1)
    palette = Image.new("P", (1, 1))
    palette.putpalette(np.uint8(255 * np.concatenate([map_colors, greys]) + 0.5).tobytes())
    _write(buffer, path, palette)
