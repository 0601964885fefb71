"""What a paper says in words, judged on records: one verdict a claim.

Each entry of an experiment compares the lines that two selections pick
(:func:`~kmaps.bench.records.lines.compared_lines`). The entries of one identifier are one claim:
all their comparisons are judged together (:mod:`kmaps.bench.records.statistics.verdicts`).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kmaps.bench.records.arrays import NOT_ON_RECORD, Correct
from kmaps.bench.records.columns import Record
from kmaps.bench.records.estimates import estimate, of_machine
from kmaps.bench.records.lines import (
    Line,
    Lines,
    compared_lines,
    lines_of,
    side_by_side,
    where,
)
from kmaps.bench.records.paper.statements import claims as paper_claims
from kmaps.bench.records.statistics.verdicts import Comparison, Judgement, judge


@dataclass(frozen=True)
class JudgedClaim:
    """A claim, or a comparison of the project's own, and what becomes of it on one run.

    Parameters
    ----------
    id, text : str
    judgement : Judgement
    """

    id: str
    text: str
    judgement: Judgement


def judge_claims(
    entries: Iterable[Mapping[str, Any]],
    records: Iterable[Record],
    correct: Mapping[str, Correct] = NOT_ON_RECORD,
) -> list[JudgedClaim]:
    """Judge the claims of an experiment on its records.

    Parameters
    ----------
    entries : iterable of mapping
        ``id``; ``text``, for what no paper claims; ``left`` and ``right`` (selections by ``kernel``
        and :func:`~kmaps.bench.records.lines.row_names`); ``kernels``, those that the entry speaks
        of, all when there are none; ``relation``, ``by`` and ``measure`` (a key of
        :data:`~kmaps.bench.records.measures.MEASURES`), ``against`` another one of the same row.
        Accuracies are compared in points, ``above`` and ``about``; errors, sizes and times by a
        factor, ``smaller``.
    records : iterable of mapping
    correct : mapping
        Which test samples their cells got right, where that is on record.

    Returns
    -------
    list of JudgedClaim
        One an identifier, in the order in which these first stand among the entries.

    Examples
    --------
    >>> from kmaps.bench.records.row import Row
    >>> cell = {"status": "ok", "reduction": "ovo", "kernel": "chi2", "split": 0, "draw": None}
    >>> cell |= {"options": {}}
    >>> records = [cell | Row("anchor").columns | {"train_bytes": 10},
    ...            cell | Row("homogeneous").columns | {"train_bytes": 95}]
    >>> entry = {"id": "A8", "left": {"method": "anchor"}, "right": {"method": "homogeneous"}}
    >>> entry |= {"relation": "smaller", "measure": "storage-train", "by": 9}
    >>> [claim] = judge_claims([entry], records)
    >>> str(claim.judgement.verdict), claim.judgement.counts
    ('holds', '1 of 1 hold')
    """
    lines = lines_of(records)
    by_id: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries:
        by_id.setdefault(entry["id"], []).append(entry)
    return [
        JudgedClaim(
            name, _text(group[0]), judge(c for e in group for c in _comparisons(e, lines, correct))
        )
        for name, group in by_id.items()
    ]


def _text(entry: Mapping[str, Any]) -> str:
    known = paper_claims()
    return known[entry["id"]].text if entry["id"] in known else entry["text"]


def compared(entry: Mapping[str, Any], lines: Iterable[Line]) -> Iterator[tuple[Line, Line]]:
    """Yield the pairs of lines that an entry compares: none where its selections pick no two."""
    kernels = {*(entry.get("kernels") or ()), ""}
    spoken_of = (line for line in lines if not entry.get("kernels") or line.kernel in kernels)
    same = bool(entry.get("against"))
    return compared_lines(spoken_of, entry["left"], entry["right"], same=same)


def _comparisons(
    entry: Mapping[str, Any], lines: Lines, correct: Mapping[str, Correct]
) -> Iterator[Comparison]:
    relation, measure = entry["relation"], entry.get("measure", "accuracy")
    against = entry.get("against")
    for left, right in compared(entry, lines):
        pairs = side_by_side(lines[left], lines[right])
        found = estimate(pairs, relation, measure, correct, against)
        if found:
            what = where(left, right, against)
            by, machine = entry.get("by"), of_machine(measure)
            yield Comparison(what, relation, by, found, machine=machine)
