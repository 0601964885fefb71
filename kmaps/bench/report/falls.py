"""How the errors of additive maps on pairs of samples fall: power laws of records."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmaps.bench.records.columns import Record
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import Row
from kmaps.bench.report.gate_forms import markdown_table

SPACING, FEATURES = "ε", "D"
"""What errors fall with: the spacing of uniform anchors, the number of features."""

OF_SPACING = {"bias": "mean error", "rms": "root mean square error"}
OF_FEATURES = {"deviation": "spread of the error"}
"""The columns that fall with each, in words."""


@dataclass(frozen=True, eq=False)
class Fall:
    """One column of one map with one kernel, at several spacings or numbers of features.

    Attributes
    ----------
    label, kernel : str
        The row, without what differs.
    over, column : str
        :data:`SPACING` or :data:`FEATURES`; a column of :data:`OF_SPACING` or
        :data:`OF_FEATURES`.
    at, values : ndarray
        Where, ascending, and the geometric mean over the splits there.
    exponent : float
        Of the least squares ``log(value) = c + exponent · log(at)``.
    """

    label: str
    kernel: str
    over: str
    column: str
    at: NDArray[np.float64]
    values: NDArray[np.float64]
    exponent: float


def falls(records: Iterable[Record]) -> list[Fall]:
    """Return a :class:`Fall` for each row and kernel that is measured at two places or more.

    A row of one feature, whose errors do not average out, is no place of those over features.

    Examples
    --------
    >>> cell = {"status": "ok", "kernel": "chi2", "options": {"columns": None}, "split": 0}
    >>> records = [cell | Row("anchor", {"n_anchors": n}).columns
    ...            | {"bias": 3 / (n - 1) ** 2, "rms": 1 / (n - 1)} for n in (5, 9, 17)]
    >>> [(fall.column, fall.over, round(fall.exponent, 6)) for fall in falls(records)]
    [('bias', 'ε', 2.0), ('rms', 'ε', 1.0)]
    """
    groups: dict[tuple[str, str, str], dict[float, list[Record]]] = {}
    whole: dict[str, Row] = {}
    for record in records:
        for over, row, at in _places(record):
            whole[row.identity] = row
            group = groups.setdefault((over, row.identity, record["kernel"]), {})
            group.setdefault(at, []).append(record)
    labels, _ = short_labels(whole.values())
    return [
        _fitted(labels[row], kernel, over, column, group)
        for (over, row, kernel), group in groups.items()
        if len(group) > 1
        for column in (OF_SPACING if over == SPACING else OF_FEATURES)
    ]


def _places(record: Record) -> Iterable[tuple[str, Row, float]]:
    if record["status"] != "ok":
        return
    row, columns = Row.of(record), record["options"]["columns"]
    n_anchors = row.params.get("n_anchors")
    uniform = row.params.get("anchors", "uniform") == "uniform"
    if columns is not None:
        yield FEATURES, row, columns
    elif n_anchors is not None and uniform:
        yield SPACING, row.without("n_anchors"), 1 / (n_anchors - 1)


def _fitted(
    label: str, kernel: str, over: str, column: str, group: Mapping[float, list[Record]]
) -> Fall:
    at = np.array(sorted(group))
    logs = [np.mean(np.log([record[column] for record in group[place]])) for place in at]
    exponent = np.polyfit(np.log(at), logs, 1)[0]
    return Fall(label, kernel, over, column, at, np.exp(logs), float(exponent))


def falls_table(records: Iterable[Record]) -> str:
    """Return a Markdown table of how each error falls; ``""`` where there is nothing to tell."""
    words = {**OF_SPACING, **OF_FEATURES}
    lines = []
    for fall in falls(records):
        ends = [f"{fall.values[i]:.3g} at {_place(fall, i)}" for i in (0, -1)]
        lines.append(
            [fall.kernel, fall.label, words[fall.column], f"{fall.over}^{fall.exponent:.2f}", *ends]
        )
    head = ["kernel", "map", "error", "as", "at one end", "at the other"]
    return markdown_table(head, lines, texts=3) if lines else ""


def _place(fall: Fall, i: int) -> str:
    at = fall.at[i]
    return f"ε = 1/{1 / at:.0f}" if fall.over == SPACING else f"D = {at:,.0f}"
