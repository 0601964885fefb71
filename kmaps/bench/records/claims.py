"""What a paper says in words, checked on records: relations between cells of one run.

A claim compares the rows that two selections pick, reduction by reduction and kernel by kernel.
Rows are paired when the parameters that neither selection names agree, cells by the numbers of
their split and draw; what has no draws, the exact kernel of a trade-off, stands beside every draw.
Accuracies are compared by their mean difference in points, sizes and times by their ratio.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import Any

from kmaps.bench.records.columns import Record
from kmaps.bench.records.measures import MEASURES, Measure
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import Row

LEEWAY = 0.5
"""Points within which accuracies are about the same, unless two standard errors are more."""


@dataclass(frozen=True)
class Finding:
    """One pair of rows under one reduction and kernel.

    Attributes
    ----------
    where : str
        Reduction, kernel and the two rows.
    value, error : float
        Mean difference left - right in points and its standard error; or the ratio right / left.
    holds : bool
    """

    where: str
    value: float
    error: float
    holds: bool


def check_claim(claim: Mapping[str, Any], records: Iterable[Record]) -> list[Finding]:
    """Check one claim of an experiment.

    Parameters
    ----------
    claim : mapping
        ``measure`` (a key of :data:`MEASURES`), ``left`` and ``right`` (selections by
        ``kernel`` and :func:`row_names`), ``relation``, ``by``. Relations of accuracies: ``about``
        (the same within ``by`` points or two standard errors), ``above`` (by at least ``by``
        points, less two standard errors). Of errors, sizes and times: ``smaller`` (by a factor of
        at least ``by``).
    records : iterable of mapping

    Returns
    -------
    list of Finding
        Empty when no pair of rows was measured.

    Examples
    --------
    >>> cell = {"status": "ok", "reduction": "ovo", "kernel": "chi2", "split": 0, "draw": None}
    >>> cell |= {"options": {}}
    >>> records = [cell | Row("exact").columns | {"accuracy": 0.935},
    ...            cell | Row("homogeneous").columns | {"accuracy": 0.933}]
    >>> claim = {"left": {"method": "homogeneous"}, "right": {"method": "exact"}}
    >>> [finding] = check_claim(claim | {"relation": "about"}, records)
    >>> finding.holds, round(finding.value, 2)
    (True, -0.2)
    """
    measure = MEASURES[claim.get("measure", "accuracy")]
    rows = _lines(records, measure)
    findings = []
    for left, right in _pairs(rows, claim):
        pairs = _side_by_side(rows[left], rows[right])
        if pairs:
            findings.append(_compare(claim, _where(left, right), pairs))
    return findings


Place = tuple[int | None, int | None]  # the numbers of a split and of a draw


def _side_by_side(
    left: Mapping[Place, float], right: Mapping[Place, float]
) -> list[tuple[float, float]]:
    """Return the values of two lines cell by cell."""
    places = left.keys() | right.keys()
    drawn = {split for split, draw in places if draw is not None}
    pairs = []
    for split, draw in sorted(places, key=str):
        if draw is not None or split not in drawn:
            values = [line.get((split, draw), line.get((split, None))) for line in (left, right)]
            if None not in values:
                pairs.append((values[0], values[1]))
    return pairs


def row_names(record: Record) -> dict[str, Any]:
    """Return what a selection can name of a record: :attr:`Row.names`, and more on ranges.

    There also the ``range`` and ``dim``, the outputs (those asked for, where that is a parameter):
    rows are compared on the same range and at the same number of outputs, unless a selection names
    them.
    """
    names = Row.of(record).names
    if "range" in record["options"]:
        return {"dim": record["dim"], **names, "range": record["options"]["range"]}
    return names


@dataclass(frozen=True)
class _Line:
    """A row under one reduction and kernel, with its label and what selections can name of it."""

    reduction: str
    kernel: str
    label: str
    names: tuple[tuple[str, Any], ...]


def _lines(records: Iterable[Record], measure: Measure) -> dict[_Line, dict[Place, float]]:
    measured = [record for record in records if record["status"] == "ok"]
    labels, _ = short_labels(map(Row.of, measured))
    lines: dict[_Line, dict[Place, float]] = defaultdict(dict)
    for record in measured:
        names = row_names(record)
        label = labels[Row.of(record).identity]
        label += f" ({names['range']})" if "range" in names else ""
        value = measure.value(record)
        if value is not None:
            line = _Line(record["reduction"], record["kernel"], label, tuple(names.items()))
            lines[line][record["split"], record["draw"]] = value
    return lines


def _where(left: _Line, right: _Line) -> str:
    differ = "" not in (left.kernel, right.kernel) and left.kernel != right.kernel
    kernel = left.kernel or right.kernel
    other = f"{right.kernel} {right.label}" if differ else right.label
    words = left.reduction, kernel, left.label, "against", other
    return " ".join(filter(None, words))


def _pairs(lines: Iterable[_Line], claim: Mapping[str, Any]) -> Iterator[tuple[_Line, _Line]]:
    named = (claim["left"].keys() | claim["right"].keys()) - {"method"}
    for left in lines:
        for right in lines:
            # A row without a kernel, linear, stands beside every kernel, and so do rows of a kernel
            # that is named.
            kernels = left.kernel, right.kernel
            beside = "" in kernels or left.kernel == right.kernel or "kernel" in named
            if (
                left.reduction == right.reduction
                and beside
                and left != right
                and _picked(left, claim["left"])
                and _picked(right, claim["right"])
                and _others_agree(dict(left.names), dict(right.names), named | {"method"})
            ):
                yield left, right


def _picked(line: _Line, selection: Mapping[str, Any]) -> bool:
    names = {"kernel": line.kernel, **dict(line.names)}
    return all(names.get(name) == value for name, value in selection.items())


def _others_agree(left: dict, right: dict, named: set[str]) -> bool:
    common = (left.keys() & right.keys()) - named
    return all(left[name] == right[name] for name in common)


def _compare(claim: Mapping[str, Any], where: str, pairs: list[tuple[float, float]]) -> Finding:
    by = claim.get("by")
    if claim["relation"] == "smaller":
        ratio = fmean(right for _, right in pairs) / fmean(left for left, _ in pairs)
        return Finding(where, ratio, 0.0, ratio >= (1 if by is None else by))
    differences = [100 * (left - right) for left, right in pairs]
    mean = fmean(differences)
    error = stdev(differences) / sqrt(len(differences)) if len(differences) > 1 else 0.0
    if claim["relation"] == "about":
        return Finding(
            where, mean, error, abs(mean) <= max(LEEWAY if by is None else by, 2 * error)
        )
    return Finding(where, mean, error, mean >= (0 if by is None else by) - 2 * error)
