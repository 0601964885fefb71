"""How time and memory grow with the number of training samples: power laws fitted to records."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmaps.bench.records.columns import Record
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import Row
from kmaps.bench.report.gate_forms import markdown_table

SHOWN = ("time", "train-memory")
"""The measures that a scaling experiment is about."""

_FITTED = 4  # sizes, the largest: with few samples what is the same for all sizes takes the most


@dataclass(frozen=True, eq=False)
class Growth:
    """One row of a scaling experiment: a measure at each size, and a power law.

    Attributes
    ----------
    name : str
        The row in words, without its size; with its kernel where there are several.
    sizes, values : ndarray
        Training samples, ascending, and the measure, in plain units.
    exponent, factor : float
        Of the least squares ``log(value) = log(factor) + exponent · log(n)`` over the four largest
        sizes; NaN for one size.
    """

    name: str
    sizes: NDArray[np.int64]
    values: NDArray[np.float64]
    exponent: float
    factor: float

    def at(self, n: float) -> float:
        """Return what the power law says for n samples."""
        return self.factor * n**self.exponent


def growth(records: Iterable[Record], measure: str) -> list[Growth]:
    """Return a :class:`Growth` for each row of a scaling experiment, in the order of its records.

    Examples
    --------
    >>> cell = Row("exact", solver="libsvm").columns | {"status": "ok", "kernel": "chi2"}
    >>> records = [cell | {"n_train": n, "size": n, "train_s": n**2 / 1e6} for n in (1000, 2000)]
    >>> [row] = growth(records, "train")
    >>> row.name, round(row.exponent, 6), round(row.at(8000), 6)
    ('exact', 2.0, 64.0)
    """
    rows: dict[tuple[str, str], dict[int, float]] = {}
    whole: dict[str, Row] = {}
    for record in records:
        value = MEASURES[measure].value(record)
        if record["status"] == "ok" and value is not None:
            row = Row.of(record).without("size")
            whole[row.identity] = row
            rows.setdefault((row.identity, record["kernel"]), {})[record["n_train"]] = value
    labels, _ = short_labels(whole.values())
    several = len({kernel for _, kernel in rows} - {""}) > 1
    return [
        _fitted(", ".join(filter(None, [labels[row], kernel if several else None])), by_size)
        for (row, kernel), by_size in rows.items()
    ]


def _fitted(name: str, by_size: dict[int, float]) -> Growth:
    sizes = np.array(sorted(by_size))
    values = np.array([by_size[n] for n in sizes])
    exponent, factor = np.nan, np.nan
    if len(sizes) > 1 and (values > 0).all():
        exponent, logarithm = np.polyfit(np.log(sizes[-_FITTED:]), np.log(values[-_FITTED:]), 1)
        factor = np.exp(logarithm)
    return Growth(name, sizes, values, float(exponent), float(factor))


def growth_table(records: Iterable[Record]) -> str:
    """Return a Markdown table: each row at its largest size, and the exponents.

    What the solver's library needs for its own structures is part of the time, and shown apart.
    """
    records = list(records)
    by_measure = {name: {row.name: row for row in growth(records, name)} for name in SHOWN}
    conversions = {row.name: row for row in growth(records, "convert")}
    lines = []
    for row in growth(records, "accuracy"):
        cells = [row.name, f"{row.sizes[-1]:,}", MEASURES["accuracy"].format(row.values[-1])]
        for name, rows in by_measure.items():
            measured = rows.get(row.name)
            cells += _grown(name, measured) if measured else ["", ""]
        converted = conversions.get(row.name)
        cells.insert(4, MEASURES["convert"].format(converted.values[-1]) if converted else "")
        lines.append(cells)
    head = ["", "largest n", "accuracy, %", "time, s", "of it conversion, s", "grows as"]
    head += ["peak memory, MB", "grows as"]
    return markdown_table(head, lines)


def _grown(measure: str, row: Growth) -> list[str]:
    return [MEASURES[measure].format(row.values[-1]), f"n^{row.exponent:.2f}"]
