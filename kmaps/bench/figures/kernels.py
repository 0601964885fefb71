"""The figure ``kernels``: homogeneous kernels, their signatures and their spectra (hkm Fig. 1)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from kmaps.bench.figures import style
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.kernels import KERNELS

HELD = 0.25
"""The second input, while the first one varies (hkm Fig. 1)."""


def draw(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw k(x, 1/4), the signature and the spectrum of each kernel that the records are of.

    Parameters
    ----------
    records : sequence of dict
        Of approximations of homogeneous kernels, measured; others are left out.
    arrays : mapping
        Not used.
    path : Path
        The file; its suffix says of which format.
    """
    names = [name for name in dict.fromkeys(r["kernel"] for r in records) if name in KERNELS]
    figure, axes = style.panel_axes(3 if names else 0, 4.2, 3.2)
    x, lam, omega = np.linspace(0, 1, 401), np.linspace(-10, 10, 801), np.linspace(0, 2, 401)
    for i, name in enumerate(names):
        kernel = KERNELS[name]
        spectrum = kernel.spectrum(omega)
        if not np.isfinite(spectrum).all():  # a Dirac at 0 would be an empty line
            spectrum = np.full(len(omega), np.nan)
        look = {"color": style.color(i), "linewidth": style.LINE_WIDTH, "label": name}
        for ax, over, values in (
            (axes[0], x, kernel(x, HELD)),
            (axes[1], lam, kernel.signature(lam)),
            (axes[2], omega, spectrum),
        ):
            ax.plot(over, values, linestyle=style.dash(i), **look)
    for ax, over, title in zip(
        axes,
        ("x", "λ = log y/x", "ω"),
        (f"kernel k(x, {HELD:g})", "signature", "spectrum"),
        strict=True,
    ):
        ax.set_xlabel(over)
        ax.margins(x=0)
        style.title(ax, title)
        style.plain(ax)
    style.legend_below(figure, axes)
    style.save(figure, path)
