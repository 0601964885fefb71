"""Figures of models: accuracy over outputs, trade-offs, the functions of the toy problem."""

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev

from kmaps.bench.figures import style
from kmaps.bench.figures.lines import Axis, Series, draw_series
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.records.names import short_labels, words_of
from kmaps.bench.records.row import BY_ITSELF, REFERENCES, Row
from kmaps.bench.records.summary import kernel_order
from kmaps.bench.report.tables import REDUCTION_WORDS
from kmaps.bench.report.tradeoff import LearnerPoints, TrialPoint, has_times, learners, quality
from kmaps.errors import NothingMeasured

OUTPUTS: dict[str, Callable[[int], int]] = {
    "dim": lambda dim: dim,
    "order": lambda order: 2 * order + 1,
}
"""The parameters that decide the outputs of a feature: a line goes through their values."""

_LEVELS = {"exact": "-", "exact-coded": "--", "linear": ":"}
_BAR_SHIFT = 0.12  # outputs between the bars of two lines with the same number of outputs
_LEVEL = {"color": "black", "linewidth": 0.6, "linestyle": (0, (4, 3)), "zorder": 1}
_EXACT = "*PXd"  # in black
_COSTS = {"us": "test, µs per sample", "kept": "projections to compute"}


def draw_accuracy(records: Sequence[Record], path: Path) -> None:
    """Draw the accuracy of each map over its outputs per feature; bars are one standard error.

    References, and classifiers that have no outputs, are levels.
    """
    measured = [record for record in records if record["status"] == "ok"]
    groups = {(record["reduction"], record["kernel"]) for record in measured if record["kernel"]}
    series: list[Series] = []
    notes: dict[str, str] = {}
    x: dict[str, Axis] = {}
    for reduction, kernel in sorted(groups, key=lambda group: (group[0], kernel_order(group[1]))):
        panel = f"{kernel}, {REDUCTION_WORDS[reduction]}"
        panel_records = [
            record
            for record in measured
            if record["reduction"] == reduction and record["kernel"] in (kernel, "")
        ]
        lines = accuracy_lines(measured, panel_records)
        series += _lines(panel, lines)
        levels, notes[panel] = _levels(panel, measured, panel_records, lines)
        series += levels
        series += _classifiers(panel, measured, panel_records)
        ticks = sorted({outputs for line in lines.values() for outputs in line})
        x[panel] = Axis("outputs per feature", at=ticks)
    size = (4.6, 3.7)
    y = Axis("accuracy, %; bars: one standard error")
    draw_series(series, path, x, y, size=size, grid=False, sharey=True, notes=notes)


def accuracy_lines(
    measured: Sequence[Record], panel_records: Sequence[Record]
) -> dict[str, dict[int, list[float]]]:
    """Return the accuracies of a panel's maps in percent, by label and by outputs per feature."""
    labels, _ = short_labels(map(_without_outputs, measured))
    lines: dict[str, dict[int, list[float]]] = {}
    for record in panel_records:
        if record["method"] not in REFERENCES and record["solver"] != BY_ITSELF:
            line = lines.setdefault(labels[_without_outputs(record).identity], {})
            line.setdefault(_outputs(record), []).append(100 * record["accuracy"])
    return lines


def _outputs(record: Record) -> int:
    # The encoded columns do not say it: codes have one column per feature for any map.
    for name, outputs in OUTPUTS.items():
        if name in record["params"]:
            return outputs(record["params"][name])
    return 1


def _without_outputs(record: Record) -> Row:
    return Row.of(record).without(*OUTPUTS)


def _lines(panel: str, lines: Mapping[str, Mapping[int, list[float]]]) -> list[Series]:
    series = []
    for i, (label, line) in enumerate(lines.items()):
        shift = _BAR_SHIFT * (i - (len(lines) - 1) / 2)
        outputs = sorted(line)
        means = [fmean(line[n]) for n in outputs]
        errors = [_standard_error(line[n]) for n in outputs]
        series.append(Series(panel, label, [n + shift for n in outputs], means, error=errors))
    return series


def _classifiers(
    panel: str, measured: Sequence[Record], panel_records: Sequence[Record]
) -> list[Series]:
    """Return the mean accuracy of each classifier that trains by itself as a level."""
    labels, _ = short_labels(map(Row.of, measured))
    accuracies: dict[str, list[float]] = {}
    for record in panel_records:
        if record["solver"] == BY_ITSELF:
            label = labels[Row.of(record).identity]
            accuracies.setdefault(label, []).append(100 * record["accuracy"])
    return [
        Series(panel, label, [], fmean(values), "level") for label, values in accuracies.items()
    ]


def _standard_error(values: Sequence[float]) -> float:
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0


def _levels(
    panel: str,
    measured: Sequence[Record],
    panel_records: Sequence[Record],
    lines: Mapping[str, Mapping[int, list[float]]],
) -> tuple[list[Series], str]:
    """Return the references as levels; in words those so far below that maps had no room left."""
    labels, _ = short_labels(map(Row.of, measured))
    means = [fmean(values) for line in lines.values() for values in line.values()]
    lowest = 2 * min(means, default=0) - max(means, default=0) - 1
    series: list[Series] = []
    texts: list[str] = []
    for method in sorted(REFERENCES):
        records = [record for record in panel_records if record["method"] == method]
        if not records:
            continue
        level = fmean(100 * record["accuracy"] for record in records)
        name = labels[Row.of(records[-1]).identity]
        if means and level < lowest:
            texts.append(f"{name} {level:.2f} %")
        else:
            look = {"color": "0.35", "linewidth": 1.2, "linestyle": _LEVELS[method]}
            series.append(Series(panel, name, [], level, "level", look=look))
    return series, f"far below: {', '.join(texts)}" if texts else ""


def draw_functions(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw the learnt functions of the toy problem's first coordinate (``x``, ``function``).

    Functions of one degree share an axes: more of them would hide each other.
    """
    rows = [Row.of(record).without("degree") for record in records]
    labels, _ = short_labels(rows)
    series = []
    for record, row in zip(records, rows, strict=True):
        degree = record["params"].get("degree")
        words = [
            words_of(record["method"]).name,
            record["kernel"],
            f"degree {degree}" if degree else "",
        ]
        panel = ", ".join(word for word in words if word)
        curve = arrays[record["key"]]
        label = labels[row.identity]
        series.append(Series(panel, label, curve["x"], curve["function"], "curve"))
    y = Axis("learned f(x), minus its mean")
    draw_series(series, path, Axis("x"), y, size=(3.6, 3.2), sharey=True, legend_each=True)


# ---- trade-offs


def draw_trade_off(records: Sequence[Record], path: Path) -> None:
    """Draw quality over the time of a test, where it may be published, and over projections.

    Bars are standard deviations. An exact kernel is a black point and a level, at its best C.
    """
    all_learners = learners(records)
    best_exact = {
        learner.name: max(learner.points, key=lambda point: point.quality)
        for learner in all_learners
        if learner.exact
    }
    costs = dict(_COSTS)
    if not has_times(all_learners):
        del costs["us"]
    last_cost = list(costs)[-1]
    series: list[Series] = []
    for cost, title in costs.items():
        for i, (name, point) in enumerate(best_exact.items()):
            look = {
                "marker": _EXACT[i % len(_EXACT)],
                "markersize": 10,
                "zorder": 4,
                "color": "black",
                "markeredgecolor": "black",
            }
            if cost == "us":
                series.append(Series(title, name, [point.us], [point.quality], "points", look=look))
            end = name if cost == last_cost else ""
            series.append(Series(title, "", [], point.quality, "level", end=end, look=_LEVEL))
        for learner in all_learners:
            for k, (words, points) in enumerate(lines_of(learner)):
                line = Series(
                    title,
                    f"{learner.name}{words}",
                    [getattr(point, cost) for point in points],
                    [point.quality for point in points],
                    error=[point.spread for point in points],
                    hue=learner.name,
                    dash=k,
                )
                series.append(line)
    axes = {title: Axis(title, log=True) for title in costs.values()}
    y = Axis(f"{quality(records).replace('_', ' ')}, %")
    draw_series(series, path, axes, y, size=(5.5, 4.8), sharey=True, titles=False)


def draw_sparsity(records: Sequence[Record], path: Path) -> None:
    """Draw the projections kept, the quality and the time of a test over C, by learner."""
    sparse = [learner for learner in learners(records) if not learner.exact]
    if not sparse:
        raise NothingMeasured(style.NOTHING)
    accuracy = f"{quality(records).replace('_', ' ')}, %"
    quantities: dict[str, Callable[[TrialPoint], float]] = {
        "projections kept, %": lambda point: 100 * point.kept / point.drawn,
        accuracy: lambda point: point.quality,
        _COSTS["us"]: lambda point: point.us,
    }
    if not has_times(sparse):
        del quantities[_COSTS["us"]]
    series = []
    for title, value in quantities.items():
        for learner in sparse:
            for k, m in enumerate(sorted({point.drawn for point in learner.points})):
                points = sorted(_drawn(learner.points, m), key=lambda point: point.C)
                error = [point.spread for point in points] if title == accuracy else None
                line = Series(
                    title,
                    f"{learner.name}, m = {m:,}",
                    [point.C for point in points],
                    [value(point) for point in points],
                    error=error,
                    hue=learner.name,
                    dash=k,
                )
                series.append(line)
    axes = {title: Axis(title, log=title == _COSTS["us"]) for title in quantities}
    draw_series(series, path, Axis("C", log=True), axes, size=(3.9, 4.2), titles=False)


def lines_of(learner: LearnerPoints) -> list[tuple[str, list[TrialPoint]]]:
    """Return the lines that join the points of a learner, each with its distinguishing name.

    They go over the frequencies that it was asked to keep of the most drawn; or over C, if it has
    more of these than of frequencies drawn; or over the frequencies drawn.
    """
    points = [] if learner.exact else learner.points
    sizes = {point.drawn for point in points}
    settings = {point.setting for point in points}
    if any(point.keep for point in points):
        most = max(sizes)
        return [(f" of {most:,}", sorted(_drawn(points, most), key=lambda point: point.keep))]
    if len(settings) > len(sizes):
        return [
            (f", m = {m:,}", sorted(_drawn(points, m), key=lambda point: point.C))
            for m in sorted(sizes)
        ]
    lines = []
    for is_chosen, C in sorted(settings):
        of_setting = [point for point in points if point.setting == (is_chosen, C)]
        words = ", C chosen" if is_chosen else f", C = {C:g}"
        if len(settings) == 1:
            words = ""
        lines.append((words, sorted(of_setting, key=lambda point: point.drawn)))
    return lines


def _drawn(points: Sequence[TrialPoint], m: int) -> list[TrialPoint]:
    return [point for point in points if point.drawn == m]
