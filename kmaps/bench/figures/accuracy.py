"""The figure ``accuracy``: accuracy over the number of outputs per feature."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev

from matplotlib.axes import Axes

from kmaps.bench.figures import style
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import REFERENCES, Row
from kmaps.bench.records.summary import kernel_order
from kmaps.bench.report.tables import REDUCTION_WORDS

OUTPUTS: dict[str, Callable[[int], int]] = {
    "dim": lambda dim: dim,
    "order": lambda order: 2 * order + 1,
}
"""The parameters that decide how many outputs a feature has: a line goes through their values."""

_LEVELS = {"exact": "-", "exact-coded": "--", "linear": ":"}
_APART = 0.12  # outputs between the bars of two lines at the same number of outputs


@dataclass
class Panel:
    """Accuracies in percent: of each line by its outputs per feature, of each reference."""

    lines: dict[str, dict[int, list[float]]] = field(default_factory=dict)
    references: dict[str, list[float]] = field(default_factory=dict)


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw the accuracy of each map, an axes for each reduction and kernel.

    Points are means over the splits, bars one standard error; the references are level lines.

    Parameters
    ----------
    records : sequence of dict
        Of a classification, measured.
    arrays : mapping
        Not used.
    path : Path
        The file; its suffix says of which format.
    """
    panels = accuracy_panels(records)
    references = _reference_labels(records)
    figure, axes = style.panel_axes(len(panels), 4.6, 3.7, sharey=True)
    for ax, (title, panel) in zip(axes, panels.items(), strict=True):
        _draw(ax, panel, references)
        style.title(ax, title)
        ax.set_xlabel("outputs per feature")
        style.plain(ax)
    axes[0].set_ylabel("accuracy, %")
    style.legend_below(figure, axes)
    style.save(figure, path)


def _reference_labels(records: Sequence[Record]) -> dict[str, str]:
    labels, _ = short_labels(Row.of(record) for record in records)
    rows = [Row.of(record) for record in records if record["method"] in REFERENCES]
    return {row.method: labels[row.identity] for row in rows}


def accuracy_panels(records: Sequence[Record]) -> dict[str, Panel]:
    """Return the accuracies of all splits by panel.

    Examples
    --------
    >>> cell = Row("homogeneous", {"order": 2}).columns | {"kernel": "chi2", "reduction": "ovr"}
    >>> accuracy_panels([cell | {"status": "ok", "accuracy": 0.5}])["chi2, one-vs-rest"].lines
    {'homogeneous': {5: [50.0]}}
    """
    measured = [record for record in records if record["status"] == "ok"]
    labels, _ = short_labels(map(_line, measured))
    groups = {(record["reduction"], record["kernel"]) for record in measured if record["kernel"]}
    panels: dict[str, Panel] = {}
    for reduction, kernel in sorted(groups, key=lambda group: (group[0], kernel_order(group[1]))):
        panel = panels.setdefault(f"{kernel}, {REDUCTION_WORDS[reduction]}", Panel())
        for record in measured:
            if record["reduction"] == reduction and record["kernel"] in (kernel, ""):
                if record["method"] in REFERENCES:
                    values = panel.references.setdefault(record["method"], [])
                else:
                    line = panel.lines.setdefault(labels[_line(record).identity], {})
                    values = line.setdefault(_outputs(record), [])
                values.append(100 * record["accuracy"])
    return panels


def _outputs(record: Record) -> int:
    # Not from the encoded columns: rows of codes have one per feature, whatever the map.
    given = [of(record["params"][name]) for name, of in OUTPUTS.items() if name in record["params"]]
    return given[0] if given else 1


def _line(record: Record) -> Row:
    """Return the row of a record without the parameters that decide the number of outputs."""
    row = Row.of(record)
    for name in OUTPUTS:
        row = row.without(name)
    return row


def _draw(ax: Axes, panel: Panel, names: dict[str, str]) -> None:
    ticks = sorted({outputs for line in panel.lines.values() for outputs in line})
    for i, (label, line) in enumerate(panel.lines.items()):
        shift = _APART * (i - (len(panel.lines) - 1) / 2)
        points = sorted(line.items())
        ax.errorbar(
            [outputs + shift for outputs, _ in points],
            [fmean(accuracies) for _, accuracies in points],
            yerr=[_standard_error(accuracies) for _, accuracies in points],
            color=style.color(i),
            marker=style.marker(i),
            markersize=5,
            linewidth=style.LINE_WIDTH,
            capsize=2,
            label=label,
        )
    low, high = ax.get_ylim()
    below = []
    for method, accuracies in sorted(panel.references.items()):
        level = fmean(accuracies)
        # Far below, as the linear machine, a line would leave the maps no room.
        if level < low - (high - low):
            below.append(f"{names[method]} {level:.2f} %")
        else:
            dash = _LEVELS[method]
            ax.axhline(level, color="0.35", linewidth=1.2, linestyle=dash, label=names[method])
    if below:
        ax.text(
            0.02, 0.02, f"far below: {', '.join(below)}", transform=ax.transAxes, fontsize="small"
        )
    ax.set_xticks(ticks)
    if len(ticks) == 1:  # else the bars beside each other would fill the axes, as if far apart
        ax.set_xlim(ticks[0] - 1, ticks[0] + 1)


def _standard_error(values: list[float]) -> float:
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0
