"""The figures of trade-off studies: quality against the time of a test, and what C does."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from kmaps.bench.figures.errors import COLORS
from kmaps.bench.report.tradeoff import Point, means, quality

_DPI = 150
_MARKERS = "os^Dvh"
_EXACT = "*PXd"  # in black
_DASHES = ("-", "--", ":", "-.")


def draw_tradeoff(records: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Draw quality over the time of a test and over the projections left, a colour a learner.

    A line joins the points of a learner; bars are standard deviations over the draws. An exact
    kernel is a black point and a line across, at its best C.
    """
    records = list(records)
    figure = Figure(figsize=(11, 5), layout="constrained")
    over_time, over_kept = figure.subplots(1, 2, sharey=True)
    exact, learners = _apart(means(records))
    for i, (name, group) in enumerate(exact.items()):
        best = max(group, key=lambda point: point["quality"])
        style = {"color": "black", "marker": _EXACT[i % len(_EXACT)], "linestyle": "none"}
        over_time.plot(best["us"], best["quality"], **style, markersize=10, label=name, zorder=4)
        for ax in (over_time, over_kept):
            ax.axhline(best["quality"], color="0.4", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
        edge = {"transform": over_kept.get_yaxis_transform(), "clip_on": False}
        over_kept.plot(1.01 + 0.02 * i, best["quality"], **style, **edge)
    for i, (name, group) in enumerate(learners.items()):
        style = {"color": COLORS[i % len(COLORS)], "linewidth": 1.2}
        style |= {"marker": _MARKERS[i % len(_MARKERS)], "markersize": 5, "capsize": 2}
        for k, (what, own) in enumerate(_lines(group)):
            style["linestyle"] = _DASHES[k % len(_DASHES)]
            for ax, x in ((over_time, "us"), (over_kept, "kept")):
                values = [[point[key] for point in own] for key in (x, "quality", "spread")]
                ax.errorbar(*values, **style, label=f"{name}{what}")
    over_time.set(xlabel="µs for a test sample", ylabel=f"{_title(records)}, %")
    over_kept.set(xlabel="projections to compute")
    for ax in (over_time, over_kept):
        _dress(ax)
    _legend(figure, over_time, ncols=4)
    figure.savefig(path, dpi=_DPI)


def _apart(points: dict[str, list[Point]]) -> tuple[dict, dict]:
    """Return the points of the exact kernels, and those of the learners."""
    exact = {name: group for name, group in points.items() if name.startswith("exact")}
    return exact, {name: group for name, group in points.items() if name not in exact}


def _lines(points: list[Point]) -> list[tuple[str, list[Point]]]:
    """Return the lines that join the points of a learner, with what tells them apart.

    They go over the projections that it was told to keep of the most drawn; or over C, if it has
    more of these than of projections drawn; or over the projections drawn.
    """
    sizes, values = ({point[key] for point in points} for key in ("drawn", "C"))
    if any(point["told"] for point in points):
        own = _having(points, "drawn", max(sizes))
        return [(f" of {max(sizes):,}", sorted(own, key=lambda point: point["told"]))]
    if len(values) > len(sizes):
        lines = [(f", m = {m:,}", _having(points, "drawn", m)) for m in sorted(sizes)]
        return [(what, sorted(own, key=lambda point: point["C"])) for what, own in lines]
    lines = [(f", C = {C:g}", _having(points, "C", C)) for C in sorted(values)]
    lines = [(what, sorted(own, key=lambda point: point["drawn"])) for what, own in lines]
    return lines if len(lines) > 1 else [("", lines[0][1])]


def _having(points: list[Point], key: str, value: float) -> list[Point]:
    return [point for point in points if point[key] == value]


def draw_sparsity(records: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Draw the projections kept, the quality and the time of a test over C."""
    records = list(records)
    figure = Figure(figsize=(11.5, 4.6), layout="constrained")
    axes = figure.subplots(1, 3)
    measures = {
        "kept": "projections kept, %",
        "quality": f"{_title(records)}, %",
        "us": "µs for a test sample",
    }
    _, learners = _apart(means(records))
    for i, (name, group) in enumerate(learners.items()):
        for k, drawn in enumerate(sorted({point["drawn"] for point in group})):
            own = sorted(_having(group, "drawn", drawn), key=lambda point: point["C"])
            for ax, key in zip(axes, measures, strict=True):
                unit = 100 / drawn if key == "kept" else 1
                ax.errorbar(
                    *([p["C"] for p in own], [unit * p[key] for p in own]),
                    [p["spread"] for p in own] if key == "quality" else None,
                    color=COLORS[i % len(COLORS)],
                    marker=_MARKERS[i % len(_MARKERS)],
                    linestyle=_DASHES[k % len(_DASHES)],
                    markersize=4.5,
                    linewidth=1.2,
                    capsize=2,
                    label=f"{name}, m = {drawn:,}",
                )
    for ax, label in zip(axes, measures.values(), strict=True):
        ax.set(xlabel="C", ylabel=label)
        _dress(ax)
    axes[2].set_yscale("log")
    axes[2].yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes[2].yaxis.set_major_formatter(_PLAIN)
    axes[2].yaxis.set_minor_formatter(NullFormatter())
    _legend(figure, axes[0], ncols=4)
    figure.savefig(path, dpi=_DPI)


_PLAIN = FuncFormatter(lambda value, _: f"{value:,g}")


def _title(records: Iterable[Mapping[str, Any]]) -> str:
    return quality(records).replace("_", " ")


def _legend(figure: Figure, ax: Axes, ncols: int) -> None:
    handles = ax.get_legend_handles_labels()
    place = {"loc": "outside lower center", "ncols": ncols}
    figure.legend(*handles, **place, frameon=False, fontsize="small")


def _dress(ax: Axes) -> None:
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(_PLAIN)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.grid(color="0.9", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)


DRAWN = {"trade-off": draw_tradeoff, "sparsity": draw_sparsity}
"""The figures by name."""
