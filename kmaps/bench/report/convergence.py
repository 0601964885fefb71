"""How the error of maps of random frequencies falls with their number: power laws of records."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmaps.bench.records.columns import Record
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import Row
from kmaps.bench.report.gate_forms import markdown_table

_FITTED = 4  # sizes, the largest: few frequencies that depend on each other behave otherwise


@dataclass(frozen=True, eq=False)
class Convergence:
    """One map with one kernel, at several numbers of frequencies.

    Attributes
    ----------
    label, kernel : str
        The row, without its number of frequencies.
    sizes : ndarray of int
        Numbers of frequencies m, ascending.
    rms, random_rms : ndarray
        Root mean square errors at each: of the kernel, and the random part; means over the splits.
    additive_rms : float
        That of the part that stays.
    exponent : float
        Of the least squares ``log(random_rms) = c + exponent · log(m)`` over the four largest
        sizes; NaN for one size.
    """

    label: str
    kernel: str
    sizes: NDArray[np.int64]
    rms: NDArray[np.float64]
    random_rms: NDArray[np.float64]
    additive_rms: float
    exponent: float


def convergence(records: Iterable[Record]) -> list[Convergence]:
    """Return a :class:`Convergence` for each row and kernel, in the order of the records.

    Examples
    --------
    >>> cell = Row("random-fourier").columns | {"status": "ok", "kernel": "rbf", "additive_rms": 0}
    >>> records = [cell | {"dim": 2 * m, "rms": m**-0.5, "random_rms": m**-0.5}
    ...            for m in (100, 400, 1600)]
    >>> [row] = convergence(records)
    >>> row.label, round(row.exponent, 6)
    ('random Fourier', -0.5)
    """
    rows: dict[tuple[str, str], dict[int, list[Record]]] = {}
    whole: dict[str, Row] = {}
    for record in records:
        if record["status"] == "ok":
            row = Row.of(record).without("n_frequencies")
            whole[row.identity] = row
            by_size = rows.setdefault((row.identity, record["kernel"]), {})
            # Two outputs per frequency.
            by_size.setdefault(record["dim"] // 2, []).append(record)
    labels, _ = short_labels(whole.values())
    return [_fitted(labels[row], kernel, by_size) for (row, kernel), by_size in rows.items()]


def _fitted(label: str, kernel: str, by_size: dict[int, list[Record]]) -> Convergence:
    def means(column: str) -> NDArray[np.float64]:
        return np.array([np.mean([record[column] for record in by_size[m]]) for m in sizes])

    sizes = np.array(sorted(by_size))
    rms, random = means("rms"), means("random_rms")
    slope = np.nan
    if len(sizes) > 1:
        slope = np.polyfit(np.log(sizes[-_FITTED:]), np.log(random[-_FITTED:]), 1)[0]
    additive = float(means("additive_rms")[0])
    return Convergence(label, kernel, sizes, rms, random, additive, float(slope))


def convergence_table(records: Iterable[Record]) -> str:
    """Return a Markdown table: the two parts of each row's error, and how the random one falls."""
    lines = []
    for row in convergence(records):
        parts = row.random_rms[-1], row.additive_rms, row.rms[-1]
        numbers = [f"{part:.5f}" for part in parts]
        fall = [f"m^{row.exponent:.3f}", f"{row.sizes[-1]:,}"]
        lines.append([row.kernel, row.label, *fall, *numbers])
    head = ["kernel", "map", "random part falls as", "at m =", "random part", "additive part"]
    return markdown_table([*head, "whole"], lines, texts=2)
