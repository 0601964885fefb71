"""Records summed up: each measure of each table row and kernel, as mean, std and n over splits."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, log10

import pandas as pd

from kmaps.errors import ConfigError, NothingMeasured, suggest
from kmaps.kernels import EXP_KERNELS, KERNELS

REFERENCES = ("linear", "exact", "exact-coded")
"""The methods that maps are read against; they come first in every table."""

SETTING = ["experiment", "dataset", "features", "normalize", "reduction"]
"""Record columns that separate tables: cells that differ in one of them never share a column."""

ROW = ["method", "label", "params"]
"""Record columns that make a table row."""

CONDITIONS = ("cpu", "cores", "threads", "jobs")
"""Record columns that must agree for times to compare."""


_SMALLEST = 1e-6  # printed without an exponent


@dataclass(frozen=True)
class Measure:
    """What a table can show: a sum of record columns, its unit there and its unit as printed.

    Parameters
    ----------
    title : str
        Heading of the block, with the printed unit.
    columns : tuple of str
        The record columns that add up to the measure.
    unit : str
        The unit in the records and in the tidy table.
    scale : float
        Printed value = scale × recorded value.
    highest : bool
        Whether the best value is the highest one.
    decimals : int or None
        Printed decimals; None for three significant digits.
    """

    title: str
    columns: tuple[str, ...]
    unit: str
    scale: float = 1.0
    highest: bool = False
    decimals: int | None = None

    def format(self, value: float, like: float | None = None) -> str:
        """Print a recorded value, with as many decimals as ``like`` would get."""
        if self.decimals is not None:
            return f"{self.scale * value:.{self.decimals}f}"
        size = abs(self.scale * (value if like is None else like))
        if 0 < size < _SMALLEST:
            return f"{self.scale * value:.2e}"
        decimals = max(0, 2 - floor(log10(size))) if size else 0
        return f"{self.scale * value:.{decimals}f}"


def _seconds(title: str, *columns: str) -> Measure:
    return Measure(f"{title}, s", columns, "s")


def _megabytes(title: str, column: str) -> Measure:
    return Measure(f"{title}, MB", (column,), "bytes", scale=1e-6)


MEASURES = {
    "accuracy": Measure("accuracy, %", ("accuracy",), "fraction", 100.0, True, decimals=2),
    "per-class": Measure(
        "accuracy per class, %", ("accuracy_per_class",), "fraction", 100.0, True, decimals=2
    ),
    "ap": Measure(
        "average precision, %", ("average_precision",), "fraction", 100.0, True, decimals=2
    ),
    "time": _seconds("fit + encode + convert + train", "fit_s", "encode_s", "convert_s", "train_s"),
    "storage": _megabytes("stored training set + tables + model", "storage_bytes"),
    "memory": _megabytes("peak memory", "peak_bytes"),
    "train-memory": _megabytes("peak memory of training", "train_peak_bytes"),
    "linf": Measure("largest error", ("linf",), "kernel"),
    "rms": Measure("root mean square error", ("rms",), "kernel"),
    "random-rms": Measure("random part of that error", ("random_rms",), "kernel"),
    "additive-rms": Measure("additive part of that error", ("additive_rms",), "kernel"),
    "dim": Measure("encoded columns", ("dim",), "columns", decimals=0),
    "fit": _seconds("fit", "fit_s"),
    "encode": _seconds("encode", "encode_s"),
    "convert": _seconds("convert", "convert_s"),
    "train": _seconds("train", "train_s"),
    "predict": _seconds("predict", "predict_s"),
    "cv": _seconds("choose C", "cv_s"),
    "storage-train": _megabytes("stored training set", "train_bytes"),
    "storage-tables": _megabytes("stored tables", "table_bytes"),
    "storage-model": _megabytes("stored model", "model_bytes"),
}
"""The measures by name, in the order of the help."""

DEFAULT_MEASURES = ("accuracy", "time", "storage")
DEFAULTS_OF_STUDIES = ("accuracy", "ap", "linf", "rms", "dim")


def latest_cells(records: Iterable[dict]) -> list[dict]:
    """Return the records, keeping only the last one of each cell and split.

    A cell that failed and was retried, or that ran again after its map had changed, stands in the
    file more than once; the last line is the one that counts.

    Parameters
    ----------
    records : iterable of dict
        In the order of the file.

    Returns
    -------
    list of dict
        Each with ``params`` as canonical JSON text, so that it can be compared and grouped.

    Examples
    --------
    >>> cell = {"method": "exact", "params": {}, "kernel": "chi2", "split": 0}
    >>> kept = latest_cells([cell | {"status": "failed"}, cell | {"status": "ok"}])
    >>> [record["status"] for record in kept]
    ['ok']
    """
    kept: dict[tuple, dict] = {}
    for record in records:
        cell = record | {"params": json.dumps(record.get("params") or {}, sort_keys=True)}
        kept[tuple(cell.get(name) for name in [*SETTING, *ROW, "kernel", "split"])] = cell
    return list(kept.values())


def default_measures(records: Iterable[dict]) -> tuple[str, ...]:
    """Return the measures to show unasked: all that a study has, or those of a classification.

    Where the test samples are so many of each class, accuracy is per class.

    Examples
    --------
    >>> default_measures([{"linf": 0.1, "rms": 0.01, "dim": 3}])
    ('linf', 'rms', 'dim')
    """
    records = list(records)
    if any("test_per_class" in (record.get("protocol") or {}) for record in records):
        return ("per-class", *DEFAULT_MEASURES[1:])
    if any(record.get("reduction") for record in records):
        return DEFAULT_MEASURES
    held = {name for record in records for name in record if record[name] is not None}
    shown = (name for name in DEFAULTS_OF_STUDIES if held.issuperset(MEASURES[name].columns))
    return tuple(shown) or DEFAULT_MEASURES


def summarize(records: Iterable[dict], measures: Sequence[str] = DEFAULT_MEASURES) -> pd.DataFrame:
    """Aggregate records over splits: one line per table row, kernel and measure, in plain units.

    Parameters
    ----------
    records : iterable of dict
        As read from ``records.jsonl``.
    measures : sequence of str
        Keys of :data:`MEASURES`.

    Returns
    -------
    DataFrame
        The columns of the setting, of the row and ``kernel``, then ``measure``, ``unit``, ``mean``,
        ``std`` (sample standard deviation, missing for one split), ``n`` (splits measured) and
        ``failed`` (splits that failed). Sorted as printed: references first, then methods by name
        and parameters by value, kernels in the order of their registry.

    Raises
    ------
    ConfigError
        On an unknown measure.
    NothingMeasured
        When there is no record.

    Examples
    --------
    >>> cell = {"status": "ok", "method": "exact", "label": "exact", "kernel": "chi2"}
    >>> records = [cell | {"split": i, "accuracy": 0.9 + i / 50} for i in range(2)]
    >>> print(summarize(records, ["accuracy"])[["kernel", "mean", "n"]].to_string(index=False))
    kernel  mean  n
      chi2  0.91  2
    """
    for name in measures:
        if name not in MEASURES:
            known = ", ".join(MEASURES)
            raise ConfigError(f"unknown measure {name!r}{suggest(name, MEASURES)} ({known})")
    identity = [*SETTING, *ROW, "kernel"]
    cells = pd.DataFrame(latest_cells(records))
    if cells.empty:
        raise NothingMeasured("no record to show: the run has not finished a cell yet")
    cells = cells.assign(**{name: cells.get(name, "") for name in identity})
    cells[identity] = cells[identity].fillna("")
    table = pd.concat([_aggregate(cells, identity, name) for name in measures])
    lines = sorted(table.to_dict("records"), key=_order)
    return pd.DataFrame(lines, columns=table.columns)


def _aggregate(cells: pd.DataFrame, identity: list[str], name: str) -> pd.DataFrame:
    ok = cells["status"] == "ok"
    values = cells.reindex(columns=list(MEASURES[name].columns)).apply(pd.to_numeric)
    value = values.sum(axis=1, skipna=False).where(ok)
    groups = cells.assign(value=value, failed=~ok).groupby(identity)
    statistics = groups.agg(
        mean=("value", "mean"), std=("value", "std"), n=("value", "count"), failed=("failed", "sum")
    ).reset_index()
    statistics.insert(len(identity), "measure", name)
    statistics.insert(len(identity) + 1, "unit", MEASURES[name].unit)
    return statistics


def _order(line: dict) -> tuple:
    method = line["method"]
    return (
        [line[name] for name in SETTING],
        list(MEASURES).index(line["measure"]),
        REFERENCES.index(method) if method in REFERENCES else len(REFERENCES),
        method,
        _natural(line["label"]),
        line["params"],
        kernel_order(line["kernel"]),
    )


def kernel_order(kernel: str) -> tuple[int, str]:
    """Sort key of a kernel: none first, then as in the registry, then unknown ones by name."""
    known = ["", *KERNELS, *EXP_KERNELS]
    return known.index(kernel) if kernel in known else len(known), kernel


def _natural(text: str) -> list:
    # Numbers by value, so that order=2 comes before order=10.
    pieces = re.split(r"(\d+(?:\.\d+)?)", text)
    return [float(piece) if i % 2 else piece for i, piece in enumerate(pieces)]


def mixed_conditions(records: Iterable[dict]) -> list[str]:
    """Return the names of the conditions that differ, so that times do not compare.

    Examples
    --------
    >>> mixed_conditions([{"cpu": "a", "jobs": 1}, {"cpu": "a", "jobs": 2}])
    ['jobs']
    """
    seen = [{name: record.get(name) for name in CONDITIONS} for record in records]
    return [name for name in CONDITIONS if len({conditions[name] for conditions in seen}) > 1]
