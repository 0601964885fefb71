"""Power laws of records: how errors fall, and how times and memory grow; their tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import fmean, geometric_mean

import numpy as np
from numpy.typing import NDArray

from kmaps.bench.records.columns import Record, is_number
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import Row
from kmaps.bench.report.document import Table

SPACING = "ε"
FEATURES = "D"
FREQUENCIES = "m"
SAMPLES = "n"
"""What a law is over: the spacing of uniform anchors, or a number of something."""

ERRORS = {  # the errors of maps on pairs of samples, in words
    "bias": "mean error",
    "rms": "root mean square error",
    "deviation": "spread of the error",
}

_FALLING = {SPACING: ("bias", "rms"), FEATURES: ("deviation",)}
"""The errors that fall with the spacing of the anchors, and with the number of features."""

GROWING = ("time", "train-memory")  # the measures of a scaling experiment

LARGEST = 4  # a law is fitted to the largest sizes: constant costs dominate the small ones


@dataclass(frozen=True, eq=False)
class PowerLaw:
    """A quantity of one row with one kernel, at several places, and its power law.

    The law is the least squares ``log(value) = log(factor) + exponent · log(at)``, NaN for one
    place. ``over`` says what the places are numbers of; the label leaves out what differs.
    """

    label: str
    kernel: str
    over: str
    quantity: str
    at: NDArray[np.float64]
    values: NDArray[np.float64]
    exponent: float
    factor: float

    def value(self, at: float | NDArray) -> float | NDArray:
        """Return the law's value at a place or at several."""
        return self.factor * at**self.exponent


Place = Callable[[Record], tuple[str, Row, float] | None]
Value = Callable[[Record], float | None]


def power_laws(
    records: Iterable[Record],
    place: Place,
    quantities: Mapping[str, Value],
    mean: Callable[[Sequence[float]], float] = fmean,
    largest: int = 0,
) -> list[PowerLaw]:
    """Return the laws of each row and kernel, in the order of the records; failures are left out.

    ``place`` returns what the place of a record is a number of, its row without that, and the
    place, or None. The ``largest`` places are fitted, 0 for all.
    """
    groups: dict[tuple[str, str, str], dict[float, list[Record]]] = {}
    rows: dict[str, Row] = {}
    for record in records:
        located = place(record) if record["status"] == "ok" else None
        if located is not None:
            over, row, at = located
            rows[row.identity] = row
            group = groups.setdefault((over, row.identity, record["kernel"]), {})
            group.setdefault(at, []).append(record)
    labels, _ = short_labels(rows.values())
    laws = []
    for (over, identity, kernel), group in groups.items():
        for name, value in quantities.items():
            means = _means_by_place(group, value, mean)
            if not means:
                continue
            places = np.array(list(means))
            values = np.array(list(means.values()))
            exponent, factor = _fit_law(places[-largest:], values[-largest:])
            law = PowerLaw(
                label=labels[identity],
                kernel=kernel,
                over=over,
                quantity=name,
                at=places,
                values=values,
                exponent=exponent,
                factor=factor,
            )
            laws.append(law)
    return laws


def _means_by_place(
    group: Mapping[float, Sequence[Record]],
    value: Value,
    mean: Callable[[Sequence[float]], float],
) -> dict[float, float]:
    """Return the mean of a quantity at each place that has values of it, in ascending order."""
    means = {}
    for at in sorted(group):
        values = [value(record) for record in group[at]]
        numbers = [number for number in values if number is not None]
        if numbers:
            means[at] = mean(numbers)
    return means


def _fit_law(places: NDArray[np.float64], values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the exponent and the factor of the least squares law; NaN where there is none."""
    if len(places) < 2 or (values <= 0).any():
        return np.nan, np.nan
    exponent, logarithm = np.polyfit(np.log(places), np.log(values), 1)
    return float(exponent), float(np.exp(logarithm))


# ---- errors on pairs of samples


def falls(records: Iterable[Record]) -> list[PowerLaw]:
    """Return how the errors of maps on pairs fall, for maps measured at two places or more."""

    def falling(name: str) -> Value:
        def value(record: Record) -> float | None:
            place = _pairs_place(record)
            return record[name] if place and name in _FALLING[place[0]] else None

        return value

    errors = {name: falling(name) for name in ERRORS}
    laws = power_laws(records, _pairs_place, errors, geometric_mean)
    return [law for law in laws if len(law.at) > 1]


def _pairs_place(record: Record) -> tuple[str, Row, float] | None:
    row = Row.of(record)
    columns = record["options"].get("columns")
    n_anchors = row.params.get("n_anchors")
    uniform = row.params.get("anchors", "uniform") == "uniform"
    if is_number(columns):
        return FEATURES, row, columns
    if uniform and is_number(n_anchors) and n_anchors > 1:
        return SPACING, row.without("n_anchors"), 1 / (n_anchors - 1)
    return None


def falls_table(records: Iterable[Record]) -> Table:
    """Return a table of how each error falls; without rows where none was varied."""
    lines = []
    for fall in falls(records):
        if fall.over == SPACING:
            places = [f"ε = 1/{1 / spacing:.0f}" for spacing in fall.at]
        else:
            places = [f"D = {n_features:,.0f}" for n_features in fall.at]
        ends = [f"{fall.values[end]:.3g} at {places[end]}" for end in (0, -1)]
        law = f"{fall.over}^{fall.exponent:.2f}"
        lines.append([fall.kernel, fall.label, ERRORS[fall.quantity], law, *ends])
    head = ["kernel", "map", "error", "as", "at one end", "at the other"]
    return Table(head, lines, texts=3)


# ---- errors of random maps


def convergence(records: Iterable[Record]) -> list[dict[str, PowerLaw]]:
    """Return the errors of each map of random frequencies over their number, by their column."""

    def place(record: Record) -> tuple[str, Row, float] | None:
        row = Row.of(record).without("n_frequencies")
        dim = record["dim"]  # two outputs per frequency
        return (FREQUENCIES, row, dim // 2) if dim and dim > 1 else None

    columns = ("rms", "random_rms", "additive_rms")
    errors: dict[str, Value] = {name: itemgetter(name) for name in columns}
    by_map: dict[tuple[str, str], dict[str, PowerLaw]] = {}
    for law in power_laws(records, place, errors, largest=LARGEST):
        by_map.setdefault((law.label, law.kernel), {})[law.quantity] = law
    return [laws for laws in by_map.values() if len(laws) == len(columns)]


def convergence_table(records: Iterable[Record]) -> Table:
    """Return a table: the two parts of each row's error, and how the random one falls."""
    lines = []
    for errors in convergence(records):
        random = errors["random_rms"]
        line = [
            random.kernel,
            random.label,
            f"m^{random.exponent:.3f}",
            f"{random.at[-1]:,.0f}",
            f"{random.values[-1]:.5f}",
            f"{errors['additive_rms'].values[0]:.5f}",
            f"{errors['rms'].values[-1]:.5f}",
        ]
        lines.append(line)
    head = [
        "kernel",
        "map",
        "random part falls as",
        "at m =",
        "random part",
        "additive part",
        "whole",
    ]
    return Table(head, lines, texts=2)


# ---- times and memory


def growth(records: Iterable[Record]) -> dict[str, dict[str, PowerLaw]]:
    """Return how measures grow with the training samples: by row in words, then by measure."""

    def place(record: Record) -> tuple[str, Row, float] | None:
        row = Row.of(record).without("size")
        n_train = record["n_train"]
        return (SAMPLES, row, n_train) if n_train and n_train > 0 else None

    measures = {name: MEASURES[name].value for name in ("accuracy", "convert", *GROWING)}
    # The last record of a size is the one that counts.
    laws = power_laws(records, place, measures, lambda values: values[-1], LARGEST)
    several_kernels = len({law.kernel for law in laws} - {""}) > 1
    by_row: dict[str, dict[str, PowerLaw]] = {}
    for law in laws:
        name = law.label
        if several_kernels and law.kernel:
            name += f", {law.kernel}"
        by_row.setdefault(name, {})[law.quantity] = law
    return by_row


def growth_table(records: Iterable[Record]) -> Table:
    """Return a table: each row at its largest size, and the exponents."""
    lines = []
    for row, by_measure in growth(records).items():
        if "accuracy" not in by_measure:
            continue
        values = {name: MEASURES[name].format(law.values[-1]) for name, law in by_measure.items()}
        powers = {name: f"n^{law.exponent:.2f}" for name, law in by_measure.items()}
        line = [
            row,
            f"{by_measure['accuracy'].at[-1]:,}",
            values["accuracy"],
            values.get("time", ""),
            values.get("convert", ""),
            powers.get("time", ""),
            values.get("train-memory", ""),
            powers.get("train-memory", ""),
        ]
        lines.append(line)
    head = [
        "",
        "largest n",
        "accuracy, %",
        "time, s",
        "of it conversion, s",
        "grows as",
        "peak memory, MB",
        "grows as",
    ]
    return Table(head, lines)
