"""A run as a page: its cells and conditions, its tables, its claims, its figures."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kmaps.bench.paper.claims import OF_SAMPLES, judge_claims
from kmaps.bench.paper.compared_runs import measured
from kmaps.bench.paper.reproduced import PrintedComparison
from kmaps.bench.paper.tables import claims_parts, numbers_parts
from kmaps.bench.paper.ties import ties
from kmaps.bench.records.arrays import NOT_ON_RECORD, Correct
from kmaps.bench.records.columns import Record, cell_name
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
    n_untimed = sum(record["split"] in doubtful and not timed(record) for record in records)
    if n_untimed:
        cells = "this run" if n_untimed == len(records) else f"{n_untimed} of {len(records)} cells"
        parts.append(Text(Markdown(f"Times of {cells} are left out: {_NO_TIMES}")))
    if claims:
        judged = claims_parts(judge_claims(claims, records, correct))
        parts.append(Section("Claims", [*_evidence(claims, records, correct), *judged]))
    if numbers:
        parts.append(Section("The paper's numbers", numbers_parts(numbers)))
    if notes:
        parts.append(Section("Findings", [Text(Markdown(notes.strip()))]))
    if figures:
        parts.append(Section("Figures", _pictures(figures, name)))
    parts += sections
    choice = choice_parts(records)
    if choice:
        parts.append(Section("Choice of C", choice))
    parts.append(Section("Tables", _tables(records, measures, correct)))
    parts.append(Text(_MORE, short=True))
    return Page(name, parts)


def _pictures(figures: Sequence[Path], name: str) -> list[Part]:
    """Return the first figure of a run, and the others folded, or as links on a short page."""
    pictures = [
        Picture(path, f"{path.stem} of {name}{_BARS.get(path.stem, '')}") for path in figures
    ]
    if len(pictures) == 1:
        return [pictures[0]]
    links = ", ".join(link(path.name, path.name) for path in figures[1:])
    return [
        pictures[0],
        Folded("More figures", pictures[1:]),
        Text(Markdown(f"More figures: {links}."), short=True),
    ]


def _state(records: Sequence[Record]) -> list[Part]:
    """Say how many cells were measured, when and where, which failed, and which seem missing."""
    failed = [record for record in records if record["status"] != "ok"]
    n_measured = len(records) - len(failed)
    words = [
        f"{n_measured} cell was measured"
        if n_measured == 1
        else f"{n_measured} cells were measured"
    ]
    days = sorted(str(record["started"])[:10] for record in records if record.get("started"))
    if days:
        words.append(f"from {days[0]} to {days[-1]}" if days[0] != days[-1] else f"on {days[0]}")
    cpus = sorted({str(record["cpu"]) for record in records if record.get("cpu")})
    if cpus:
        words.append(f"on {' and '.join(cpus)}")
    if any("overlap" in record["protocol"] for record in records):
        words.append("; some of the samples tested on were trained on")
    sentence = " ".join(words)
    if failed:
        sentence += f"; {len(failed)} failed"
    parts: list[Part] = [Text(f"{sentence}.")]
    if failed:
        rows = [[cell_name(record), str(record["error"] or "")] for record in failed[:_MOST_FAILED]]
        parts.append(Table(["failed", "why"], rows, texts=2))
    n_rows, n_lacking = _rows_with_fewer_cells(records)
    if n_lacking:
        parts.append(Text(f"{n_lacking} of {n_rows} rows {_FEWER}"))
    return parts


def _rows_with_fewer_cells(records: Sequence[Record]) -> tuple[int, int]:
    """Return the number of rows, and of those that have fewer cells than others.

    An exact kernel has no draws, so next to random maps it lacks none: rows with and without
    draws are compared apart.
    """
    n_cells_without_draws: Counter[tuple] = Counter()
    n_cells_with_draws: Counter[tuple] = Counter()
    for record in records:
        row = (
            Row.of(record).identity,
            record["kernel"],
            record["setting"],
            record["reduction"],
        )
        if record["draw"] is None:
            n_cells_without_draws[row] += 1
        else:
            n_cells_with_draws[row] += 1
    n_rows = 0
    n_lacking = 0
    for n_cells in (n_cells_without_draws, n_cells_with_draws):
        n_rows += len(n_cells)
        most = max(n_cells.values(), default=0)
        n_lacking += sum(n < most for n in n_cells.values())
    return n_rows, n_lacking


def _tables(
    records: Sequence[Record], measures: Sequence[str], correct: Mapping[str, Correct]
) -> list[Part]:
    """Return the table of the first measure, and the folded tables of the others."""
    certain = without_doubtful_times(records)
    with_values = [name for name in measures if measured(certain, name)]
    first, *others = with_values or measures
    parts = tables(certain, [first], tied=ties(correct))
    if others:
        parts.append(Folded("All other measures", tables(certain, others, tied=ties(correct))))
    return parts


def _commands(records: Sequence[Record]) -> list[str]:
    """Return the commands as given, or the one that would do where records lack them."""
    lines: list[Mapping[str, Any]] = []
    for record in records:
        lines.append(record)
        lines += timed(record)
    commands = dict.fromkeys(line["command"] for line in lines if line.get("command"))
    if not any(record.get("command") for record in records):
        commands = {f"kmaps run {records[0]['experiment']}": None, **commands}
    return list(commands)


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
        sentence = (
            "Accuracies are compared on the same test samples: `correct.npz` says which of them "
            "each row got right."
        )
        return [Text(Markdown(sentence))]
    reason = "No `correct.npz` says which test samples each row got right"
    if lacking < len(measured):
        reason = f"`correct.npz` has no test samples of {lacking} of {len(measured)} cells"
    consequence = "accuracies are compared by splits and draws alone; one split is not compared."
    return [Text(Markdown(f"{reason}, so {consequence}"))]


def _conditions(records: Sequence[Record]) -> Table:
    """Return the conditions of the cells, and of cells that were timed again: values and ranges."""
    rows = []
    for name in _SAME:
        texts = {str(value) for value in _present(records, name)}
        rows.append([name, ", ".join(sorted(texts))])
    versions = set()
    for record in records:
        for package, version in (record.get("versions") or {}).items():
            versions.add(f"{package} {version}")
    rows.append(["versions", ", ".join(sorted(versions))])
    repeats = [line for record in records for line in timed(record)]
    for prefix, lines in (("", records), ("times again: ", repeats)):
        for name in ("started", *_LOAD):
            values = sorted(_present(lines, name))
            if values:
                ends = dict.fromkeys([values[0], values[-1]])  # one value where both are the same
                rows.append([prefix + name, " to ".join(map(str, ends))])
    if any(record.get("dirty") for record in records):
        rows.append(["checkout", "had changes that were not committed"])
    mixed = mixed_conditions(records)
    if mixed:
        rows.append(["times are not comparable", f"records differ in {', '.join(mixed)}"])
    return Table(["condition", "values"], [row for row in rows if row[1]], texts=2)


def _present(lines: Iterable[Mapping[str, Any]], name: str) -> list[Any]:
    """Return the values of a column that records, or lines of times, have."""
    values = [line.get(name) for line in lines]
    return [value for value in values if value not in (None, "")]
