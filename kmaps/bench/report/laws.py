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

SPACING, FEATURES, FREQUENCIES, SAMPLES = "ε", "D", "m", "n"
"""What a law is over: the spacing of uniform anchors, or a number of something."""

ERRORS = {  # the errors of maps on pairs of samples, in words
    "bias": "mean error",
    "rms": "root mean square error",
    "deviation": "spread of the error",
}

_FALLING = {SPACING: ("bias", "rms"), FEATURES: ("deviation",)}
"""The errors that fall with the spacing of the anchors, and with the number of features."""

GROWING = ("time", "train-memory")  # the measures of a scaling experiment

_LARGEST = 4  # a law is fitted to the largest sizes: constant costs dominate the small ones


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
        found = place(record) if record["status"] == "ok" else None
        if found is not None:
            over, row, at = found
            rows[row.identity] = row
            group = groups.setdefault((over, row.identity, record["kernel"]), {})
            group.setdefault(at, []).append(record)
    labels, _ = short_labels(rows.values())
    laws = []
    for (over, identity, kernel), group in groups.items():
        for name, value in quantities.items():
            known = {at: [v for r in group[at] if (v := value(r)) is not None] for at in group}
            means = {at: mean(known[at]) for at in sorted(known) if known[at]}
            if means:
                at, values = np.array(list(means)), np.array(list(means.values()))
                exponent, logarithm = np.nan, np.nan
                if len(at[-largest:]) > 1 and (values[-largest:] > 0).all():
                    logs = np.log(at[-largest:]), np.log(values[-largest:])
                    exponent, logarithm = map(float, np.polyfit(*logs, 1))
                row = labels[identity], kernel
                laws.append(PowerLaw(*row, over, name, at, values, exponent, np.exp(logarithm)))
    return laws


# ---- errors on pairs of samples


def falls(records: Iterable[Record]) -> list[PowerLaw]:
    """Return how the errors of maps on pairs fall, for maps measured at two places or more."""

    def falling(name: str) -> Value:
        def value(record: Record) -> float | None:
            place = _pairs_place(record)
            return record[name] if place and name in _FALLING[place[0]] else None

        return value

    laws = power_laws(records, _pairs_place, {one: falling(one) for one in ERRORS}, geometric_mean)
    return [law for law in laws if len(law.at) > 1]


def _pairs_place(record: Record) -> tuple[str, Row, float] | None:
    row, columns = Row.of(record), record["options"].get("columns")
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
        spaced = fall.over == SPACING
        at = [f"ε = 1/{1 / of:.0f}" if spaced else f"D = {of:,.0f}" for of in fall.at]
        ends = [f"{fall.values[i]:.3g} at {at[i]}" for i in (0, -1)]
        law = f"{fall.over}^{fall.exponent:.2f}"
        lines.append([fall.kernel, fall.label, ERRORS[fall.quantity], law, *ends])
    head = ["kernel", "map", "error", "as", "at one end", "at the other"]
    return Table(head, lines, texts=3)


# ---- errors of random maps


def convergence(records: Iterable[Record]) -> list[dict[str, PowerLaw]]:
    """Return the errors of each map of random frequencies over their number, by their column."""

    def place(record: Record) -> tuple[str, Row, float] | None:
        # Two outputs per frequency.
        row, dim = Row.of(record).without("n_frequencies"), record["dim"]
        return (FREQUENCIES, row, dim // 2) if dim and dim > 1 else None

    columns = ("rms", "random_rms", "additive_rms")
    errors: dict[str, Value] = {name: itemgetter(name) for name in columns}
    found: dict[tuple[str, str], dict[str, PowerLaw]] = {}
    for law in power_laws(records, place, errors, largest=_LARGEST):
        found.setdefault((law.label, law.kernel), {})[law.quantity] = law
    return [errors for errors in found.values() if len(errors) == len(columns)]


def convergence_table(records: Iterable[Record]) -> Table:
    """Return a table: the two parts of each row's error, and how the random one falls."""
    lines = []
    for errors in convergence(records):
        random, stays = errors["random_rms"], errors["additive_rms"]
        parts = random.values[-1], stays.values[0], errors["rms"].values[-1]
        fall = [f"m^{random.exponent:.3f}", f"{random.at[-1]:,.0f}"]
        lines.append([random.kernel, random.label, *fall, *(f"{part:.5f}" for part in parts)])
    head = ["kernel", "map", "random part falls as", "at m =", "random part", "additive part"]
    return Table([*head, "whole"], lines, texts=2)


# ---- times and memory


def growth(records: Iterable[Record]) -> dict[str, dict[str, PowerLaw]]:
    """Return how measures grow with the training samples: by row in words, then by measure."""

    def place(record: Record) -> tuple[str, Row, float] | None:
        row, n_train = Row.of(record).without("size"), record["n_train"]
        return (SAMPLES, row, n_train) if n_train and n_train > 0 else None

    measures = {name: MEASURES[name].value for name in ("accuracy", "convert", *GROWING)}
    # The last record of a size is the one that counts.
    laws = power_laws(records, place, measures, lambda values: values[-1], _LARGEST)
    several = len({law.kernel for law in laws} - {""}) > 1
    found: dict[str, dict[str, PowerLaw]] = {}
    for law in laws:
        name = ", ".join(filter(None, [law.label, law.kernel if several else ""]))
        found.setdefault(name, {})[law.quantity] = law
    return found


def growth_table(records: Iterable[Record]) -> Table:
    """Return a table: each row at its largest size, and the exponents."""
    lines = []
    for row, by_measure in growth(records).items():
        if "accuracy" not in by_measure:
            continue
        shown = {name: MEASURES[name].format(law.values[-1]) for name, law in by_measure.items()}
        grown = {measure: f"n^{law.exponent:.2f}" for measure, law in by_measure.items()}
        n = f"{by_measure['accuracy'].at[-1]:,}"
        cells = [row, n, shown["accuracy"], shown.get("time", ""), shown.get("convert", "")]
        cells += [grown.get("time", ""), shown.get("train-memory", "")]
        lines.append([*cells, grown.get("train-memory", "")])
    head = ["", "largest n", "accuracy, %", "time, s", "of it conversion, s", "grows as"]
    return Table([*head, "peak memory, MB", "grows as"], lines)
