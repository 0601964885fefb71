"""Figures of approximations of kernels: curves over inputs, ratios and differences; spectra."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from kmaps.bench.figures.lines import Axis, Series, draw_series
from kmaps.bench.figures.style import color
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import Row
from kmaps.bench.work.errors import Range, Span, SpanErrors, SquareErrors, parse_range
from kmaps.errors import ConfigError
from kmaps.kernels import KERNELS

SIZES = ("order", "dim", "n_bins", "max_error", "n_frequencies")
"""The parameters that say how large a map is; rows that differ in them alone are one line."""

SECTION = 0.1
"""Where k(x, y₀) is cut: y₀ is this fraction of the range (hkm Fig. 2)."""

HELD = 0.25
"""The second input, while the first one varies (hkm Fig. 1)."""

_SPANS = {"ratios": "y / x", "differences": "y - x"}
ERROR = ("approximation - kernel", "(approximation - kernel) / kernel")
_POINTS = 601  # values in a range: with as many, steps look upright
_GREY = {"color": "0.4"}
_MOST_SHOWN = 1.6  # largest error shown, as a multiple of the median of the maps' largest errors


# ---- what was approximated, by panel and label


def squares(
    records: Sequence[Record], arrays: Mapping[str, Arrays]
) -> dict[str, dict[str, SquareErrors]]:
    """Return the approximations on all pairs of a range's values, by panel and short label."""
    return _panels(records, arrays, Range, "LOW:HIGH", SquareErrors)


def spans(
    records: Sequence[Record], arrays: Mapping[str, Arrays]
) -> dict[str, dict[str, SpanErrors]]:
    """Return the approximations over ratios or differences, by panel and short label."""
    return _panels(records, arrays, Span, "ratios LOW:HIGH or differences 0:HIGH", SpanErrors)


def _panels(
    records: Sequence[Record],
    arrays: Mapping[str, Arrays],
    range_type: type,
    range_form: str,
    result_type: Any,
) -> dict[str, dict[str, Any]]:
    """Make a result of each record whose range is of a type; return it by panel and short label."""
    records = _records_over(records, range_type, range_form)
    kernels = list(dict.fromkeys(record["kernel"] for record in records))
    records.sort(key=lambda record: kernels.index(record["kernel"]))
    labels, _ = short_labels(map(Row.of, records))
    ranges = {
        record["key"]: record["options"]["range"] if range_type is Range else record["setting"]
        for record in records
    }
    several_ranges = len(set(ranges.values())) > 1
    panels: dict[str, dict[str, Any]] = {}
    for record in records:
        key = record["key"]
        kernel = record["kernel"]
        title = f"{kernel}, {ranges[key]}" if several_ranges else kernel
        span = parse_range(record["options"]["range"])
        properties: dict[str, Any] = {"variable": span.variable} if isinstance(span, Span) else {}
        properties |= {"dim": record["dim"], "relative": bool(record["options"]["relative"])}
        panel = panels.setdefault(title, {})
        panel[labels[Row.of(record).identity]] = result_type(**properties, **arrays[key])
    return panels


def _records_over(records: Sequence[Record], range_type: type, range_form: str) -> list[Record]:
    """Return the records whose range is of a type, which is written as ``range_form``."""
    of_type = [
        record
        for record in records
        if isinstance(parse_range(record["options"]["range"]), range_type)
    ]
    if not of_type:
        raise ConfigError(f"figures: one of them needs a range {range_form}; add one to ranges")
    return of_type


# ---- curves


def draw_sections(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw k(x, y₀) and its approximations over x, an axes for each kernel and range."""
    series: list[Series] = []
    y = {}
    for panel, results in squares(records, arrays).items():
        first = next(iter(results.values()))
        cut = int(np.abs(first.values - np.quantile(first.values, SECTION)).argmin())
        y[panel] = Axis(f"k(x, {first.values[cut]:.3g})")
        series.append(Series(panel, "exact", first.values, first.exact[:, cut], "exact"))
        series += [
            Series(panel, label, result.values, result.approximate[:, cut], "curve")
            for label, result in results.items()
        ]
    draw_series(series, path, Axis("x"), y, size=(4.2, 3.1), grid=False)


def draw_signatures(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw the signatures and their approximations over ratios or differences."""
    series: list[Series] = []
    x = {}
    for panel, results in spans(records, arrays).items():
        first = next(iter(results.values()))
        x[panel] = Axis(_SPANS[first.variable], log=first.variable == "ratios")
        series.append(Series(panel, "exact", first.values, first.exact[0], "exact"))
        series += [
            Series(panel, label, result.values, result.approximate[0], "curve")
            for label, result in results.items()
        ]
    draw_series(series, path, x, Axis("kernel"), size=(5.2, 3.5), grid=False)


def draw_gaps(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw the errors over ratios or differences.

    The errors of the worst maps may leave the axes, so that the others are distinct.
    """
    series: list[Series] = []
    x = {}
    y = {}
    for panel, results in spans(records, arrays).items():
        first = next(iter(results.values()))
        largest = [result.linf for result in results.values()]
        limit = min(1.05 * max(largest), _MOST_SHOWN * median(largest))
        x[panel] = Axis(_SPANS[first.variable], log=first.variable == "ratios")
        y[panel] = Axis(ERROR[first.relative], limits=(-limit, limit))
        series += [
            Series(panel, label, result.values, result.error[0], "curve")
            for label, result in results.items()
        ]
        ends = first.values[[0, -1]]
        series.append(Series(panel, "", ends, [0, 0], "exact", look={"linewidth": 0.5}))
    draw_series(series, path, x, y, size=(5.2, 3.5), grid=False)


def draw_outputs(records: Sequence[Record], path: Path) -> None:
    """Draw the outputs of each map, fitted again, over the values of its range."""
    from kmaps.bench.work.approximation import made_for, outputs
    from kmaps.maps import takes

    records = _records_over(records, Range, "LOW:HIGH")
    labels, _ = short_labels(map(Row.of, records))
    several_kernels = len({record["kernel"] for record in records}) > 1
    several_ranges = len({record["options"]["range"] for record in records}) > 1
    series = []
    for record in records:
        row = Row.of(record)
        kernel = record["kernel"]
        options = record["options"]
        words = [labels[row.identity]]
        if several_kernels and takes(record["method"], "kernel"):
            words.insert(0, kernel)
        if several_ranges:
            words.append(options["range"])
        panel = ", ".join(words)
        feature_map, _ = made_for(row, kernel, options)
        values, encoded = outputs(feature_map, options, _POINTS)
        series += [
            Series(panel, "", values, output, "curve", hue=i, dash=0)
            for i, output in enumerate(encoded.T)
        ]
    size = (3.2, 2.2)
    draw_series(series, path, Axis("x"), Axis("output"), size=size, grid=False, sharey="row")


def draw_kernels(records: Sequence[Record], path: Path) -> None:
    """Draw k(x, 1/4), the signature and the spectrum of each homogeneous kernel (hkm Fig. 1)."""
    x = np.linspace(0, 1, 401)
    lam = np.linspace(-10, 10, 801)
    omega = np.linspace(0, 2, 401)
    kernel_panel = f"kernel k(x, {HELD:g})"
    series: list[Series] = []
    for name in dict.fromkeys(record["kernel"] for record in records):
        if name in KERNELS:
            kernel = KERNELS[name]
            spectrum = kernel.spectrum(omega)
            if not np.isfinite(spectrum).all():  # a Dirac at 0 cannot be drawn
                spectrum = np.full(len(omega), np.nan)
            series += [
                Series(kernel_panel, name, x, kernel(x, HELD), "curve"),
                Series("signature", name, lam, kernel.signature(lam), "curve"),
                Series("spectrum", name, omega, spectrum, "curve"),
            ]
    axes = {
        kernel_panel: Axis("x"),
        "signature": Axis("λ = log y/x"),
        "spectrum": Axis("ω"),
    }
    draw_series(series, path, axes, Axis(), size=(4.2, 3.2), grid=False)


# ---- over the size of maps


def families(records: Sequence[Record]) -> dict[str, dict[str, list[Record]]]:
    """Return the records line by line: by title of the panel, and by label without the size."""
    rows = {record["key"]: Row.of(record).without(*SIZES) for record in records}
    labels, _ = short_labels(rows.values())
    several_settings = len({record["setting"] for record in records}) > 1
    kernels = list(dict.fromkeys(record["kernel"] for record in records))
    ordered = sorted(records, key=lambda record: (kernels.index(record["kernel"]), record["dim"]))
    panels: dict[str, dict[str, list[Record]]] = {}
    for record in ordered:
        title = record["kernel"]
        if several_settings:
            title += f", {record['setting']}"
        label = labels[rows[record["key"]].identity]
        panels.setdefault(title, {}).setdefault(label, []).append(record)
    return panels


def draw_decay(records: Sequence[Record], path: Path) -> None:
    """Draw the largest error over the outputs; a bound is a dotted line of the same colour."""
    series: list[Series] = []
    x = {}
    joint = any(record["options"].get("inputs", 1) > 1 for record in records)
    for panel, lines in families(records).items():
        for label, line in lines.items():
            dims = [record["dim"] for record in line]
            bounds = [record["error_bound"] for record in line]
            series.append(Series(panel, label, dims, [record["linf"] for record in line]))
            if all(bounds):
                series.append(Series(panel, "", dims, bounds, "thin", hue=label))
                series.append(Series(panel, "dotted: its bound", [], [], "thin", look=_GREY))
        ticks: list[int] = []  # with room between their labels
        for dim in sorted({record["dim"] for line in lines.values() for record in line}):
            if not ticks or dim > 1.2 * ticks[-1]:
                ticks.append(dim)
        x[panel] = Axis("outputs" if joint else "outputs per feature", log=True, at=ticks)
    draw_series(series, path, x, Axis("largest error", log=True), size=(4.4, 3.6), sharey=True)


def draw_periods(records: Sequence[Record], path: Path) -> None:
    """Draw the periods of homogeneous maps over their order; those not published are points."""
    series = []
    periodic = [record for record in records if record["period"] is not None]
    for panel, lines in families(periodic).items():
        for label, line in lines.items():
            params = line[0]["params"]
            line_style = "curve" if params.get("period") is None else "points"
            orders = [record["params"].get("order", 1) for record in line]
            periods = [record["period"] for record in line]
            window = params.get("window", "rectangular")
            series.append(Series(panel, label, orders, periods, line_style, hue=window, dash=0))
    draw_series(series, path, Axis("order n"), Axis("period Λ, in units of log x"), size=(4.4, 3.4))


def draw_spectra(records: Sequence[Record], path: Path) -> None:
    """Draw the spectrum of the largest map of each kernel and window, then the eigenfunctions.

    Bars are the outputs' mean squares at x = 1, κ̂₀, κ̂₁, κ̂₁, …; crosses are the eigenvalues of
    Nyström's kernel matrix on one period. Grey are the harmonics nearest to its eigenfunctions.
    """
    largest: dict[str, dict[str, Record]] = {}
    for record in sorted(records, key=lambda record: record["dim"]):
        is_homogeneous = record["method"] == "homogeneous" and record["kernel"] != "hellinger"
        if is_homogeneous and record["period"] is not None:  # early records lack the period
            window = record["params"].get("window", "rectangular")
            largest.setdefault(window, {})[record["kernel"]] = record
    kernels = [name for name in KERNELS if any(name in of_window for of_window in largest.values())]
    series: list[Series] = []
    x: dict[str, Axis] = {}
    y: dict[str, Axis] = {}
    eigenfunctions: dict[str, list[Series]] = {}
    for window, of_window in largest.items():
        for kernel in kernels:
            panel = f"{kernel}, {window} window"
            function_panel = f"{kernel}, eigenfunctions"
            x[panel] = Axis("output")
            y[panel] = Axis("mean square at x = 1", log=True)
            x[function_panel] = Axis("λ = log y/x, one period")
            y[function_panel] = Axis()
            if kernel in of_window:
                spectrum, functions = _spectrum(panel, function_panel, of_window[kernel])
                series += spectrum
                eigenfunctions[kernel] = functions  # of the last window
            else:
                series.append(Series(panel, "", [], [], hue=0))
    for kernel in kernels:
        series += eigenfunctions[kernel]
    draw_series(series, path, x, y, size=(4.2, 2.8), grid=False, columns=len(kernels))


def _spectrum(panel: str, function_panel: str, record: Record) -> tuple[list[Series], list[Series]]:
    """Return the spectrum of a map next to Nyström's, and the eigenfunctions of the latter."""
    from kmaps.bench.work.one_period import nystroem_view
    from kmaps.maps import discrete_spectrum

    period = record["period"]
    window = record["params"].get("window", "rectangular")
    order = (record["dim"] - 1) // 2
    coefficients = discrete_spectrum(KERNELS[record["kernel"]], order, period, window)
    bars = np.r_[coefficients[0], np.repeat(coefficients[1:], 2)]
    nystroem = nystroem_view(record["kernel"], window, period)
    outputs = np.arange(1, len(bars) + 1)
    crosses = {"marker": "x", "markeredgecolor": color(0), "markeredgewidth": 1}
    eigenvalues = nystroem.eigenvalues[: len(bars)]
    spectra = [
        Series(panel, "outputs of the map", outputs, bars, "bars"),
        Series(panel, "Nyström on one period", outputs, eigenvalues, "points", hue=0, look=crosses),
    ]
    functions = []
    lam = nystroem.lam
    for i in range(3):
        function = nystroem.functions[:, i]
        harmonic = (i + 1) // 2
        waves = np.exp(2j * np.pi * harmonic * np.arange(len(lam)) / len(lam))
        nearest = (waves * np.mean(function * waves.conj())).real * (2 if harmonic else 1)
        label = f"Nyström, eigenfunction {i + 1}"
        functions += [
            Series(function_panel, "harmonics", lam, nearest, "guide", look={"linewidth": 4}),
            Series(function_panel, label, lam, function, "curve", hue=i, dash=0),
        ]
    return spectra, functions
