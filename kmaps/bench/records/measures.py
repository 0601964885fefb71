"""The measures: what tables can show of records, with their units."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import floor, log10
from statistics import median
from typing import Any

from kmaps.errors import ConfigError, suggest

_SMALLEST = 1e-6  # printed without an exponent


@dataclass(frozen=True)
class Measure:
    """What a table can show: a sum of record columns, its unit there and its unit as printed."""

    title: str  # heading of the block, with the printed unit
    columns: tuple[str, ...]  # the record columns that add up to the measure
    unit: str  # the unit in the records and in the tidy table
    scale: float = 1.0  # printed value = scale × recorded value
    highest: bool = False  # whether the best value is the highest one
    decimals: int | None = None  # printed decimals; None for three significant digits
    form: str = ""
    common: bool = False  # whether it is of the repeats at one C that all cells have in common
    ranked: bool = True  # whether tables mark the best value

    def value(self, record: Mapping[str, Any]) -> float | None:
        """Return the measure of a record, None where a part of it was not measured.

        Of what was timed again it is the median of the repeats.
        """
        repeats = self.repeats(record)
        if repeats:
            return float(median(repeats))
        parts = [None] if self.common else [record.get(name) for name in self.columns]
        return None if None in parts else float(sum(parts))

    def lines(self, record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        lines = record.get("common_repeats" if self.common else "repeats", [])
        return [line for line in lines if set(self.columns) <= line["seconds"].keys()]

    def repeats(self, record: Mapping[str, Any]) -> list[float]:
        """Return the measure in every repeat of a record; empty where it was not timed again."""
        return [sum(line["seconds"][name] for name in self.columns) for line in self.lines(record)]

    def format(self, value: float, like: float | None = None) -> str:
        """Print a recorded value, with as many decimals as ``like`` would get."""
        if self.decimals is not None:
            return f"{self.scale * value:.{self.decimals}f}"
        size = abs(self.scale * (value if like is None else like))
        if 0 < size < _SMALLEST:
            return f"{self.scale * value:.2e}"
        decimals = max(0, 2 - floor(log10(size))) if size else 0
        return f"{self.scale * value:.{decimals}f}"


class _AsAnnfmCounts(Measure):
    """The paper's bytes; records leave them out where packed codes are what annfm counts too."""

    def value(self, record: Mapping[str, Any]) -> float | None:
        counted = super().value(record)
        if counted is None and (record.get("storage_form") or "").endswith("-bit codes"):
            return record.get("train_bytes")
        return counted


_TRAINING = ("fit_s", "encode_s", "convert_s", "train_s")


def _percent(title: str, column: str) -> Measure:
    return Measure(f"{title}, %", (column,), "fraction", scale=100.0, highest=True, decimals=2)


def _seconds(title: str, *columns: str) -> Measure:
    return Measure(f"{title}, s", columns, "s")


def _megabytes(title: str, column: str, form: str = "") -> Measure:
    return Measure(f"{title}, MB", (column,), "bytes", scale=1e-6, form=form)


class _Measures(dict[str, Measure]):
    """Measures by name; any other column of numbers, such as a kind's, goes by its own name."""

    def __missing__(self, name: str) -> Measure:
        unit = {"s": "s", "bytes": "bytes"}.get(name.rpartition("_")[2], "")
        title = name.replace("_", " ").removesuffix(f" {unit}")
        return Measure(f"{title}, {unit}" if unit else title, (name,), unit)


MEASURES = _Measures(  # the measures by name, in the order of the help
    {
        "accuracy": _percent("accuracy", "accuracy"),
        "per-class": _percent("accuracy per class", "accuracy_per_class"),
        "ap": _percent("average precision", "average_precision"),
        "time": _seconds("fit + encode + convert + train", *_TRAINING),
        "time-common": Measure(
            "fit + encode + convert + train at one C for all, s", _TRAINING, "s", common=True
        ),
        "storage": _megabytes(
            "stored training set + tables + model", "storage_bytes", "storage_form"
        ),
        "memory": _megabytes("peak memory", "peak_bytes"),
        "train-memory": _megabytes("peak memory of training", "train_peak_bytes"),
        "gram": _megabytes("Gram matrix, in memory", "gram_bytes"),
        "copies": _megabytes(
            "training set in the solver's own structures, in memory", "copy_bytes"
        ),
        "linf": Measure("largest error", ("linf",), "kernel"),
        "rms": Measure("root mean square error", ("rms",), "kernel"),
        "l1": Measure("mean absolute error", ("l1",), "kernel"),
        "bound": Measure("bound on the largest error", ("error_bound",), "kernel"),
        "period": Measure("period Λ", ("period",), "log x", decimals=2, ranked=False),
        "random-rms": Measure("random part of that error", ("random_rms",), "kernel"),
        "additive-rms": Measure("additive part of that error", ("additive_rms",), "kernel"),
        "bias": Measure("mean error", ("bias",), "kernel"),
        "deviation": Measure("spread of the error", ("deviation",), "kernel"),
        "important": _percent("patches in important regions", "important"),
        "dim": Measure("encoded columns", ("dim",), "columns", decimals=0),
        "fit": _seconds("fit", "fit_s"),
        "encode": _seconds("encode", "encode_s"),
        "convert": _seconds(
            "conversion to the solver's own structures, part of the time", "convert_s"
        ),
        "train": _seconds("train", "train_s"),
        "predict": _seconds("predict", "predict_s"),
        "cv": _seconds("choose C", "cv_s"),
        "storage-train": _megabytes("stored training set", "train_bytes", "storage_form"),
        "storage-paper": _AsAnnfmCounts(
            "stored training set as annfm counts it, MB", ("paper_train_bytes",), "bytes", 1e-6
        ),
        "storage-tables": _megabytes("stored tables", "table_bytes"),
        "storage-model": _megabytes("stored model", "model_bytes"),
    }
)


def accuracy_of(records: Iterable[Mapping[str, Any]]) -> str:
    """Return the measure that classifications are read by: per class where they are tested so."""
    tested = any("test_per_class" in record["protocol"] for record in records)
    return "per-class" if tested else "accuracy"


def check_measures(names: Iterable[str], columns: Collection[str] = ()) -> None:
    """Refuse a measure that there is not, and that none of the columns of records is."""
    for name in names:
        if name not in MEASURES and name not in columns:
            known = ", ".join(MEASURES)
            raise ConfigError(f"unknown measure {name!r}{suggest(name, MEASURES)} ({known})")
