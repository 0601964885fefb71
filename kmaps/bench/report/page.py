"""A run as a page: what was run and how, its tables, its claims, its figures."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kmaps.bench.records.claims import Finding, check_claim
from kmaps.bench.records.columns import Record
from kmaps.bench.records.printed import compare
from kmaps.bench.records.summary import mixed_conditions
from kmaps.bench.report.markdown import markdown_table
from kmaps.bench.report.tables import render

_SAME = ("cpu", "cores", "threads", "jobs", "python", "commit", "map_version")


def page(
    records: Sequence[Record],
    *,
    measures: Sequence[str],
    about: str = "",
    claims: Sequence[Mapping[str, Any]] = (),
    printed: Sequence[Mapping[str, Any]] = (),
    sections: Iterable[tuple[str, str]] = (),
    figures: Iterable[str] = (),
    notes: str = "",
) -> str:
    """Return a Markdown page on the records of one experiment.

    Parameters
    ----------
    records : sequence of mapping
        As :func:`kmaps.bench.records.file.read_records` returns them.
    measures : sequence of str
        What its tables show, keys of :data:`kmaps.bench.records.measures.MEASURES`.
    about : str
        What the experiment is.
    claims : sequence of mapping
        The claims of the experiment, see :func:`kmaps.bench.records.claims.check_claim`.
    printed : sequence of mapping
        What the paper prints, see :func:`kmaps.bench.records.printed.compare`.
    sections : iterable of (str, str)
        Heading and Markdown of the parts that only this kind of experiment has.
    figures : iterable of str
        File names beside the page.
    notes : str
        Markdown, put below the heading ``Findings``.

    Returns
    -------
    str
    """
    name = records[0]["experiment"]
    parts = [f"# {name}", about, f"    kmaps run {name}", _environment(records)]
    if notes:
        parts += ["## Findings", notes.strip()]
    if claims:
        parts += ["## Claims", *(_claim(claim, records) for claim in claims)]
    for heading, text in sections:
        parts += [f"## {heading}", text]
    if printed:
        parts += ["## The paper's numbers", _printed(printed, records)]
    parts += ["## Tables", render(records, "md", measures).strip()]
    parts += [f"![{figure}]({figure})" for figure in figures]
    return "\n\n".join(filter(None, parts)) + "\n"


def _environment(records: Sequence[Record]) -> str:
    """Say what made the records; several values where they were not made in one go."""
    lines = []
    for column in _SAME:
        values = sorted({str(r[column]) for r in records if r.get(column) not in (None, "")})
        if values:
            lines.append(f"- {column}: {', '.join(values)}")
    if any(record.get("dirty") for record in records):
        lines.append("- the checkout had changes that were not committed")
    versions = sorted({f"{k} {v}" for r in records for k, v in (r.get("versions") or {}).items()})
    lines.append(f"- versions: {', '.join(versions)}")
    started = sorted(record["started"] for record in records if record.get("started"))
    if started:
        lines.append(f"- measured: {started[0]} to {started[-1]}")
    mixed = mixed_conditions(records)
    if mixed:
        lines.append(f"- times do not compare: records differ in {', '.join(mixed)}")
    return "\n".join(lines)


def _claim(claim: Mapping[str, Any], records: Sequence[Record]) -> str:
    findings = check_claim(claim, records)
    held = sum(finding.holds for finding in findings)
    verdict = "not measured" if not findings else f"holds in {held} of {len(findings)} comparisons"
    text = f"**{claim['id']}** {claim['text']}: {verdict}."
    if not findings:
        return text
    failures = [f"- fails: {_shown(claim, finding)}" for finding in findings if not finding.holds]
    return "\n".join([f"{text} Range: {_range(claim, findings)}.", *_list(failures)])


def _list(items: Sequence[str]) -> list[str]:
    return ["", *items] if items else []


def _range(claim: Mapping[str, Any], findings: Sequence[Finding]) -> str:
    ordered = sorted(findings, key=lambda finding: finding.value)
    return f"{_number(claim, ordered[0])} to {_number(claim, ordered[-1])}"


def _shown(claim: Mapping[str, Any], finding: Finding) -> str:
    return f"{finding.where}: {_number(claim, finding)}"


def _number(claim: Mapping[str, Any], finding: Finding) -> str:
    if claim["relation"] == "smaller":
        return f"{finding.value:.1f} ×"
    return f"{finding.value:+.2f} ± {finding.error:.2f} points"


def _printed(printed: Sequence[Mapping[str, Any]], records: Sequence[Record]) -> str:
    """Return the paper's numbers beside ours, below one line that sums them up."""
    lines = list(compare(printed, records))
    met = sum(line.met for line in lines)
    head = ["", "kernel", "row", "measure", "printed", "ours", ""]
    table = markdown_table(head, [line.texts for line in lines], texts=4)
    return f"Met or beaten, to the printed digits: {met} of {len(lines)}.\n\n{table}"
