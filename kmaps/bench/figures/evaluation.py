"""Figures of an evaluation: the confusion matrix, and how often probabilities are right."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from kmaps.bench.figures import style
from kmaps.errors import NothingMeasured
from kmaps.models import Evaluation

_MOST_NUMBERED = 20  # classes, for each cell to show its number
_MOST_NAMED = 40  # classes, for each to have its name
_COLORS = "Blues"
_DARK = 0.5  # on larger shares white is easier to read than black


def draw_confusion(evaluation: Evaluation, path: Path) -> None:
    """Draw a confusion matrix: each row in parts of itself, with the numbers."""
    counts = evaluation.confusion
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    side = min(9.0, 3.0 + 0.34 * len(evaluation.classes))
    figure = Figure(figsize=(side + 1, side), dpi=style.DPI, layout="constrained")
    ax = figure.subplots()
    image = ax.imshow(shares, cmap=_COLORS, vmin=0, vmax=1, aspect="auto")
    if len(evaluation.labels) <= _MOST_NUMBERED:
        for (row, column), count in np.ndenumerate(counts):
            shade = "white" if shares[row, column] > _DARK else "black"
            if count:
                ax.text(column, row, count, ha="center", va="center", color=shade, fontsize=8)
    if len(evaluation.labels) <= _MOST_NAMED:
        labels = [style.as_text(f"{label!s:.36}") for label in evaluation.labels.tolist()]
        classes = labels[: len(evaluation.classes)]
        rotation = 90 if max(map(len, classes)) > 2 else 0
        ax.set_xticks(range(len(classes)), classes, rotation=rotation)
        ax.set_yticks(range(len(labels)), labels)
    else:
        ax.locator_params(integer=True)
    ax.set(xlabel="predicted class", ylabel="true label")
    style.title(ax, f"accuracy {100 * evaluation.accuracy:.2f} % of {counts.sum():,} rows")
    figure.colorbar(image, ax=ax, label="part of the row")
    style.save(figure, path)


def draw_reliability(evaluation: Evaluation, path: Path) -> None:
    """Draw how often the most probable class is right, of an evaluation with a calibration."""
    calibration = evaluation.calibration
    if calibration is None:
        raise NothingMeasured("there is no calibration to draw: the model has no probabilities")
    figure = Figure(figsize=(4.4, 5.2), dpi=style.DPI, layout="constrained")
    curve_axes, rows_axes = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    curve_axes.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, linestyle="--")
    has_rows = calibration.rows > 0
    curve_axes.plot(
        calibration.confidence[has_rows],
        calibration.accuracy[has_rows],
        color=style.color(0),
        marker=style.marker(0),
        linewidth=style.LINE_WIDTH,
    )
    curve_axes.set(xlim=(0, 1), ylim=(0, 1.02), ylabel="part of the rows that are right")
    style.title(curve_axes, f"expected calibration error {calibration.error:.4f}")
    widths = np.diff(calibration.bounds)
    rows_axes.bar(
        calibration.bounds[:-1],
        calibration.rows,
        widths,
        align="edge",
        color=style.color(0),
        ec="white",
    )
    rows_axes.set(xlabel="probability of the most probable class", ylabel="rows")
    style.plain(curve_axes, grid=True)
    style.plain(rows_axes)
    style.save(figure, path)


FIGURES = {"confusion": draw_confusion, "reliability": draw_reliability}
