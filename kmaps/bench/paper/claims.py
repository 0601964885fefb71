"""The statements of a paper in words, judged on records: one verdict per claim."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

from kmaps.bench.paper.designs import Design, Outcomes, RepeatedDraws, design_of, outcomes_of
from kmaps.bench.paper.entries import n_samples
from kmaps.bench.paper.intervals import difference, exact_ratio, measured_ratio
from kmaps.bench.paper.statements import claims as paper_claims
from kmaps.bench.paper.statements import wrong_rows
from kmaps.bench.paper.verdicts import (
    ALPHA,
    Comparison,
    Estimate,
    Judgement,
    Relation,
    judge,
    unknown,
)
from kmaps.bench.records import lines as table_lines
from kmaps.bench.records.arrays import NOT_ON_RECORD, Correct
from kmaps.bench.records.columns import Record
from kmaps.bench.records.gate import Interval
from kmaps.bench.records.measures import MEASURES, Measure
from kmaps.bench.records.times import doubtful_splits

COUNTED = (  # columns without chance: every computer gives the same number for a cell
    "train_bytes",
    "paper_train_bytes",
    "table_bytes",
    "gram_bytes",
    "copy_bytes",
    "linf",
    "rms",
    "l1",
    "error_bound",
    "dim",
)

OF_PAIRS = ("linf", "rms")
"""The measures of errors that depend on the drawn samples, where there are several splits."""

OF_SAMPLES = ("accuracy", "per-class")
"""Measures that are a share of the test samples, or of the test samples of each class."""


def of_computer(measure: str) -> bool:
    """Return whether a measure differs from computer to computer: times and peaks of memory."""
    columns = MEASURES[measure].columns
    return any(name.endswith("_s") or "peak" in name for name in columns)


def estimate(
    pairs: Sequence[table_lines.Pair],
    relation: Relation,
    measure: str,
    correct: Mapping[str, Correct],
    against: str | None = None,
    matrices: int | None = None,
) -> Estimate | None:
    """Compare two lines by one measure; None where no pair has it.

    ``smaller`` compares by a ratio, the others by a difference in points; ``against`` is the
    measure of the second record, if it is another one. With ``matrices`` the time of the second
    record has its kernel matrix as many times, as if each class computed one.
    """
    other = MEASURES[against or measure]
    if matrices:
        other = replace(other, columns=other.columns + ("encode_s",) * (matrices - 1))
    is_time = MEASURES[measure].unit == "s"
    any_measured = False
    compared = []
    lefts = []
    rights = []
    for pair in pairs:
        left = MEASURES[measure].value(pair[0])
        right = other.value(pair[1])
        if left is None or right is None:
            continue
        any_measured = True
        if is_time and doubtful_splits(pair):
            continue
        compared.append(pair)
        lefts.append(left)
        rights.append(right)
    if not any_measured:
        return None
    if not compared:
        return unknown(nan, "timed once, perhaps while other programs ran")
    if relation == "smaller":
        return _ratio(compared, lefts, rights, measure, other)
    return difference(lefts, rights, _design(compared), _outcomes(compared, measure, correct))


def paired_interval(
    correct: Mapping[str, Correct], baseline_correct: Mapping[str, Correct]
) -> Interval:
    """Return the function by which the gate asks for intervals of two runs of the same cells.

    Parameters
    ----------
    correct, baseline_correct : mapping of str to Correct
        By the keys of the cells, which are the same in both runs.

    Returns
    -------
    callable
        ``interval(pairs, column)``, as :mod:`kmaps.bench.records.gate` describes it.
    """
    together = {f"ours {key}": of_cell for key, of_cell in correct.items()}
    together |= {f"theirs {key}": of_cell for key, of_cell in baseline_correct.items()}
    measure_of = {"accuracy": "accuracy", "accuracy_per_class": "per-class"}

    def interval(pairs: Sequence[table_lines.Pair], column: str) -> tuple[float, float] | None:
        named = [
            (ours | {"key": f"ours {ours['key']}"}, theirs | {"key": f"theirs {theirs['key']}"})
            for ours, theirs in pairs
        ]
        keys = {record["key"] for pair in named for record in pair}
        if column not in measure_of or not keys <= together.keys():
            return None
        estimated = estimate(named, "above", measure_of[column], together)
        if estimated is None or estimated.bounds is None:
            return None
        low, high = estimated.bounds(ALPHA)
        return low / 100, high / 100

    return interval


def _outcomes(
    pairs: Sequence[table_lines.Pair], measure: str, correct: Mapping[str, Correct]
) -> list[Outcomes] | None:
    keys = {record["key"] for pair in pairs for record in pair}
    if measure not in OF_SAMPLES or not keys <= correct.keys():
        return None
    by_class = measure == "per-class"
    return [
        outcomes_of(correct[left["key"]], correct[right["key"]], by_class=by_class)
        for left, right in pairs
    ]


def _ratio(
    pairs: Sequence[table_lines.Pair],
    lefts: Sequence[float],
    rights: Sequence[float],
    measure: str,
    other: Measure,
) -> Estimate:
    drawn = any(record["draw"] is not None for record in pairs[0])
    columns = set(MEASURES[measure].columns)
    sampled = columns <= set(OF_PAIRS) and len(pairs) > 1
    if columns <= set(COUNTED) and not (drawn or sampled):
        return exact_ratio(lefts, rights)
    left = _repeated((pair[0] for pair in pairs), lefts, MEASURES[measure])
    right = _repeated((pair[1] for pair in pairs), rights, other)
    if min(map(min, left + right)) <= 0:
        return unknown(exact_ratio(lefts, rights).value, "one of the numbers is zero")
    ratio = measured_ratio(left, right)
    has_no_draws = any(record["draw"] is None for record in pairs[0])
    if _is_redrawn(pairs) and has_no_draws and len(pairs) > 1:
        # The row stands next to every draw, but was measured once.
        return replace(ratio, note="one of the two rows was measured once")
    return ratio


def _repeated(
    records: Iterable[Record], values: Sequence[float], measure: Measure
) -> list[list[float]]:
    """Return the numbers of a line, split by split: all repeats if it was timed again."""
    both = zip(records, values, strict=True)
    return [measure.repeats(record) or [value] for record, value in both]


def _design(pairs: Sequence[table_lines.Pair]) -> Design:
    record = pairs[0][0]
    if _is_redrawn(pairs):
        return RepeatedDraws()
    splits = [left["split"] for left, _ in pairs]
    sizes = record["n_train"], record["n_test"]
    if None in sizes:  # assume that half of all samples are the test set: the widest interval
        return design_of(record["protocol"], splits, 1, 1)
    # If classes are drawn one by one, almost all of a small class is in every split.
    drawn = isinstance(record["protocol"].get("train"), int)
    n_pool = n_samples(record["dataset"]) if drawn else None
    return design_of(record["protocol"], splits, *sizes, n_pool)


def _is_redrawn(pairs: Sequence[table_lines.Pair]) -> bool:
    drawn = any(left["draw"] is not None or right["draw"] is not None for left, right in pairs)
    return table_lines.is_redrawn(drawn, [left["split"] for left, _ in pairs])


@dataclass(frozen=True)
class JudgedClaim:
    """A claim, or a comparison of the project, and its outcome on one run."""

    id: str
    text: str
    judgement: Judgement


def judge_claims(
    entries: Iterable[Mapping[str, Any]],
    records: Iterable[Record],
    correct: Mapping[str, Correct] = NOT_ON_RECORD,
) -> list[JudgedClaim]:
    """Judge the claims of an experiment on its records; entries of one ``id`` are one claim.

    ``left`` and ``right`` are selections by ``kernel`` and
    :func:`~kmaps.bench.records.lines.row_names`; ``against`` is another measure of the same row.
    """
    records = list(records)
    run = records[0]["experiment"] if records else ""
    lines = table_lines.lines_of(records)
    labels = table_lines.line_labels(lines)
    texts: dict[str, str] = {}
    by_id: dict[str, list[Comparison]] = {}
    for entry in entries:
        of_paper = paper_claims().get(entry["id"])
        texts.setdefault(entry["id"], of_paper.text if of_paper else entry["text"])
        by_id.setdefault(entry["id"], []).extend(_comparisons(entry, lines, labels, correct, run))
    return [
        JudgedClaim(name, texts[name], judge(comparisons)) for name, comparisons in by_id.items()
    ]


def _comparisons(
    entry: Mapping[str, Any],
    lines: table_lines.Lines,
    labels: Mapping[table_lines.Line, str],
    correct: Mapping[str, Correct],
    run: str,
) -> Iterator[Comparison]:
    wrong = wrong_rows().get((entry["id"], entry.get("part", ""), run))
    relation = entry["relation"]
    measure = entry.get("measure", "accuracy")
    against = entry.get("against")
    matrices = entry.get("matrices")
    for left, right in table_lines.compared(entry, lines):
        pairs = table_lines.side_by_side(lines[left], lines[right])
        estimated = estimate(pairs, relation, measure, correct, against, matrices)
        if estimated:
            where = table_lines.where(left, right, labels, against)
            if matrices:
                where += f" with {matrices} kernel matrices"
            yield Comparison(
                where,
                relation,
                entry.get("by"),
                estimated,
                of_computer=of_computer(measure),
                passing=wrong.passes() if wrong else "",
            )
