"""The figures of trade-off studies: accuracy against the time of a test, and what C does."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kmaps.bench.approximation_plots import COLORS

_DPI = 150
_MARKERS = "os^Dv*"

Point = dict[str, float]


def means(records: Iterable[Mapping[str, Any]]) -> dict[str, list[Point]]:
    """Return the points of each learner, averaged over the draws: one a row of the table.

    A point has its accuracy in percent and the standard deviation of it, the projections kept and
    drawn, C, and the microseconds of a test sample.
    """
    rows: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in records:
        if record["status"] == "ok" and record["learner"]:
            name = record["learner"]["name"]
            name = f"{name} {record['kernel']}" if name == "exact" else name
            rows.setdefault((name, record["label"]), []).append(record)
    points: dict[str, list[Point]] = {}
    for (name, _), group in rows.items():
        accuracies = [100 * record["accuracy"] for record in group]
        points.setdefault(name, []).append(
            {
                "accuracy": float(np.mean(accuracies)),
                "spread": float(np.std(accuracies)),
                "kept": float(np.mean([record["dim"] / 2 for record in group])),
                "drawn": group[0]["params"].get("n_frequencies", 0),
                "C": group[0]["C"],
                "us": float(np.mean([1e6 * r["predict_s"] / r["n_test"] for r in group])),
            }
        )
    return points


def draw_tradeoff(records: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Draw accuracy over the time of a test and over the projections left, a colour a learner."""
    points = means(records)
    figure = Figure(figsize=(10.5, 4.6), layout="constrained")
    over_time, over_kept = figure.subplots(1, 2, sharey=True)
    for i, (name, group) in enumerate(points.items()):
        style = {"color": COLORS[i % len(COLORS)], "label": name, "linestyle": "none"}
        if name.startswith("exact"):
            best = max(group, key=lambda point: point["accuracy"])
            over_time.plot(best["us"], best["accuracy"], "*", markersize=14, **style)
            over_kept.axhline(best["accuracy"], color=style["color"], linestyle=(0, (4, 3)))
            continue
        marker = _MARKERS[i % len(_MARKERS)]
        for ax, x in ((over_time, "us"), (over_kept, "kept")):
            values = [[point[key] for point in group] for key in (x, "accuracy", "spread")]
            ax.errorbar(*values, fmt=marker, markersize=4.5, elinewidth=0.8, **style)
    over_time.set(xlabel="microseconds for a test sample", ylabel="accuracy, %")
    over_kept.set(xlabel="projections to compute")
    for ax in (over_time, over_kept):
        _dress(ax)
    handles = over_time.get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=5, frameon=False, fontsize="small")
    figure.savefig(path, dpi=_DPI)


def draw_sparsity(records: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Draw the projections kept, the accuracy and the time of a test over C."""
    figure = Figure(figsize=(11.5, 4.2), layout="constrained")
    axes = figure.subplots(1, 3)
    measures = {
        "kept": "projections kept, %",
        "accuracy": "accuracy, %",
        "us": "microseconds for a test sample",
    }
    for i, (name, group) in enumerate(means(records).items()):
        if name.startswith("exact"):
            continue
        for k, drawn in enumerate(sorted({point["drawn"] for point in group})):
            own = sorted((p for p in group if p["drawn"] == drawn), key=lambda point: point["C"])
            for ax, key in zip(axes, measures, strict=True):
                unit = 100 / drawn if key == "kept" else 1
                ax.plot(
                    *([p["C"] for p in own], [unit * p[key] for p in own]),
                    color=COLORS[i % len(COLORS)],
                    marker=_MARKERS[i % len(_MARKERS)],
                    linestyle=("-", "--", ":")[k % 3],
                    markersize=4.5,
                    linewidth=1.2,
                    label=f"{name}, m = {drawn:,}",
                )
    for ax, label in zip(axes, measures.values(), strict=True):
        ax.set(xlabel="C", ylabel=label)
        _dress(ax)
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    figure.savefig(path, dpi=_DPI)


def _dress(ax: Axes) -> None:
    ax.set_xscale("log")
    ax.grid(color="0.9", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)


DRAWN = {"trade-off": draw_tradeoff, "sparsity": draw_sparsity}
"""The figures by name."""
