"""The papers' numbers and claims, one by one, next to the results of runs.

A baseline fails these when a number that it reproduced is worse, when a claim that held in it does
not hold any more, when one is missing, or when what the paper says was changed. Verdicts on times
and memory depend on the computer: they show, and fail nothing.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from kmaps.bench.paper.claims import JudgedClaim, judge_claims, paired_interval
from kmaps.bench.paper.entries import paper_of
from kmaps.bench.paper.numbers import printed_numbers
from kmaps.bench.paper.reproduced import Outcome, PrintedComparison, ToExact, compare
from kmaps.bench.paper.tables import deviation_text, interval_range, texts, verdict_of
from kmaps.bench.paper.verdicts import Verdict, needed
from kmaps.bench.records import gate
from kmaps.bench.records.appended import content_of, is_there, parsed
from kmaps.bench.records.arrays import CorrectOf, read_correct
from kmaps.bench.records.columns import Record
from kmaps.bench.records.file import FILE_NAME, read_records
from kmaps.bench.records.times import without_doubtful_times
from kmaps.bench.report.choice import Edges
from kmaps.errors import GateFailed, InputError, KmapsError, NothingMeasured

STORED = "reported.json"
"""The file of a folder of runs that keeps what was reported, for comparisons with it."""

Runs = dict[str, list[Record]]
Entries = Mapping[str, Sequence[Mapping[str, Any]]]
GOOD = (str(Outcome.REPRODUCED), str(Outcome.BETTER), str(Verdict.HOLDS))


@dataclass(frozen=True)
class Item:
    """A number or a claim of a paper, next to ours."""

    kind: str  # number, difference (between a number and the exact kernel), or claim
    name: str  # the paper, table, row and column; or the claim's identifier and the run
    run: str  # the experiment, or empty if none measures the number
    printed: str
    ours: str
    difference: str
    verdict: str
    standing: str  # kept by a baseline; without times and memory, which depend on the computer
    reason: str = ""  # why it is not measured
    of: str = ""  # the paper and the table of a number, the identifier of a claim
    off: float | None = None  # in points for percentages, otherwise in percent
    needs: str = ""  # how many draws would decide an undecided claim


@dataclass(frozen=True)
class CheckFailure:
    """What makes a check of the report fail."""

    name: str  # the number, the claim, or the cell
    run: str
    reason: str  # its value before and now
    undecided: bool = False  # it could not be compared, rather than got worse


def read_runs(path: Path) -> Runs:
    """Return the records of the runs in a folder, by the names of their experiments."""
    runs: Runs = {}
    for folder in _folders(path):
        records = read_records(folder)
        name = records[0]["experiment"]
        if name in runs:
            raise InputError(f"{folder}: is a second run of {name} in {path}; name one of them")
        runs[name] = records
    return runs


def _folders(path: Path) -> list[Path]:
    """Return the run that a path is, or the runs in its subfolders."""
    if path.suffix == ".jsonl" or is_there(path / FILE_NAME):
        return [path]
    folders = sorted(file.parent for file in path.glob(f"*/{FILE_NAME}"))
    if not folders:
        raise NothingMeasured(f"{path}: neither it nor its folders have records; see `kmaps run`")
    return folders


def read_correct_of_runs(path: Path, runs: Runs) -> dict[str, CorrectOf]:
    """Return which test samples were right in the runs that :func:`read_runs` read from a path."""
    in_order = zip(_folders(path), runs.items(), strict=True)
    return {name: read_correct(folder, records) for folder, (name, records) in in_order}


def expected(runs: Runs, baseline: Runs) -> Runs:
    """Return the runs of a baseline that should be there: of one run its own, of several all."""
    if not runs.keys() & baseline.keys():
        raise NothingMeasured(
            f"no run in common: the results are of {', '.join(runs)}, the baseline of "
            f"{', '.join(baseline)}; check that it belongs to them"
        )
    return {name: baseline[name] for name in runs} if len(runs) == 1 else baseline


def reported(runs: Runs, entries: Entries, correct: Mapping[str, CorrectOf]) -> list[Item]:
    """Return all numbers and claims of some runs, and the numbers that no experiment measures."""
    numbers = [n for n in printed_numbers() if n.reason or n.experiment in runs]
    sure = {name: without_doubtful_times(records) for name, records in runs.items()}
    compared = list(compare(numbers, sure))
    items = [_number(comparison) for comparison in compared]
    items += [
        _difference(comparison, comparison.to_exact)
        for comparison in compared
        if comparison.to_exact
    ]
    for name, records in runs.items():
        judged = judge_claims(entries.get(name, ()), records, correct.get(name, {}))
        items += [_claim(name, claim) for claim in judged]
    return items


def in_order_of_runs(items: Iterable[Item], runs: Iterable[str]) -> list[Item]:
    """Return items with those of some runs first, then those of the papers of these runs."""
    names = set(runs)
    papers = {paper_of(name) for name in names} - {""}

    def place(item: Item) -> int:
        if item.run in names:
            return 0
        return 1 if item.of.partition(" ")[0] in papers else 2

    return sorted(items, key=place)


def _number(comparison: PrintedComparison) -> Item:
    printed, ours = texts(comparison)
    return Item(
        kind="number",
        name=comparison.number.name,
        run=comparison.number.experiment,
        printed=f"{printed} {comparison.number.unit}"
        if comparison.number.unit in ("%", "MB")
        else printed,
        ours=ours,
        difference=deviation_text(comparison),
        verdict=str(comparison.outcome),
        standing=""
        if comparison.number.unit == "s" and comparison.ours
        else str(comparison.outcome),
        reason=comparison.reason
        + ("" if comparison.linear is None else f" ({comparison.linear:.2f})"),
        of=f"{comparison.number.paper} {comparison.number.table}",
        off=comparison.deviation,
    )


def _difference(comparison: PrintedComparison, to_exact: ToExact) -> Item:
    return Item(
        kind="difference",
        name=f"{comparison.number.name}, less exact",
        run=comparison.number.experiment,
        printed=f"{to_exact.printed:+.2f} points",
        ours=f"{to_exact.ours:+.2f}",
        difference=f"{to_exact.ours - to_exact.printed:+.2f} points",
        verdict=str(to_exact.outcome),
        standing=str(to_exact.outcome),
        reason="" if to_exact.linear is None else f"linear {to_exact.linear:+.2f}",
        of=f"{comparison.number.paper} {comparison.number.table}",
        off=to_exact.ours - to_exact.printed,
    )


def _claim(run: str, claim: JudgedClaim) -> Item:
    findings = claim.judgement.findings
    verdict = verdict_of(claim) if findings else str(Outcome.MISSING)
    lasting = claim.judgement.verdict_of_any_computer
    return Item(
        kind="claim",
        name=f"{claim.id} in {run}",
        run=run,
        printed=claim.text,
        ours=claim.judgement.counts,
        difference=interval_range(findings),
        verdict=verdict,
        standing=str(lasting or "") if findings else verdict,
        of=claim.id,
        needs=needed(claim.judgement),
    )


def stored(items: Iterable[Item]) -> str:
    """Return the content of :data:`STORED`: the papers' statements, and the standing of each."""
    names = ("kind", "name", "run", "printed", "standing", "needs")
    lines = [{name: getattr(item, name) for name in names} for item in items]
    return json.dumps(lines, indent=1, ensure_ascii=False) + "\n"


def read_stored(folder: Path) -> list[Item] | None:
    """Return what was reported of the runs in a folder; None where nothing is kept."""
    path = folder / STORED
    if not is_there(path):
        return None
    try:
        with open(path, "rb") as file:
            lines = parsed(content_of(file, path))
        if not all(isinstance(value, str) for line in lines for value in line.values()):
            raise ValueError("not text")
        return [Item(**line, ours="", difference="", verdict=line["standing"]) for line in lines]
    except InputError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError(f"{path}: is not from `kmaps report --all`; write it again") from None


def failures(
    items: Sequence[Item], baseline: Iterable[Item], runs: Iterable[str]
) -> list[CheckFailure]:
    """Return what is worse than in a baseline, of the runs with some names."""
    ours = {item.name: item for item in items}
    expected = {"", *runs}
    failed = []
    for theirs in baseline:
        if theirs.run in expected:
            reason = _worse(ours.get(theirs.name), theirs)
            if reason:
                failed.append(CheckFailure(theirs.name, theirs.run, reason))
    return failed


def _worse(ours: Item | None, theirs: Item) -> str:
    if ours is None:
        return "missing, the baseline has it"
    if ours.printed != theirs.printed:
        return f"the paper's words are {ours.printed!r}, the baseline has {theirs.printed!r}"
    if ours.verdict == Outcome.MISSING and theirs.standing != Outcome.MISSING:
        return f"missing, in the baseline {theirs.standing or 'measured'}"
    if theirs.standing in GOOD and ours.standing not in GOOD:
        return f"{ours.standing}, in the baseline {theirs.standing}"
    return ""


def missing(items: Iterable[Item]) -> list[CheckFailure]:
    """Return the items that the runs should have and lack, whatever a baseline has."""
    return [
        CheckFailure(item.name, item.run, "missing: no record of it in its run")
        for item in items
        if item.verdict == Outcome.MISSING
    ]


def cell_failures(
    runs: Runs,
    baseline: Runs,
    judged: Mapping[str, Sequence[gate.Judged]],
    floor: float,
    *,
    correct: Mapping[str, CorrectOf],
    baseline_correct: Mapping[str, CorrectOf],
) -> list[CheckFailure]:
    """Return the cells of a baseline's runs that are worse, missing, or could not be compared."""
    split_by_split = gate.Tolerance(absolute=floor)  # for fractions: the splits are the same
    failed = []
    for name, theirs in baseline.items():
        if name not in runs:
            failed.append(CheckFailure(name, name, "missing: no run of it"))
            continue
        columns = [
            replace(column, tolerance=split_by_split) if column.tolerance.of_mean else column
            for column in judged[theirs[0]["kind"]]
        ]
        ours = correct.get(name, {})
        others = baseline_correct.get(name, {})
        for cell in gate.compare(
            runs[name],
            theirs,
            columns,
            correct=ours,
            baseline_correct=others,
            interval=paired_interval(ours, others),
        ):
            if cell.verdict in ("worse", "missing", "not measured"):
                undecided = cell.verdict == "not measured"
                reason = f"{cell.verdict}: {cell.reason}"
                failed.append(CheckFailure(cell.name, name, reason, undecided))
    return failed


def outcome(failures: Sequence[CheckFailure]) -> KmapsError | None:
    """Return the error that a check of the report ends with, or None when it passes."""
    worse = [failure for failure in failures if not failure.undecided]
    if worse:
        return GateFailed(f"{len(worse)} failed, first {worse[0].name}: {worse[0].reason}")
    if failures:
        return NothingMeasured(f"undecided: {failures[0].name}: {failures[0].reason}")
    return None


def as_json(items: Iterable[Item], failures: Sequence[CheckFailure], edges: Edges) -> str:
    """Return the items, the failures, the edges of C and the exit code as a JSON object."""
    error = outcome(failures)
    document = {
        "exit_code": error.exit_code if error else 0,
        "items": [asdict(item) for item in items],
        "failures": [asdict(failure) for failure in failures],
        "C_at_edge": {name: {"rows": n, "of": rows} for name, (n, rows) in edges.items()},
    }
    return json.dumps(document, indent=2, ensure_ascii=False)
