"""The gate as text, Markdown and JUnit."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal
from xml.etree import ElementTree

from kmaps.bench.records.gate import CellVerdict, count, in_words, outcome
from kmaps.bench.report.forms import aligned, markdown, markdown_table, xml_text

Verdict = Literal["failure", "error", "skipped", ""]


@dataclass(frozen=True)
class Case:
    """A test case of a JUnit document."""

    name: str
    group: str  # such as a run
    verdict: Verdict = ""  # "error" if it could not be decided; empty if it passed
    message: str = ""  # why, in one line


def junit(suite: str, cases: Iterable[Case]) -> str:
    """Return a JUnit XML document of a suite of cases."""
    cases = list(cases)
    root = ElementTree.Element("testsuite", name=xml_text(suite))
    verdicts = [case.verdict for case in cases]
    root.set("failures", str(verdicts.count("failure")))
    root.set("errors", str(verdicts.count("error")))
    root.set("skipped", str(verdicts.count("skipped")))
    root.set("tests", str(len(cases)))
    for case in cases:
        names = {"name": xml_text(case.name), "classname": xml_text(case.group)}
        element = ElementTree.SubElement(root, "testcase", names)
        if case.verdict:
            ElementTree.SubElement(element, case.verdict, message=xml_text(case.message))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


_JUNIT: dict[str, Verdict] = {"worse": "failure", "missing": "failure", "not measured": "error"}


def as_text(verdicts: Sequence[CellVerdict], *, unchanged: bool = True) -> str:
    """Return one aligned line a cell, the worst first, and a summary, for a terminal."""
    cells = [cell for cell in verdicts if unchanged or cell.verdict != "same"]
    lines = aligned([[cell.verdict, cell.name, cell.text] for cell in cells], texts=3)
    return "\n".join([*lines, summary(verdicts)])


def summary(verdicts: Sequence[CellVerdict]) -> str:
    """Return one line: how many cells got each verdict, and how many have a C at the edge."""
    cells = "1 cell" if len(verdicts) == 1 else f"{len(verdicts)} cells"
    total = f"{cells}: {in_words(count(verdicts))}"
    n_edge = sum(bool(cell.edge) for cell in verdicts)
    edges = f"; C at the edge of its grid in {n_edge} of {len(verdicts)}" if n_edge else ""
    return total + edges


def as_json(verdicts: Sequence[CellVerdict], *, strict: bool = False) -> str:
    """Return the verdicts, their counts and the exit code as a JSON object."""
    error = outcome(verdicts, strict=strict)
    document = {
        "exit_code": error.exit_code if error else 0,
        "counts": count(verdicts),
        "cells": [asdict(cell) for cell in verdicts],
    }
    return json.dumps(document, indent=2)


def as_markdown(verdicts: Sequence[CellVerdict], run: str, *, strict: bool = False) -> str:
    """Return the verdicts as Markdown: what is not the same, and all cells, folded."""
    error = outcome(verdicts, strict=strict)
    changed = [cell for cell in verdicts if cell.verdict != "same"]
    result = str(error).partition(":")[0] if error else "gate passed"
    parts = [
        f"### {markdown(run)}: {result}",
        f"{summary(verdicts)}.",
        _table(changed) if changed else "",
        f"<details>\n<summary>All {len(verdicts)} cells</summary>",
        _table(verdicts),
        "</details>",
    ]
    return "\n\n".join(filter(None, parts))


def _table(verdicts: Sequence[CellVerdict]) -> str:
    rows = [(cell.verdict, cell.name, cell.text) for cell in verdicts]
    return markdown_table(("verdict", "cell", "ours and the baseline's"), rows, texts=3)


def as_junit(verdicts: Sequence[CellVerdict], run: str, *, strict: bool = False) -> str:
    """Return a JUnit XML document: a case per cell, an error where it could not be compared."""
    kinds = dict(_JUNIT)
    if strict:
        kinds["changed"] = "failure"
    cases = [
        Case(cell.name, run, kinds.get(cell.verdict, ""), f"{cell.verdict}: {cell.text}")
        for cell in verdicts
    ]
    return junit("kmaps check", cases)
