"""How the error of maps of random projections falls with their number: power laws of records."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FITTED = 4  # sizes, the largest: few frequencies that depend on each other behave otherwise


@dataclass(frozen=True, eq=False)
class Convergence:
    """One map with one kernel, at several numbers of projections.

    Attributes
    ----------
    method, label, kernel : str
        The row, without its number of projections.
    sizes : ndarray of int
        Numbers of projections m, ascending.
    rms, random_rms : ndarray
        Root mean square errors at each: of the kernel, and the random part.
    additive_rms : float
        That of the part that stays.
    exponent : float
        Of the least squares ``log(random_rms) = c + exponent · log(m)`` over the four largest
        sizes; NaN for one size.
    """

    method: str
    label: str
    kernel: str
    sizes: NDArray[np.int64]
    rms: NDArray[np.float64]
    random_rms: NDArray[np.float64]
    additive_rms: float
    exponent: float


def convergence(records: Iterable[Mapping[str, Any]]) -> list[Convergence]:
    """Return a :class:`Convergence` for each row of a study, in the order of its records.

    Examples
    --------
    >>> cell = {"status": "ok", "method": "random-fourier", "kernel": "rbf", "additive_rms": 0.0}
    >>> records = [
    ...     cell | {"params": {}, "dim": 2 * m, "rms": m**-0.5, "random_rms": m**-0.5}
    ...     for m in (100, 400, 1600)
    ... ]
    >>> [row] = convergence(records)
    >>> row.label, round(row.exponent, 6)
    ('random-fourier', -0.5)
    """
    rows: dict[tuple[str, str, str], dict[int, Mapping[str, Any]]] = {}
    for record in records:
        if record["status"] == "ok" and record.get("random_rms") is not None:
            params = {k: v for k, v in record["params"].items() if k != "n_frequencies"}
            label = " ".join([record["method"], *(f"{k}={v}" for k, v in params.items())])
            row = rows.setdefault((record["method"], label, record["kernel"]), {})
            row[record["dim"] // 2] = record
    return [_fitted(*row, dict(sorted(by_size.items()))) for row, by_size in rows.items()]


def _fitted(
    method: str, label: str, kernel: str, by_size: dict[int, Mapping[str, Any]]
) -> Convergence:
    sizes = np.array(list(by_size))
    rms, random = (
        np.array([r[name] for r in by_size.values()], float) for name in ("rms", "random_rms")
    )
    slope = np.nan
    if len(sizes) > 1:
        slope = np.polyfit(np.log(sizes[-_FITTED:]), np.log(random[-_FITTED:]), 1)[0]
    additive = next(iter(by_size.values()))["additive_rms"]
    return Convergence(method, label, kernel, sizes, rms, random, additive, float(slope))


def convergence_table(records: Iterable[Mapping[str, Any]]) -> str:
    """Return a Markdown table: the two parts of each row's error, and how the random one falls."""
    lines = [
        "| kernel | map | random part falls as | at m = | random part | additive part | whole |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in convergence(records):
        cells = [row.kernel, row.label, f"m^{row.exponent:.3f}", f"{row.sizes[-1]:,}"]
        parts = row.random_rms[-1], row.additive_rms, row.rms[-1]
        lines.append(f"| {' | '.join([*cells, *(f'{part:.5f}' for part in parts)])} |")
    return "\n".join(lines)
