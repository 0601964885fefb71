"""A run as a page: what was run and how, its tables, its claims, its figures."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from kmaps.bench.paper.claims import OF_SAMPLES, judge_claims
from kmaps.bench.paper.reproduced import PrintedComparison
from kmaps.bench.paper.tables import claims_section, numbers_section
from kmaps.bench.records.arrays import NOT_ON_RECORD, Correct
from kmaps.bench.records.columns import Record
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.summary import mixed_conditions
from kmaps.bench.records.times import has_doubtful_times, timed, without_doubtful_times
from kmaps.bench.report.choice import choice_section
from kmaps.bench.report.forms import link, markdown, markdown_code
from kmaps.bench.report.tables import render

_NO_TIMES = (
    "Times of this run are left out: other programs ran on the computer meanwhile, or may have. "
    "`kmaps time` measures them."
)
_SAME = ("cpu", "cores", "threads", "jobs", "python", "commit", "map_version")


def page(
    records: Sequence[Record],
    *,
    measures: Sequence[str],
    about: str = "",
    claims: Sequence[Mapping[str, Any]] = (),
    correct: Mapping[str, Correct] = NOT_ON_RECORD,
    numbers: Sequence[PrintedComparison] = (),
    sections: Iterable[tuple[str, str]] = (),
    figures: Iterable[str] = (),
    notes: str = "",
) -> str:
    """Return a Markdown page on the records of one experiment.

    ``sections`` are headings and Markdown of the parts that only this kind has. ``notes`` are the
    user's Markdown; all other texts are shown as they are.
    """
    name = markdown(records[0]["experiment"])
    parts = [f"# {name}", markdown(about), _commands(records), environment(records)]
    if has_doubtful_times(records):
        parts.append(_NO_TIMES)
    if notes:
        parts += ["## Findings", notes.strip()]
    if claims:
        parts += ["## Claims", _evidence(claims, records, correct)]
        parts.append(claims_section(judge_claims(claims, records, correct)))
    for heading, text in sections:
        parts += [f"## {markdown(heading)}", text]
    if choice := choice_section(records):
        parts += ["## Choice of C", choice]
    if numbers:
        parts += ["## The paper's numbers", numbers_section(numbers)]
    sure = without_doubtful_times(records)
    known = [m for m in measures if any(MEASURES[m].value(record) is not None for record in sure)]
    parts += ["## Tables", render(sure, "md", known or measures).strip()]
    parts += [f"!{link(figure, figure)}" for figure in figures]
    return "\n\n".join(filter(None, parts)) + "\n"


def _commands(records: Sequence[Record]) -> str:
    """Return the commands as given, or the one that would do where records lack them."""
    lines = [one for record in records for one in (record, *timed(record))]
    given = dict.fromkeys(one["command"] for one in lines if one.get("command"))
    if not any(record.get("command") for record in records):
        given = {f"kmaps run {records[0]['experiment']}": None, **given}
    return "\n".join(map(markdown_code, given))


def _evidence(
    claims: Sequence[Mapping[str, Any]], records: Sequence[Record], correct: Mapping[str, Correct]
) -> str:
    """Say what the intervals of accuracies come from, where a claim is about some."""
    compared = {claim["measure"] for claim in claims if claim["relation"] != "smaller"}
    if "ap" in compared:
        return "Average precisions are compared by their splits and draws alone."
    if not compared & {*OF_SAMPLES}:
        return ""
    measured = [record for record in records if record["status"] == "ok"]
    lacking = sum(record["key"] not in correct for record in measured)
    if not lacking:
        return (
            "Accuracies are compared on the same test samples: `correct.npz` has which were right."
        )
    which = "There is no `correct.npz` with the test samples that were right:"
    if lacking < len(measured):
        which = (
            f"Of {lacking} of {len(measured)} cells `correct.npz` lacks which samples were right:"
        )
    return f"{which} accuracies are compared by splits and draws alone, a single one not at all."


def environment(records: Sequence[Record]) -> str:
    lines = []
    for column in _SAME:
        values = sorted({str(r[column]) for r in records if r.get(column) not in (None, "")})
        if values:
            lines.append(f"- {column}: {', '.join(map(markdown, values))}")
    if any(record.get("dirty") for record in records):
        lines.append("- the checkout had changes that were not committed")
    versions = sorted({f"{k} {v}" for r in records for k, v in (r.get("versions") or {}).items()})
    lines.append(f"- versions: {', '.join(map(markdown, versions))}")
    started = sorted(record["started"] for record in records if record.get("started"))
    if started:
        lines.append(f"- measured: {markdown(started[0])} to {markdown(started[-1])}")
        lines += _load(records)
    repeats = sorted((line for record in records for line in timed(record)), key=_started)
    if repeats:
        first, last = markdown(_started(repeats[0])), markdown(_started(repeats[-1]))
        lines.append(f"- times measured again: {first} to {last}")
        lines += [f"- then, {line.removeprefix('- ')}" for line in _load(repeats)]
    mixed = mixed_conditions(records)
    if mixed:
        lines.append(f"- times do not compare: records differ in {', '.join(mixed)}")
    return "\n".join(lines)


def _started(line: Mapping[str, Any]) -> str:
    return line["started"] or ""


def _load(lines: Iterable[Mapping[str, Any]]) -> list[str]:
    """Say how busy the computer was: at the start, at the end, and with what else in between."""
    known = [line for line in sorted(lines, key=_started) if line.get("load_before") is not None]
    if not known:
        return []
    said = [f"- load average: {known[0]['load_before']:g} at the start"]
    if known[-1]["load_after"] is not None:
        said[0] += f", {known[-1]['load_after']:g} at the end"
    watched = [line for line in known if None not in (line["other_cpus"], line["stolen_cpus"])]
    if watched:
        others = [line["other_cpus"] for line in watched]
        stolen = max(line["stolen_cpus"] for line in watched)
        said.append(
            f"- other work meanwhile: {fmean(others):.2f} processors in the mean, at most "
            f"{max(others):.2f}; taken by the host: at most {stolen:.2f}"
        )
    return said
