"""The figure ``costs``: accuracy over the time of training, the time of the test and the memory."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kmaps.bench.figures import style
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.records.measures import MEASURES, accuracy_of
from kmaps.bench.records.summary import summarize

_COSTS = {
    "time": "training (fit, encode, convert, train), s",
    "predict": "all test samples, s",
    "memory": "peak memory beyond the data, MB",
}


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw each row as a point on every axes; upper left is best.

    Bars are standard deviations over the splits.

    Parameters
    ----------
    records : sequence of dict
        Of a classification, measured.
    arrays : mapping
        Not used.
    path : Path
        The PNG file.
    """
    quality = accuracy_of(records)
    points = points_of(records, quality)
    figure, axes = style.panel_axes(len(_COSTS), 4.6, 4.2, sharey=True)
    for ax, (cost, title) in zip(axes, _COSTS.items(), strict=True):
        for i, (label, of_row) in enumerate(points.items()):
            again = i // len(style.COLORS)  # a colour that comes again has another marker
            if cost in of_row:
                ax.errorbar(
                    of_row[cost],
                    of_row[quality],
                    yerr=of_row["spread"],
                    color=style.color(i),
                    marker=style.marker(i + 3 * again),
                    linestyle="none",
                    markersize=7,
                    markeredgecolor="white",
                    markeredgewidth=0.6,
                    capsize=2,
                    label=label,
                )
        style.log_axis(ax.xaxis)
        style.plain(ax, grid=True)
        ax.set_xlabel(title)
    axes[0].set_ylabel(MEASURES[quality].title)
    style.legend_below(figure, axes)
    style.save(figure, path)


def points_of(records: Sequence[Record], quality: str) -> dict[str, dict[str, float]]:
    """Return the measures of each row, as printed, by its label; in the order of tables.

    What is not positive, and so has no place on a logarithmic axis, is left out.
    """
    points: dict[str, dict[str, float]] = {}
    lines = summarize(records, [quality, *_COSTS])
    several = len({line["reduction"] for line in lines}) > 1
    for line in lines:
        words = [line["reduction"] if several else "", line["kernel"], line["label"]]
        of_row = points.setdefault(" ".join(filter(None, words)), {})
        scale = MEASURES[line["measure"]].scale
        middle = line["median"] if line["repeats"] else line["mean"]
        if line["n"] and middle > 0:
            of_row[line["measure"]] = scale * middle
        if line["measure"] == quality:
            of_row["spread"] = scale * line["std"] if line["n"] > 1 else 0.0
    return {label: of_row for label, of_row in points.items() if quality in of_row}
