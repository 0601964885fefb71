"""The measures: the quantities that tables can show of records, with their units."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import floor, log10
from statistics import median
from typing import Any

from kmaps.bench.records.columns import declared
from kmaps.errors import ConfigError, suggest

_SMALLEST = 1e-6  # smaller values are printed with an exponent


_HEADINGS = {
    "fit + encode + convert + train, s": "training, s",
    "fit + encode + convert + train at one C for all, s": "training at one C, s",
    "stored training set + tables + model, MB": "stored, MB",
    "peak memory, MB": "memory, MB",
    "conversion to the solver's own structures, part of the time, s": "conversion, s",
}


@dataclass(frozen=True)
class Measure:
    """A quantity of tables: a sum of record columns, its unit there and its unit as printed."""

    title: str  # heading of the block, with the printed unit
    columns: tuple[str, ...]  # the record columns that add up to the measure
    unit: str  # the unit in the records and in the tidy table
    scale: float = 1.0  # printed value = scale × recorded value
    highest: bool = False  # whether the best value is the highest one
    decimals: int | None = None  # printed decimals; None for three significant digits
    form: str = ""
    common: bool = False  # whether it is measured by repeats at a C that all cells share
    ranked: bool = True  # whether tables mark the best value

    @property
    def heading(self) -> str:
        """The heading of a column of the measure, short where its title is long."""
        return _HEADINGS.get(self.title, self.title)

    def value(self, record: Mapping[str, Any]) -> float | None:
        """Return the measure of a record, None where a part of it was not measured.

        For cells that were timed again it is the median of the repeats.
        """
        repeats = self.repeats(record)
        if repeats:
            return float(median(repeats))
        if self.common:
            return None
        terms = [record.get(name) for name in self.columns]
        return None if None in terms else float(sum(terms))

    def lines(self, record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the repeats of a record that have all columns of the measure."""
        lines = record.get("common_repeats" if self.common else "repeats", [])
        return [line for line in lines if set(self.columns) <= _measured(line).keys()]

    def repeats(self, record: Mapping[str, Any]) -> list[float]:
        """Return the measure in every repeat of a record; empty where it was not timed again."""
        return [sum(_measured(line)[name] for name in self.columns) for line in self.lines(record)]

    def format(self, value: float, like: float | None = None) -> str:
        """Print a recorded value, with as many decimals as ``like`` would get."""
        if self.decimals is not None:
            return f"{self.scale * value:.{self.decimals}f}"
        size = abs(self.scale * (value if like is None else like))
        if 0 < size < _SMALLEST:
            return f"{self.scale * value:.2e}"
        decimals = max(0, 2 - floor(log10(size))) if size else 0
        return f"{self.scale * value:.{decimals}f}"


def _measured(line: Mapping[str, Any]) -> dict[str, float]:
    return line["seconds"] | line.get("bytes", {})


class _AsAnnfmCounts(Measure):
    """The paper's bytes; records leave them out where annfm too counts packed codes."""

    def value(self, record: Mapping[str, Any]) -> float | None:
        counted = super().value(record)
        if counted is None and (record.get("storage_form") or "").endswith("-bit codes"):
            return record.get("train_bytes")
        return counted


class _Measures(dict[str, Measure]):
    """Measures by name; any other column of numbers, such as a kind's, goes by its own name."""

    def __missing__(self, name: str) -> Measure:
        unit = {"s": "s", "bytes": "bytes"}.get(name.rpartition("_")[2], "")
        title = name.replace("_", " ").removesuffix(f" {unit}")
        return Measure(f"{title}, {unit}" if unit else title, (name,), unit)


def _measure(name: str, *, columns: str, scale: str, decimals: str, **line: str) -> Measure:
    measure_class = _AsAnnfmCounts if name == "storage-paper" else Measure
    return measure_class(
        title=line["title"],
        columns=tuple(columns.split()),
        unit=line["unit"],
        scale=float(scale or 1),
        highest=bool(line["highest"]),
        decimals=int(decimals) if decimals else None,
        form=line["form"],
        common=bool(line["common"]),
        ranked=not line["unranked"],
    )


MEASURES = _Measures({line["name"]: _measure(**line) for line in declared("records/measures.csv")})


def accuracy_of(records: Iterable[Mapping[str, Any]]) -> str:
    """Return the measure that classifications are read by: per class where they are tested so."""
    tested = any("test_per_class" in record["protocol"] for record in records)
    return "per-class" if tested else "accuracy"


def check_measures(names: Iterable[str], columns: Collection[str] = ()) -> None:
    """Refuse a measure that there is not, and that none of the columns of records is."""
    for name in names:
        if name not in MEASURES and name not in columns:
            names_of_measures = ", ".join(MEASURES)
            raise ConfigError(
                f"unknown measure {name!r}{suggest(name, MEASURES)} ({names_of_measures})"
            )
