"""A run as a page: its cells and conditions, its tables, its claims, its figures."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kmaps.bench.paper.claims import OF_SAMPLES, judge_claims
from kmaps.bench.paper.reproduced import PrintedComparison
from kmaps.bench.paper.tables import claims_parts, numbers_parts
from kmaps.bench.paper.ties import ties
from kmaps.bench.records.arrays import NOT_ON_RECORD, Correct
from kmaps.bench.records.columns import Record, cell_name
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.row import Row
from kmaps.bench.records.summary import mixed_conditions
from kmaps.bench.records.times import doubtful_splits, timed, without_doubtful_times
from kmaps.bench.report.choice import choice_parts
from kmaps.bench.report.document import Code, Folded, Page, Part, Picture, Section, Table, Text
from kmaps.bench.report.forms import Markdown, link
from kmaps.bench.report.tables import tables

_NO_TIMES = (
    "other programs ran on the computer meanwhile, or may have. `kmaps run --again` measures them."
)
_MORE = Markdown(
    "In Markdown this page is short: `kmaps report FOLDER -o page.html` also shows every "
    "comparison, measure and figure, and the conditions. The records are in `records.jsonl`."
)
_SAME = ("cpu", "cores", "threads", "jobs", "python", "commit", "map_version")
_LOAD = ("load_before", "load_after", "other_cpus", "stolen_cpus")  # the computer's load meanwhile
_BARS = dict.fromkeys(("costs", "front", "trade-off", "sparsity"), "; bars are standard deviations")
_BARS["accuracy"] = "; bars are one standard error"
_MOST_FAILED = 20  # cells that are named
_FEWER = "have fewer cells than others: the run may have been interrupted; its command resumes it."


def page(
    records: Sequence[Record],
    *,
    measures: Sequence[str],
    about: str = "",
    claims: Sequence[Mapping[str, Any]] = (),
    correct: Mapping[str, Correct] = NOT_ON_RECORD,
    numbers: Sequence[PrintedComparison] = (),
    sections: Iterable[Section] = (),
    figures: Sequence[Path] = (),
    notes: str = "",
) -> Page:
    """Return a page on the records of one experiment.

    ``sections`` are those that only this kind has. ``notes`` are the user's Markdown; all other
    texts are shown as they are.
    """
    name = records[0]["experiment"]
    parts: list[Part] = [Text(about)] if about else []
    parts += [Code(_commands(records)), *_state(records)]
    parts.append(Folded("Conditions", [_conditions(records)]))
    doubtful = doubtful_splits(records)
    if n := sum(record["split"] in doubtful and not timed(record) for record in records):
        which = "this run" if n == len(records) else f"{n} of {len(records)} cells"
        parts.append(Text(Markdown(f"Times of {which} are left out: {_NO_TIMES}")))
    if claims:
        judged = claims_parts(judge_claims(claims, records, correct))
        parts.append(Section("Claims", [*_evidence(claims, records, correct), *judged]))
    if numbers:
        parts.append(Section("The paper's numbers", numbers_parts(numbers)))
    if notes:
        parts.append(Section("Findings", [Text(Markdown(notes.strip()))]))
    if figures:
        drawn: list[Part] = [
            Picture(path, f"{path.stem} of {name}{_BARS.get(path.stem, '')}") for path in figures
        ]
        more = f"More figures: {', '.join(link(path.name, path.name) for path in figures[1:])}."
        if drawn[1:]:
            drawn[1:] = [Folded("More figures", drawn[1:]), Text(Markdown(more), short=True)]
        parts.append(Section("Figures", drawn))
    parts += sections
    if choice := choice_parts(records):
        parts.append(Section("Choice of C", choice))
    parts.append(Section("Tables", _tables(records, measures, correct)))
    parts.append(Text(_MORE, short=True))
    return Page(name, parts)


def _state(records: Sequence[Record]) -> list[Part]:
    """Say how many cells were measured, when and where, which failed, and which seem missing."""
    failed = [record for record in records if record["status"] != "ok"]
    said = [f"{(n := len(records) - len(failed))} cell{' was' if n == 1 else 's were'} measured"]
    days = sorted(str(record["started"])[:10] for record in records if record.get("started"))
    if days:
        said.append(f"from {days[0]} to {days[-1]}" if days[0] != days[-1] else f"on {days[0]}")
    if cpus := sorted({str(record["cpu"]) for record in records if record.get("cpu")}):
        said.append(f"on {' and '.join(cpus)}")
    if any("overlap" in record["protocol"] for record in records):
        said.append("; some of the samples tested on were trained on")
    parts: list[Part] = [Text(f"{' '.join(said)}{f'; {len(failed)} failed' if failed else ''}.")]
    if failed:
        rows = [[cell_name(one), str(one["error"] or "")] for one in failed[:_MOST_FAILED]]
        parts.append(Table(["failed", "why"], rows, texts=2))
    # An exact kernel has no draws, so next to random maps it lacks none.
    cells: dict[bool, Counter[tuple]] = {True: Counter(), False: Counter()}
    for one in records:
        row = Row.of(one).identity, one["kernel"], one["setting"], one["reduction"]
        cells[one["draw"] is None][row] += 1
    lacking = sum(n < max(of.values()) for of in cells.values() for n in of.values())
    if lacking:
        parts.append(Text(f"{lacking} of {sum(map(len, cells.values()))} rows {_FEWER}"))
    return parts


def _tables(
    records: Sequence[Record], measures: Sequence[str], correct: Mapping[str, Correct]
) -> list[Part]:
    """Return the table of the first measure, and the folded tables of the others."""
    certain = without_doubtful_times(records)
    measured = [
        name
        for name in measures
        if any(MEASURES[name].value(record) is not None for record in certain)
    ]
    first, *others = measured or measures
    parts = tables(certain, [first], tied=ties(correct))
    if others:
        parts.append(Folded("All other measures", tables(certain, others, tied=ties(correct))))
    return parts


def _commands(records: Sequence[Record]) -> list[str]:
    """Return the commands as given, or the one that would do where records lack them."""
    lines = [one for record in records for one in (record, *timed(record))]
    given = dict.fromkeys(one["command"] for one in lines if one.get("command"))
    if not any(record.get("command") for record in records):
        given = {f"kmaps run {records[0]['experiment']}": None, **given}
    return list(given)


def _evidence(
    claims: Sequence[Mapping[str, Any]], records: Sequence[Record], correct: Mapping[str, Correct]
) -> list[Part]:
    """Say how the intervals of accuracies are made, where a claim is about accuracies."""
    compared = {claim["measure"] for claim in claims if claim["relation"] != "smaller"}
    if "ap" in compared:
        return [Text("Average precisions are compared by their splits and draws alone.")]
    if not compared & {*OF_SAMPLES}:
        return []
    measured = [record for record in records if record["status"] == "ok"]
    lacking = sum(record["key"] not in correct for record in measured)
    if not lacking:
        said = "Accuracies are compared on the same test samples:"
        return [Text(Markdown(f"{said} `correct.npz` says which of them each row got right."))]
    which = "No `correct.npz` says which test samples each row got right, so"
    if lacking < len(measured):
        which = f"`correct.npz` has no test samples of {lacking} of {len(measured)} cells, so"
    said = "accuracies are compared by splits and draws alone; one split is not compared."
    return [Text(Markdown(f"{which} {said}"))]


def _conditions(records: Sequence[Record]) -> Table:
    """Return the conditions of the cells, and of cells that were timed again: values and ranges."""
    versions = {f"{k} {v}" for r in records for k, v in (r.get("versions") or {}).items()}
    same = {key: {str(r[key]) for r in records if r.get(key) not in (None, "")} for key in _SAME}
    rows = [
        [name, ", ".join(sorted(found))] for name, found in (same | {"versions": versions}).items()
    ]
    repeats = [line for record in records for line in timed(record)]
    for what, lines in (("", records), ("times again: ", repeats)):
        for name in ("started", *_LOAD):
            if known := sorted(one[name] for one in lines if one.get(name) not in (None, "")):
                ends = dict.fromkeys((known[0], known[-1]))
                rows.append([what + name, " to ".join(map(str, ends))])
    if any(record.get("dirty") for record in records):
        rows.append(["checkout", "had changes that were not committed"])
    if mixed := mixed_conditions(records):
        rows.append(["times are not comparable", f"records differ in {', '.join(mixed)}"])
    return Table(["condition", "values"], [row for row in rows if row[1]], texts=2)
