"""The figure ``spectra``: the discrete spectra of homogeneous maps, and Nyström's on one period."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from kmaps.bench.figures import style
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.work.one_period import OnePeriod, nystroem_view
from kmaps.kernels import KERNELS
from kmaps.maps import discrete_spectrum

_SHOWN = 3  # eigenfunctions


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw the map of the largest order of each kernel and window, and below the eigenfunctions.

    Bars are the outputs' mean squares at x = 1, κ̂₀, κ̂₁, κ̂₁, …; crosses are the eigenvalues of
    Nyström's kernel matrix on one period, sorted. Below are its first eigenfunctions, of the last
    window, and in grey the harmonics nearest to them.

    Parameters
    ----------
    records : sequence of dict
        Of approximations by homogeneous maps, measured; others are left out, and hellinger, whose
        spectrum is a single number.
    arrays : mapping
        Not used.
    path : Path
        The file; its suffix says of which format.
    """
    largest: dict[str, dict[str, Record]] = {}
    for record in sorted(records, key=lambda record: record["dim"]):
        if record["method"] == "homogeneous" and record["kernel"] != "hellinger":
            window = record["params"].get("window", "rectangular")
            largest.setdefault(window, {})[record["kernel"]] = record
    kernels = [name for name in KERNELS if any(name in of for of in largest.values())]
    n_panels = len(kernels) * (len(largest) + 1)
    figure, axes = style.panel_axes(n_panels, 4.2, 2.8, columns=len(kernels))
    seen: dict[str, OnePeriod] = {}
    for row, (window, of_window) in enumerate(largest.items()):
        for ax, kernel in zip(axes[row * len(kernels) :], kernels, strict=False):
            if kernel in of_window:
                seen[kernel] = _spectrum(ax, of_window[kernel])
            style.title(ax, f"{kernel}, {window} window")
    for ax, kernel in zip(axes[-len(kernels) :], kernels, strict=True):
        _functions(ax, seen[kernel])
    style.legend_below(figure, axes)
    style.save(figure, path)


def _spectrum(ax: Axes, record: Record) -> OnePeriod:
    period, window = record["period"], record["params"].get("window", "rectangular")
    order = (record["dim"] - 1) // 2
    spectrum = discrete_spectrum(KERNELS[record["kernel"]], order, period, window)
    outputs = np.r_[spectrum[0], np.repeat(spectrum[1:], 2)]
    seen = nystroem_view(record["kernel"], window, period)
    at, eigenvalues = np.arange(1, len(outputs) + 1), seen.eigenvalues[: len(outputs)]
    ax.bar(at, outputs, color="0.8", label="outputs of the map")
    ax.plot(at, eigenvalues, "x", color=style.color(0), label="Nyström on one period")
    style.log_axis(ax.yaxis)
    ax.set(xlabel="output", ylabel="mean square at x = 1")
    style.plain(ax)
    return seen


def _functions(ax: Axes, seen: OnePeriod) -> None:
    for i in range(_SHOWN):
        function, harmonic = seen.functions[:, i], (i + 1) // 2
        waves = np.exp(2j * np.pi * harmonic * np.arange(len(seen.lam)) / len(seen.lam))
        nearest = (waves * np.mean(function * waves.conj())).real * (2 if harmonic else 1)
        look = {"color": style.color(i), "linewidth": style.LINE_WIDTH}
        ax.plot(seen.lam, nearest, color="0.8", linewidth=4, label="harmonics")
        ax.plot(seen.lam, function, label=f"Nyström, eigenfunction {i + 1}", **look)
    ax.set(xlabel="λ = log y/x, one period")
    ax.margins(x=0)
    style.plain(ax)
