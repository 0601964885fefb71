"""What a paper says in words, checked on records: relations between cells of one run.

A claim compares the rows that two selections pick, reduction by reduction and kernel by kernel.
Rows are paired when the parameters that neither selection names agree, splits by their number; what
has no draws, the exact kernel of a trade-off, stands beside every draw.
Accuracies are compared by their mean difference in points, sizes and times by their ratio.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import Any

from kmaps.bench.records.summary import MEASURES, REFERENCES

_ALWAYS = -1  # the split of what is the same in all

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


def check_claim(claim: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> list[Finding]:
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
    >>> cell = {"status": "ok", "reduction": "ovo", "kernel": "chi2", "params": {}, "split": 0}
    >>> records = [cell | {"method": "exact", "label": "exact", "accuracy": 0.935},
    ...            cell | {"method": "homogeneous", "label": "homogeneous", "accuracy": 0.933}]
    >>> claim = {"left": {"method": "homogeneous"}, "right": {"method": "exact"}}
    >>> [finding] = check_claim(claim | {"relation": "about"}, records)
    >>> finding.holds, round(finding.value, 2)
    (True, -0.2)
    """
    measure = MEASURES[claim.get("measure", "accuracy")]
    rows = _rows(records, measure.columns)
    findings = []
    for left, right in _pairs(rows, claim):
        pairs = _side_by_side(rows[left], rows[right])
        if pairs:
            where = " ".join(filter(None, [left[0], left[1] or right[1], left[2]]))
            findings.append(_compare(claim, f"{where} against {right[2]}", pairs))
    return findings


def _side_by_side(left: dict, right: dict) -> list[tuple[float, float]]:
    """Return the values of two rows split by split."""
    splits = (left.keys() | right.keys()) - {_ALWAYS} or {_ALWAYS}
    pairs = [
        [row.get(split, row.get(_ALWAYS)) for row in (left, right)] for split in sorted(splits)
    ]
    return [(one, other) for one, other in pairs if one is not None and other is not None]


def row_names(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a selection can name of a record: method, parameters, solver and form.

    Of a study over ranges also the ``range`` and ``dim``, the outputs (those asked for, where that
    is a parameter): rows are compared on the same range and at the same number of outputs, unless
    a selection names them. A map's own parameter ``method`` stands for the map's name.
    """
    names = {"method": record["method"], **record["params"], **_solver(record)}
    setting = record.get("protocol") or {}
    if "range" in setting:
        return {"dim": record["dim"], **names, "range": setting["range"]}
    return names


Row = tuple[str, str, str, str, tuple]  # reduction, kernel, label, method, parameters


def _rows(records: Iterable[Mapping[str, Any]], columns: tuple) -> dict[Row, dict[int, float]]:
    rows: dict[Row, dict[int, float]] = defaultdict(dict)
    for record in records:
        if record["status"] == "ok":
            names = row_names(record)
            method = names.pop("method")
            label = record["label"] + (f" ({names['range']})" if "range" in names else "")
            row = record["reduction"], record["kernel"], label, method, tuple(sorted(names.items()))
            split = _ALWAYS if names.get("learner") == "exact" else record["split"]
            rows[row][split] = sum(record[column] for column in columns)
    return rows


def _solver(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the solver of a map's row, with its form; references have one each, by their names."""
    learner = record.get("learner") or {}
    if "name" in learner:
        return {"learner" if key == "name" else key: value for key, value in learner.items()}
    if record["method"] in REFERENCES:
        return {}
    return {key: learner[key] for key in ("solver", "form") if key in learner}


def _pairs(rows: Iterable[Row], claim: Mapping[str, Any]) -> Iterator[tuple[Row, Row]]:
    named = (claim["left"].keys() | claim["right"].keys()) - {"method"}
    for left in rows:
        for right in rows:
            # A row without a kernel, linear, stands beside every kernel, and so do rows of a kernel
            # that is named.
            beside = left[1] == right[1] or not (left[1] and right[1]) or "kernel" in named
            if (
                left[0] == right[0]
                and beside
                and left != right
                and _picked(left, claim["left"])
                and _picked(right, claim["right"])
                and _others_agree(dict(left[4]), dict(right[4]), named)
            ):
                yield left, right


def _picked(row: Row, selection: Mapping[str, Any]) -> bool:
    params = {"kernel": row[1], "method": row[3], **dict(row[4])}
    return all(params.get(name) == value for name, value in selection.items())


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
