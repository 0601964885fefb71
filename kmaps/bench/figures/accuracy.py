"""Figures of records: accuracy against the number of outputs a feature."""

from collections.abc import Iterable, Mapping
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kmaps.bench.figures.errors import COLORS, DPI, plain
from kmaps.bench.records.summary import REFERENCES, kernel_order
from kmaps.bench.report.tables import REDUCTIONS

OUTPUTS = {"dim": lambda dim: dim, "order": lambda order: 2 * order + 1}
"""The parameters that decide how many outputs a feature has: a line goes through their values."""

_MARKERS = "osD^vP*X"
_LEVELS = {"exact": "-", "exact-coded": "--", "linear": ":"}

Panel = dict[str, dict[int, list[float]]]  # line, outputs a feature: accuracies in percent


def draw_accuracy(records: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Draw the accuracy of each map over its outputs a feature, one axes a reduction and kernel.

    Points are means over the splits, bars one standard error; the references are level lines.
    """
    panels = accuracy_panels(records)
    figure = Figure(figsize=(4.2 * len(panels), 3.9), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for ax, (title, panel) in zip(axes, panels.items(), strict=True):
        _draw(ax, panel)
        ax.set_title(title, fontsize="medium", loc="left")
        ax.set_xlabel("outputs a feature")
        plain(ax)
    axes[0].set_ylabel("accuracy, %")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=DPI)


def accuracy_panels(records: Iterable[Mapping[str, Any]]) -> dict[str, Panel]:
    """Return the accuracies of each split by panel, line and outputs a feature.

    Examples
    --------
    >>> cell = {"status": "ok", "reduction": "ovr", "kernel": "chi2", "method": "homogeneous"}
    >>> cell |= {"label": "homogeneous order=2", "params": {"order": 2}, "accuracy": 0.5}
    >>> accuracy_panels([cell])
    {'chi2, one-vs-rest': {'homogeneous': {5: [50.0]}}}
    """
    ok = [record for record in records if record["status"] == "ok"]
    groups = {(r["reduction"], r["kernel"]) for r in ok if r["kernel"]}
    panels = {}
    for reduction, kernel in sorted(groups, key=lambda g: (g[0], kernel_order(g[1]))):
        panel: Panel = {}
        for record in ok:
            if record["reduction"] == reduction and record["kernel"] in (kernel, ""):
                line = panel.setdefault(_line(record), {})
                line.setdefault(_outputs(record), []).append(100 * record["accuracy"])
        panels[f"{kernel}, {REDUCTIONS[reduction]}"] = panel
    return panels


def _outputs(record: Mapping[str, Any]) -> int:
    # Not from the encoded columns: rows of codes have one a feature, whatever the map.
    given = [of(record["params"][name]) for name, of in OUTPUTS.items() if name in record["params"]]
    return given[0] if given else 1


def _line(record: Mapping[str, Any]) -> str:
    """Return the label of a record without the parameters that decide the number of outputs."""
    sizes = {f"{name}={record['params'].get(name)}" for name in OUTPUTS}
    return " ".join(word for word in record["label"].split(" ") if word not in sizes)


def _draw(ax: Axes, panel: Panel) -> None:
    maps = [label for label in panel if label not in REFERENCES]
    for label in REFERENCES:
        for accuracies in panel.get(label, {}).values():
            level = fmean(accuracies)
            ax.axhline(level, color="0.35", linewidth=1.2, linestyle=_LEVELS[label], label=label)
    for i, label in enumerate(maps):
        line = sorted(panel[label].items())
        ax.errorbar(
            [outputs for outputs, _ in line],
            [fmean(accuracies) for _, accuracies in line],
            yerr=[_standard_error(accuracies) for _, accuracies in line],
            color=COLORS[i % len(COLORS)],
            marker=_MARKERS[i % len(_MARKERS)],
            markersize=5,
            linewidth=1.2,
            capsize=2,
            label=label,
        )
    ax.set_xticks(sorted({outputs for label in maps for outputs in panel[label]}))


def _standard_error(values: list[float]) -> float:
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0
