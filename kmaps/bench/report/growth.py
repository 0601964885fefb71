"""How time and memory grow with the number of training samples: power laws fitted to records."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.bench.records.summary import MEASURES

SHOWN = ("time", "train-memory")
"""The measures that a scaling experiment is about."""

_FITTED = 4  # sizes, the largest: with few samples what is the same for all sizes takes the most


@dataclass(frozen=True, eq=False)
class Growth:
    """One row of a scaling experiment: a measure at each size, and a power law.

    Attributes
    ----------
    label : str
        The row, without its size.
    kernel, solver : str
    sizes, values : ndarray
        Training samples, ascending, and the measure, in plain units.
    exponent, factor : float
        Of the least squares ``log(value) = log(factor) + exponent · log(n)`` over the four largest
        sizes; NaN for one size.
    """

    label: str
    kernel: str
    solver: str
    sizes: NDArray[np.int64]
    values: NDArray[np.float64]
    exponent: float
    factor: float

    @property
    def name(self) -> str:
        """The row in words."""
        words = ", ".join(filter(None, [self.label, self.kernel]))
        return (
            f"{words} ({self.solver.upper()})" if self.solver in ("libsvm", "liblinear") else words
        )

    def at(self, n: float) -> float:
        """Return what the power law says for n samples."""
        return self.factor * n**self.exponent


def growth(records: Iterable[Mapping[str, Any]], measure: str) -> list[Growth]:
    """Return a :class:`Growth` for each row of a scaling experiment, in the order of its records.

    Examples
    --------
    >>> cell = {"status": "ok", "kernel": "chi2", "peak_bytes": 0, "fit_s": 0.0, "encode_s": 0.0}
    >>> records = [
    ...     cell | {"label": f"exact n={n}", "n_train": n, "convert_s": 0.0, "train_s": n**2 / 1e6}
    ...     for n in (1000, 2000, 4000)
    ... ]
    >>> [row] = growth(records, "time")
    >>> row.name, round(row.exponent, 6), round(row.at(8000), 6)
    ('exact, chi2', 2.0, 64.0)
    """
    columns = MEASURES[measure].columns
    rows: dict[tuple[str, str, str], dict[int, float]] = {}
    for record in records:
        if record["status"] == "ok" and all(record.get(name) is not None for name in columns):
            n = record["n_train"]
            solver = (record.get("learner") or {}).get("solver", "")
            row = record["label"].removesuffix(f" n={n}"), record["kernel"], solver
            rows.setdefault(row, {})[n] = sum(record[name] for name in columns)
    return [_fitted(*row, values) for row, values in rows.items()]


def _fitted(label: str, kernel: str, solver: str, by_size: dict[int, float]) -> Growth:
    sizes = np.array(sorted(by_size))
    values = np.array([by_size[n] for n in sizes])
    exponent, factor = np.nan, np.nan
    if len(sizes) > 1 and (values > 0).all():
        exponent, logarithm = np.polyfit(np.log(sizes[-_FITTED:]), np.log(values[-_FITTED:]), 1)
        factor = np.exp(logarithm)
    return Growth(label, kernel, solver, sizes, values, float(exponent), float(factor))


def growth_table(records: Iterable[Mapping[str, Any]]) -> str:
    """Return a Markdown table: each row at its largest size, and the exponents."""
    records = list(records)
    by_measure = {name: growth(records, name) for name in SHOWN}
    accuracy = {row.name: row.values[-1] for row in growth(records, "accuracy")}
    lines = [
        "| | largest n | accuracy, % | time, s | grows as | peak memory, MB | grows as |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for time, memory in zip(*by_measure.values(), strict=True):
        cells = [time.name, f"{time.sizes[-1]:,}", f"{100 * accuracy[time.name]:.2f}"]
        for name, row in zip(SHOWN, (time, memory), strict=True):
            cells += [MEASURES[name].format(row.values[-1]), f"n^{row.exponent:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
