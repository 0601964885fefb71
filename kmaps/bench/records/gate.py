r"""The gate: results against a baseline, cell by cell.

A cell is one (dataset, features, kernel, method, parameters, reduction), its splits taken together.

**Accuracy** is compared by its mean over the baseline's splits. With :math:`s_b` the sample
standard deviation of the baseline over its :math:`n` splits, the tolerance is

.. math:: \max(\text{floor},\; 2\, s_b \sqrt{2 / n}),

two standard errors of a difference of two means over n splits, and never less than the floor of
0.5 points. Only the baseline's spread enters: results that became erratic must not widen their own
tolerance. **Storage** is compared split by split, to the byte; for exact, whose model is as large
as its number of support vectors, without the model. **Times** are not compared.

A cell of the baseline that has no record fails the gate. A cell that could not be measured, because
it failed or because the baseline was made under other conditions, neither passes nor fails it: the
exit code then says that the gate did not decide.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import sqrt
from statistics import fmean, stdev

from kmaps.bench.records.summary import latest_cells
from kmaps.errors import GateFailed, KmapsError, NothingMeasured

FLOOR = 0.005
"""Smallest tolerance on a mean accuracy, as a fraction."""

IDENTITY = ("dataset", "features", "normalize", "kernel", "method", "label", "params", "reduction")
CONDITIONS = {
    "data_digest": "digest of the data",
    "protocol": "split protocol",
    "n_train": "n_train",
    "n_test": "n_test",
    "n_features": "n_features",
    "learner": "learner",
    "C_grid": "C grid",
    "map_version": "map_version",
}
"""Record columns that must agree for two measurements to compare, with their names in messages."""

VERDICTS = ("worse", "missing", "not measured", "improved", "new", "same")
"""Worst first, the order of the report."""


@dataclass(frozen=True)
class CellVerdict:
    """What the gate says of one cell.

    Attributes
    ----------
    verdict : str
        One of :data:`VERDICTS`.
    name : str
        The cell in words: dataset, features, reduction, kernel, label.
    reason : str
        One line: what was compared, with numbers, or why it was not.
    baseline_accuracy, accuracy : float or None
        Means over the baseline's splits.
    tolerance : float or None
        On the mean accuracy.
    """

    verdict: str
    name: str
    reason: str
    baseline_accuracy: float | None = None
    accuracy: float | None = None
    tolerance: float | None = None


def compare(
    records: Iterable[dict], baseline: Iterable[dict], *, floor: float = FLOOR
) -> list[CellVerdict]:
    """Compare records with a baseline and return one verdict a cell, the worst first.

    Parameters
    ----------
    records, baseline : iterable of dict
        As read from two ``records.jsonl``. Failed records of the baseline set no standard.
    floor : float
        Smallest tolerance on a mean accuracy, as a fraction.

    Returns
    -------
    list of CellVerdict

    Raises
    ------
    NothingMeasured
        When the baseline holds no measured cell or shares none with the records.
    """
    measured = [record for record in baseline if record["status"] == "ok"]
    if not measured:
        raise NothingMeasured("the baseline holds no measured cell; record one with `kmaps run`")
    ours, theirs = _by_cell(records), _by_cell(measured)
    if not ours.keys() & theirs.keys():
        raise NothingMeasured(
            f"no cell in common: the results are on {_datasets(ours)}, the baseline on "
            f"{_datasets(theirs)}; check that it belongs to this experiment"
        )
    verdicts = [_judge(ours.get(cell, {}), splits, floor) for cell, splits in theirs.items()]
    verdicts += [
        CellVerdict("new", _name(splits), "not in the baseline")
        for cell, splits in ours.items()
        if cell not in theirs
    ]
    return sorted(verdicts, key=lambda cell: (VERDICTS.index(cell.verdict), cell.name))


Splits = dict[int, dict]


def _by_cell(records: Iterable[dict]) -> dict[tuple, Splits]:
    cells: dict[tuple, Splits] = {}
    for record in latest_cells(records):
        identity = tuple(record.get(name) for name in IDENTITY)
        cells.setdefault(identity, {})[record["split"]] = record
    return cells


def _datasets(cells: dict[tuple, Splits]) -> str:
    return ", ".join(sorted({cell[0] for cell in cells})) or "nothing"


def _name(splits: Splits) -> str:
    record = next(iter(splits.values()))
    normalize = record.get("normalize") or "none"
    features = record["features"] + (f" ({normalize})" if normalize != "none" else "")
    kernel = record["kernel"] or "any"
    return " ".join([record["dataset"], features, record["reduction"], kernel, record["label"]])


def _judge(ours: Splits, theirs: Splits, floor: float) -> CellVerdict:
    name = _name(theirs)
    absent = sorted(theirs.keys() - ours.keys())
    if absent:
        which = f"of split {', '.join(map(str, absent))}" if ours else "at all"
        return CellVerdict("missing", name, f"no record {which}")
    pairs = [(ours[split], theirs[split]) for split in sorted(theirs)]
    for record, reference in pairs:
        obstacle = _obstacle(record, reference)
        if obstacle:
            return CellVerdict("not measured", name, f"split {record['split']}: {obstacle}")
    return _judge_measured(name, pairs, floor)


def _obstacle(ours: dict, theirs: dict) -> str:
    """Say why two records do not compare, or nothing."""
    if ours["status"] != "ok":
        return f"failed: {ours.get('error') or 'no reason recorded'}"
    for column, title in CONDITIONS.items():
        if ours.get(column) != theirs.get(column):
            given, expected = json.dumps(ours.get(column)), json.dumps(theirs.get(column))
            return f"baseline incompatible: {title} is {given}, the baseline has {expected}"
    if ours["accuracy"] is None or theirs["accuracy"] is None:
        return "no accuracy recorded, and there is nothing else to judge by"
    return ""


def _judge_measured(name: str, pairs: list[tuple[dict, dict]], floor: float) -> CellVerdict:
    ours = [record["accuracy"] for record, _ in pairs]
    theirs = [reference["accuracy"] for _, reference in pairs]
    spread = stdev(theirs) if len(theirs) > 1 else 0.0
    tolerance = max(floor, 2 * spread * sqrt(2 / len(theirs)))
    gain = fmean(ours) - fmean(theirs)
    growth = [_fixed_bytes(record) - _fixed_bytes(reference) for record, reference in pairs]
    reason = (
        f"accuracy {100 * fmean(ours):.2f} %, baseline {100 * fmean(theirs):.2f} "
        f"± {100 * tolerance:.2f}"
    )
    grown = max(growth, key=abs)
    if grown:
        reason += f"; storage {grown:+,} bytes"
    # A loss of exactly the tolerance is within it, whatever the last bit of the means says.
    if gain < -tolerance - 1e-12 or max(growth) > 0:
        verdict = "worse"
    elif gain > tolerance + 1e-12 or min(growth) < 0:
        verdict = "improved"
    else:
        verdict = "same"
    return CellVerdict(verdict, name, reason, fmean(theirs), fmean(ours), tolerance)


def _fixed_bytes(record: dict) -> int:
    """Return the bytes that do not depend on what training found."""
    support_vectors = record["model_bytes"] if record["method"] == "exact" else 0
    return record["storage_bytes"] - support_vectors


def count(verdicts: Iterable[CellVerdict]) -> dict[str, int]:
    """Return how many cells got each verdict, worst first."""
    given = [cell.verdict for cell in verdicts]
    return {verdict: given.count(verdict) for verdict in VERDICTS}


def outcome(verdicts: list[CellVerdict]) -> KmapsError | None:
    """Return the error the gate ends with, or None when it passes.

    :class:`~kmaps.errors.GateFailed` (exit code 1) when a cell is worse or missing; otherwise
    :class:`~kmaps.errors.NothingMeasured` (5) when a cell of the baseline could not be compared.
    """
    counts = count(verdicts)
    if counts["worse"] or counts["missing"]:
        return GateFailed(f"gate failed: {_in_words(counts)}")
    if counts["not measured"]:
        return NothingMeasured(f"gate undecided: {_in_words(counts)}")
    return None


def _in_words(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items() if number)


def report(verdicts: list[CellVerdict], *, unchanged: bool = True) -> str:
    """Return the report for a terminal: one aligned line a cell, the worst first, and a summary.

    Parameters
    ----------
    verdicts : list of CellVerdict
    unchanged : bool
        Whether the cells that are the same have a line too.
    """
    shown = [cell for cell in verdicts if unchanged or cell.verdict != "same"]
    verdict_width = max((len(cell.verdict) for cell in shown), default=0)
    name_width = max((len(cell.name) for cell in shown), default=0)
    lines = [
        f"{cell.verdict:{verdict_width}}  {cell.name:{name_width}}  {cell.reason}" for cell in shown
    ]
    total = f"{len(verdicts)} cell{'s' * (len(verdicts) != 1)}"
    return "\n".join([*lines, f"{total}: {_in_words(count(verdicts))}"])


def as_json(verdicts: list[CellVerdict]) -> str:
    """Return the verdicts, their counts and the exit code as a JSON object."""
    error = outcome(verdicts)
    document = {
        "exit_code": error.exit_code if error else 0,
        "counts": count(verdicts),
        "cells": [asdict(cell) for cell in verdicts],
    }
    return json.dumps(document, indent=2)
