"""Figures of power laws: errors that fall, times and memory that grow, errors over storage."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kmaps.bench.figures.lines import Axis, Series, draw_series
from kmaps.bench.records.columns import Record
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.summary import summarize
from kmaps.bench.report import laws as fits

_GUIDES = {"bias": (2, "ε²", "-"), "rms": (1, "ε", "--"), "deviation": (-0.5, "1/√D", ":")}
_PLACES = {fits.SPACING: "spacing ε of the anchors", fits.FEATURES: "features D"}
_ADDITIVE_PART = "part that does not fall"
_ADDITIVE_LOOK = {"color": "0.4", "linestyle": "--"}


def draw_falls(records: Sequence[Record], path: Path) -> None:
    """Draw errors on pairs of samples, with the power by which theory says that they fall."""
    laws = fits.falls(records)
    several_maps = len({law.label for law in laws}) > 1
    series: list[Series] = []
    places: dict[str, Axis] = {}
    for name in fits.ERRORS:
        panel_laws = [law for law in laws if law.quantity == name]
        labels = {law.label for law in panel_laws}
        panel = f"{fits.ERRORS[name]}, per feature"
        if several_maps and len(labels) == 1:  # so that a kernel looks the same in all panels
            panel += f" ({labels.pop()})"
        for law in panel_laws:
            label = f"{law.kernel}, {law.label}" if len(labels) > 1 else law.kernel
            series.append(Series(panel, label, law.at, law.values))
            places[panel] = Axis(_PLACES[law.over], log=True)
        if panel_laws:
            power, guide, dash = _GUIDES[name]
            series.append(_guide(panel, panel_laws, power, guide, dash))
    draw_series(series, path, places, Axis(log=True))


def _guide(panel: str, laws: list[fits.PowerLaw], power: float, name: str, dash: str) -> Series:
    """Return a straight line of that power below the laws, through the lowest of them."""
    at = np.unique(np.concatenate([law.at for law in laws]))
    lowest = min((law.values / law.at**power).min() for law in laws)
    return Series(panel, name, at, lowest * at**power, "guide", look={"linestyle": dash})


def draw_convergence(records: Sequence[Record], path: Path) -> None:
    """Draw the errors of random maps over the number of frequencies, next to 1/√(2m)."""
    maps = fits.convergence(records)
    series: list[Series] = []
    for kernel in dict.fromkeys(errors["rms"].kernel for errors in maps):
        panel_maps = [errors for errors in maps if errors["rms"].kernel == kernel]
        sizes = np.unique(np.concatenate([errors["rms"].at for errors in panel_maps]))
        series.append(Series(kernel, "1/√(2m)", sizes, 1 / np.sqrt(2 * sizes), "guide"))
        series.append(Series(kernel, _ADDITIVE_PART, [], [], "thin", look=_ADDITIVE_LOOK))
        lowest = min(errors["rms"].values.min() for errors in panel_maps) / 20
        levels: dict[float, str] = {}
        for errors in panel_maps:
            law = errors["rms"]
            additive_part = errors["additive_rms"].values[0]
            series.append(Series(kernel, law.label, law.at, law.values))
            if additive_part > lowest:  # lower parts do not matter
                levels.setdefault(additive_part, law.label)
        series += [Series(kernel, "", [], y, "level", hue=hue) for y, hue in levels.items()]
    m = sorted({int(size) for errors in maps for size in errors["rms"].at})
    y = Axis("root mean square error of the kernel", log=True)
    draw_series(series, path, Axis("projections m", log=True, at=m[::2]), y, sharey=True)


def draw_scaling(records: Sequence[Record], path: Path) -> None:
    """Draw time and memory over the training samples; beyond the last one a prediction, dotted."""
    rows = fits.growth(records)
    series: list[Series] = []
    for measure in fits.GROWING:
        laws = {name: laws[measure] for name, laws in rows.items() if measure in laws}
        largest = max((law.at[-1] for law in laws.values()), default=0)
        panel = MEASURES[measure].title
        scale = MEASURES[measure].scale
        for name, law in laws.items():
            series.append(Series(panel, name, law.at, scale * law.values, "points"))
            if np.isfinite(law.exponent):
                fitted_sizes = law.at[-fits.LARGEST :][[0, -1]]
                fit = scale * law.value(fitted_sizes)
                series.append(Series(panel, "", fitted_sizes, fit, "law", hue=name))
                predicted_sizes = np.array([law.at[-1], largest])
                prediction = scale * law.value(predicted_sizes)
                power = f"$n^{{{law.exponent:.2f}}}$"
                line = Series(panel, "", predicted_sizes, prediction, "thin", hue=name, end=power)
                series.append(line)
    sizes = sorted({int(n) for laws in rows.values() for law in laws.values() for n in law.at})
    x = Axis("training samples n", log=True, at=sizes, rotation=30)
    y = {line.panel: Axis(log=True) for line in series}
    draw_series(series, path, x, y, size=(4.6, 3.9))


def draw_stored(records: Sequence[Record], path: Path) -> None:
    """Draw errors on pairs of samples over the bytes of the stored training set."""
    lines = summarize(records, ["rms", "storage-train"])
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for line in lines:
        name = ", ".join(filter(None, [line["label"], line["setting"]]))
        value = MEASURES[line["measure"]].scale * line["mean"]
        rows.setdefault((line["kernel"], name), {})[line["measure"]] = value
    series = [
        Series(kernel, name, [row["storage-train"]], [row["rms"]], "points")
        for (kernel, name), row in rows.items()
    ]
    y = Axis("root mean square error, per feature", log=True)
    draw_series(series, path, Axis("stored training set, MB", log=True), y, sharey=True)
